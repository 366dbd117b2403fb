import { describe, expect, test } from 'vitest'
import { closureInBundle } from '../../src/authority/closure.ts'
import { diffClosures } from '../../src/authority/diff.ts'
import type { VersionDifference } from '../../src/authority/change.ts'
import { looserCalls } from '../../src/authority/looser-calls.ts'
import { bundleOf, changed, DESK, type Files } from '../compile/make.ts'

async function diff(after: Files, before: Files = DESK): Promise<VersionDifference> {
  const [old, now] = await Promise.all([before, after].map((files) => bundleOf(files)))
  return diffClosures(closureInBundle(old!, 'acme.desk'), closureInBundle(now!, 'acme.desk'))
}

/** The bump, then a line for each change; `!` = it widens authority. */
async function told(after: Files, before?: Files): Promise<readonly string[]> {
  const { required = 'none', changes } = await diff(after, before)
  const lines = changes.map(({ kind, agent, tool, verdict, widens }) =>
    [widens ? '!' : '-', kind, agent, tool, verdict].filter((part) => part !== undefined).join(' '),
  )
  return [required, ...lines]
}

/** The desk whose lookups the named tool undoes. */
const undone = (by: string): Files =>
  changed(DESK, 'tools/lookup.yaml', 'version: 1.0.3', `version: 1.0.3, labels: { svc/undone-by: ${by} }`)

test('the same documents have no changes', async () => {
  expect(await diff(DESK)).toEqual({ breaking: false, widens: false, changes: [] })
})

test('a raised limit widens what the agent and the agents below it may do', async () => {
  const { breaking, widens, required, changes } = await diff(
    changed(DESK, 'policies/limit.yaml', 'value: 100', 'value: 250'),
  )
  expect([breaking, widens, required]).toEqual([true, true, 'major'])
  expect(changes.map(({ kind, agent, tool, verdict }) => [kind, agent, tool, verdict])).toEqual([
    ['authority.widened', 'acme.desk', 'acme.refunds', 'loosened'],
    ['authority.widened', 'acme.clerk', 'acme.refunds', 'loosened'],
  ])
})

test('a widening has a witness, a text and a place', async () => {
  const files = changed(DESK, 'tools/refunds.yaml', 'irreversible_action', 'idempotent_write')
  const { changes } = await diff(changed(files, 'policies/limit.yaml', 'value: 100', 'value: 250'), files)
  expect(changes[0]).toEqual({
    kind: 'authority.widened',
    severity: 'major',
    widens: true,
    agent: 'acme.desk',
    tool: 'acme.refunds',
    verdict: 'loosened',
    witness: { tool: 'acme.refunds', arguments: { amount: 250 }, before: 'require_approval', after: 'allow' },
    from: 'acme.limit: require approval when args.amount > 100 (role finance, separation of duties, by a passkey, deny after 30 min)',
    to: 'acme.limit: require approval when args.amount > 250 (role finance, separation of duties, by a passkey, deny after 30 min)',
    path: 'policies/limit.yaml:7',
    say: 'acme.refunds: acme.limit: require approval when args.amount > 100 → 250 (role finance, separation of duties, by a passkey, deny after 30 min), looser; {"amount":250} was require_approval, is allow',
  })
})

const tool = (more: string): Files => changed(DESK, 'agents/desk.yaml', '  agents:\n', `${more}  agents:\n`)
const desk = (from: string, to: string): Files => changed(DESK, 'agents/desk.yaml', from, to)
const OUTPUT =
  'output: { format: json, strict: true, schema: { inline: { type: object, required: [a], properties: { a: { type: string } } } } }\nspec:\n'

const WRITE = changed(DESK, 'tools/refunds.yaml', 'irreversible_action', 'idempotent_write')
const FETCH = `apiVersion: svc/v1
kind: Tool
metadata: { name: fetch, namespace: web, version: 1.0.0 }
spec: { description: Reads a page., side_effect_class: read_only }
`
/** A desk with a tool of an MCP server. */
const mcp = (ref = 'web.fetch'): Files =>
  changed(
    tool(`    - { ref: ${ref}, mcp: { server: web, tool: fetch }, side_effect_class: read_only }\n`),
    'agents/desk.yaml',
    '  agents:\n',
    '  mcp_servers: [{ name: web, url: https://web.example/mcp }]\n  agents:\n',
  )

describe('each kind of change', () => {
  test.each<[string, Files, readonly string[], Files?]>([
    [
      'a stricter gate',
      changed(DESK, 'policies/ceiling.yaml', 'value: 5000', 'value: 4000'),
      [
        'minor',
        '- authority.narrowed acme.desk acme.orders.lookup tightened',
        '- authority.narrowed acme.desk acme.refunds tightened',
      ],
    ],
    [
      'a reason',
      changed(DESK, 'policies/limit.yaml', 'Above 100', 'Too much'),
      ['patch', '- authority.equal acme.desk acme.refunds equal', '- authority.equal acme.clerk acme.refunds equal'],
    ],
    [
      'a default policy that goes',
      desk('  default_policies: [acme.ceiling]\n', ''),
      [
        'major',
        '! authority.widened acme.desk acme.orders.lookup loosened',
        '! authority.widened acme.desk acme.refunds loosened',
        '! default_policy.removed acme.desk',
      ],
    ],
    [
      'a gate of a binding that goes',
      DESK,
      ['major', '! authority.widened acme.desk acme.refunds loosened', '! gate.removed acme.desk acme.refunds'],
      changed(
        desk('policies: [acme.small]', 'policies: [acme.small, acme.extra]'),
        'policies/small.yaml',
        'apiVersion',
        'apiVersion: svc/v1\nkind: Policy\nmetadata: { name: extra, namespace: acme, version: 1.0.0 }\nspec:\n  conditions: { field: currency, value: USD }\n  decision: { type: escalate }\n---\napiVersion',
      ),
    ],
    [
      'a boundary that goes',
      desk('  governance: { authority_boundaries: [refund-limit] }\n', ''),
      [
        'major',
        '! authority.widened acme.desk acme.refunds loosened',
        '! boundary.removed acme.desk',
        '! authority.widened acme.clerk acme.refunds loosened',
      ],
    ],
    [
      'a writing tool',
      tool('    - ref: acme.refunds\n      as: again\n'),
      ['minor', '! tool.added acme.desk acme.refunds'],
    ],
    [
      'a class that is lowered',
      changed(DESK, 'tools/refunds.yaml', 'irreversible_action', 'idempotent_write'),
      [
        'major',
        '! authority.widened acme.clerk acme.refunds loosened',
        '- class.lowered acme.desk acme.refunds',
        '- class.lowered acme.clerk acme.refunds',
      ],
    ],
    [
      'a class that is raised',
      changed(DESK, 'tools/lookup.yaml', 'read_only', 'idempotent_write'),
      ['major', '! class.raised acme.desk acme.orders.lookup'],
    ],
    ['a wire name', desk('as: ask_clerk', 'as: clerk'), ['minor', '- wire_name.changed acme.desk acme.clerk']],
    [
      'an edge that becomes late-bound',
      desk('ref: agents/clerk.yaml', 'ref: acme.clerk\n      late_bound: true'),
      [
        'major',
        '! edge.late_bound acme.desk acme.clerk',
        '- input.widened acme.desk acme.clerk',
        '- description.changed acme.desk acme.clerk',
      ],
    ],
    [
      'a sub-agent that goes',
      desk('  agents:\n    - ref: agents/clerk.yaml\n      as: ask_clerk\n', ''),
      ['minor', '- agent.removed acme.desk acme.clerk'],
    ],
    [
      'a sub-agent that comes',
      DESK,
      ['minor', '! tool.added acme.clerk acme.refunds', '- agent.added acme.desk acme.clerk'],
      desk('  agents:\n    - ref: agents/clerk.yaml\n      as: ask_clerk\n', ''),
    ],
    [
      'a limit',
      desk('  agents:\n', '  limits: { max_loop_iterations: 9, on_limit: halt }\n  agents:\n'),
      ['minor', '- limit.lowered acme.desk', '- limit.changed acme.desk'],
    ],
    [
      'a secret',
      desk('  vendor_a: { fromEnv: VENDOR_A_KEY }', '  vendor_a: { fromEnv: OTHER_KEY }\n  more: { fromEnv: MORE }'),
      ['minor', '- secret.added acme.desk', '- secret.changed acme.desk'],
    ],
    [
      'an MCP server',
      desk('  agents:\n', '  mcp_servers: [{ name: web, url: https://web.example/mcp }]\n  agents:\n'),
      ['minor', '- mcp_server.added acme.desk'],
    ],
    ['the model', desk('name: big', 'name: bigger'), ['minor', '- model.changed acme.desk']],
    ['instructions', changed(DESK, 'prompts/desk.md', 'You', 'We'), ['patch', '- instructions.changed acme.desk']],
    [
      'a description',
      changed(DESK, 'tools/lookup.yaml', 'Reads an order.', 'Looks an order up.'),
      ['patch', '- description.changed acme.desk acme.orders.lookup'],
    ],
    ['the purpose', desk('Decide on refunds.', 'Decide.'), ['patch', '- description.changed acme.desk']],
    [
      'the version of a sub-agent',
      changed(DESK, 'agents/clerk.yaml', 'version: 1.0.0', 'version: 2.0.0'),
      ['minor', '- child.major acme.desk acme.clerk'],
    ],
    [
      'a required input',
      changed(DESK, 'schemas/input.json', '"properties"', '"required": ["order"], "properties"'),
      ['major', '- input.narrowed acme.desk'],
    ],
    [
      'an optional input',
      changed(DESK, 'schemas/input.json', '"properties": {', '"properties": {"note": {"type": "string"}, '),
      ['minor', '- input.widened acme.desk'],
    ],
    [
      'a tool input',
      changed(DESK, 'tools/refunds.yaml', '[EUR, USD]', '[EUR]'),
      ['major', '- input.narrowed acme.desk acme.refunds', '- input.narrowed acme.clerk acme.refunds'],
    ],
    [
      'an output that guarantees more',
      desk('spec:\n', OUTPUT),
      ['major', '- output.format acme.desk', '- output.strict_added acme.desk', '- output.narrowed acme.desk'],
    ],
    [
      'an output that guarantees less',
      desk('spec:\n', OUTPUT.replace('required: [a], ', '')),
      ['major', '- output.widened acme.desk'],
      desk('spec:\n', OUTPUT),
    ],
    ['the format', desk('spec:\n', 'output: { format: json }\nspec:\n'), ['major', '- output.format acme.desk']],
    [
      'strictness that goes',
      desk('spec:\n', OUTPUT.replace('strict: true', 'strict: false')),
      ['major', '- output.strict_dropped acme.desk'],
      desk('spec:\n', OUTPUT),
    ],
    [
      'the result of a sub-agent',
      desk('as: ask_clerk', 'as: ask_clerk\n      result: full'),
      ['minor', '- result.changed acme.desk acme.clerk'],
    ],
    [
      'a label that no longer says untrusted',
      DESK,
      [
        'major',
        '! taint_source.dropped acme.desk acme.orders.lookup',
        '- metadata.changed acme.desk acme.orders.lookup',
      ],
      changed(DESK, 'tools/lookup.yaml', 'version: 1.0.3', 'version: 1.0.3, labels: { svc/content: untrusted }'),
    ],
    [
      'a label that says untrusted now',
      changed(DESK, 'tools/lookup.yaml', 'version: 1.0.3', 'version: 1.0.3, labels: { svc/content: untrusted }'),
      ['minor', '- taint_source.added acme.desk acme.orders.lookup', '- metadata.changed acme.desk acme.orders.lookup'],
    ],
    [
      'an effect key that is gone',
      DESK,
      [
        'major',
        '! effect_key.loosened acme.desk acme.orders.lookup',
        '- metadata.changed acme.desk acme.orders.lookup',
      ],
      changed(
        DESK,
        'tools/lookup.yaml',
        'version: 1.0.3',
        'version: 1.0.3, labels: { svc/effect-key: "refund:{args.amount}" }',
      ),
    ],
    [
      'a tool whose calls can be undone',
      undone('acme.orders.cancel'),
      ['minor', '- undo.added acme.desk acme.orders.lookup', '- metadata.changed acme.desk acme.orders.lookup'],
    ],
    [
      'a tool whose calls another one undoes',
      undone('acme.orders.drop'),
      ['minor', '- undo.changed acme.desk acme.orders.lookup', '- metadata.changed acme.desk acme.orders.lookup'],
      undone('acme.orders.cancel'),
    ],
    [
      'a tool whose calls nothing undoes any more',
      undone('none'),
      ['minor', '- undo.dropped acme.desk acme.orders.lookup', '- metadata.changed acme.desk acme.orders.lookup'],
      undone('acme.orders.cancel'),
    ],
    [
      'an effect key that is new',
      changed(
        DESK,
        'tools/lookup.yaml',
        'version: 1.0.3',
        'version: 1.0.3, labels: { svc/effect-key: "refund:{args.amount}" }',
      ),
      [
        'minor',
        '- effect_key.tightened acme.desk acme.orders.lookup',
        '- metadata.changed acme.desk acme.orders.lookup',
      ],
    ],
    [
      'an effect key that holds for less time and asks',
      changed(
        DESK,
        'tools/lookup.yaml',
        'version: 1.0.3',
        'version: 1.0.3, labels: { svc/effect-key: "refund:{args.amount}", svc/effect-window: 1d }',
      ),
      [
        'major',
        '! effect_key.loosened acme.desk acme.orders.lookup',
        '! effect_key.loosened acme.desk acme.orders.lookup',
        '- metadata.changed acme.desk acme.orders.lookup',
      ],
      changed(
        DESK,
        'tools/lookup.yaml',
        'version: 1.0.3',
        'version: 1.0.3, labels: { svc/effect-key: "refund:{args.amount}", svc/effect-repeat: refuse }',
      ),
    ],
    [
      'an MCP tool that gets a document',
      { ...mcp(), 'tools/fetch.yaml': FETCH },
      [
        'major',
        '! taint_source.dropped acme.desk web.fetch',
        '- tool.version acme.desk web.fetch',
        '- description.changed acme.desk web.fetch',
      ],
      mcp(),
    ],
    [
      'an MCP tool that gets a document which says untrusted',
      {
        ...mcp(),
        'tools/fetch.yaml': FETCH.replace('version: 1.0.0', 'version: 1.0.0, labels: { svc/content: untrusted }'),
      },
      [
        'patch',
        '- tool.version acme.desk web.fetch',
        '- description.changed acme.desk web.fetch',
        '- metadata.changed acme.desk web.fetch',
      ],
      mcp(),
    ],
    [
      'an MCP tool that gets a document under another name',
      { ...mcp('web.page'), 'tools/fetch.yaml': FETCH.replace('name: fetch', 'name: page') },
      [
        'major',
        '! taint_source.dropped acme.desk web.fetch',
        '- tool.added acme.desk web.page',
        '- tool.removed acme.desk web.fetch',
      ],
      mcp(),
    ],
    [
      'a write that accepts more',
      changed(WRITE, 'tools/refunds.yaml', '[EUR, USD]', '[EUR, USD, GBP]'),
      [
        'major',
        '! authority.widened acme.desk acme.refunds loosened',
        '! authority.widened acme.clerk acme.refunds loosened',
        '- input.widened acme.desk acme.refunds',
        '- input.widened acme.clerk acme.refunds',
      ],
      WRITE,
    ],
    ['only the version', desk('version: 1.2.0', 'version: 1.2.1'), ['patch', '- content.changed acme.desk']],
  ])('%s', async (_, files, expected, before) => {
    expect(await told(files, before)).toEqual(expected)
  })
})

describe('a run that waits moves where every call is proven equal or tighter', () => {
  const looser = async (after: Files, before: Files = DESK): Promise<readonly string[]> => {
    const [old, now] = (await Promise.all([before, after].map((files) => bundleOf(files)))).map((bundle) =>
      closureInBundle(bundle!, 'acme.desk'),
    ) as [ReturnType<typeof closureInBundle>, ReturnType<typeof closureInBundle>]
    return looserCalls(old, now, diffClosures(old, now).changes).map(({ kind }) => kind)
  }
  /** The desk with one more gate on refunds. */
  const gated = (name: string, conditions: string, type: string, files: Files = DESK): Files =>
    changed(
      changed(files, 'agents/desk.yaml', 'policies: [acme.small]', `policies: [acme.small, acme.${name}]`),
      'policies/small.yaml',
      'apiVersion',
      `apiVersion: svc/v1\nkind: Policy\nmetadata: { name: ${name}, namespace: acme, version: 1.0.0 }\nspec:\n  conditions: ${conditions}\n  decision: { type: ${type} }\n---\napiVersion`,
    )
  const DOLLARS = '{ field: currency, value: USD }'
  const asks = (files?: Files): Files => gated('asks', DOLLARS, 'escalate', files)

  test('a denial in place of a question is tighter, though the question is gone', async () => {
    const after = gated('never', DOLLARS, 'deny')
    expect(await told(after, asks())).toEqual([
      'major',
      '! gate.removed acme.desk acme.refunds',
      '- authority.narrowed acme.desk acme.refunds tightened',
    ])
    expect(await looser(after, asks())).toEqual([])
  })

  test('a denial of other calls than were asked about is not', async () => {
    expect(await looser(gated('never', '{ field: currency, value: EUR }', 'deny'), asks())).toEqual([
      'authority.widened',
      'gate.removed',
    ])
  })

  test('a denial is not known to be tighter where agents are chosen later', async () => {
    const late = desk('ref: agents/clerk.yaml', 'ref: acme.clerk\n      late_bound: true')
    expect(await looser(gated('never', DOLLARS, 'deny', late), asks(late))).toEqual(['gate.removed'])
  })
})
