import { describe, expect, test } from 'vitest'
import { bundleOf, changed, compileFiles, DESK, registryOf, type Files } from './make.ts'

/** What a compilation says, one line each: `path:line rule message`. */
async function saidOf(files: Files, options: Parameters<typeof compileFiles>[1] = {}): Promise<string[]> {
  const { findings } = await compileFiles(files, options)
  return findings.map(
    ({ path, range, rule, severity, message }) => `${path}:${range.start.line} ${severity} ${rule} ${message}`,
  )
}

const desk = (from: string, to: string): Files => changed(DESK, 'agents/desk.yaml', from, to)
const clerk = (from: string, to: string): Files => changed(DESK, 'agents/clerk.yaml', from, to)
const limit = (from: string, to: string): Files => changed(DESK, 'policies/limit.yaml', from, to)
const without = (path: string): Files => Object.fromEntries(Object.entries(DESK).filter(([each]) => each !== path))

describe('each fault is reported at its place', () => {
  test.each<[string, Files, string]>([
    [
      'a root that is not there',
      changed(DESK, 'bundle.yaml', 'agents/desk.yaml', 'agents/dsk.yaml'),
      'bundle.yaml:4 error bundle/root-missing There is no file "agents/dsk.yaml". Did you mean "agents/desk.yaml"?',
    ],
    [
      'a second document in the root file',
      {
        ...DESK,
        'agents/desk.yaml': `${DESK['agents/desk.yaml']}---\n${DESK['policies/small.yaml']?.replace('name: small', 'name: other')}`,
      },
      'agents/desk.yaml:25 error doc/multiple-documents agents/desk.yaml is the root of the bundle in this directory and may hold the Agent only; this is a Policy.',
    ],
    [
      'a shape that is wrong',
      clerk('purpose: Know the rules.', 'purpos: Know the rules.'),
      'agents/clerk.yaml:5 error doc/unknown-key `purpos` is not a key of spec. Did you mean `purpose`?',
    ],
    [
      'a Tool document with a wrong shape',
      changed(DESK, 'tools/lookup.yaml', 'side_effect_class: read_only', 'side_effect_class: harmless'),
      'tools/lookup.yaml:6 error doc/schema spec.side_effect_class must be one of `read_only`, `idempotent_write`, `non_idempotent_write`, `irreversible_action`, but is "harmless".',
    ],
    [
      'a sub-agent that is not there',
      desk('ref: agents/clerk.yaml', 'ref: agents/clark.yaml'),
      'agents/desk.yaml:20 error subagent/missing There is no file "agents/clark.yaml". Did you mean "agents/clerk.yaml"?',
    ],
    [
      'a sub-agent that is no agent',
      desk('ref: agents/clerk.yaml', 'ref: policies/small.yaml'),
      'agents/desk.yaml:20 error subagent/missing policies/small.yaml is a Policy, not an Agent.',
    ],
    [
      'a floating sub-agent',
      desk('ref: agents/clerk.yaml', 'ref: acme.clerk'),
      'agents/desk.yaml:20 error subagent/ref-form "acme.clerk" names no version.',
    ],
    [
      'a late-bound path',
      desk('as: ask_clerk', 'late_bound: true'),
      'agents/desk.yaml:20 error subagent/ref-form "agents/clerk.yaml" is a path, which is never bound late.',
    ],
    [
      'a range for a sub-agent',
      desk('ref: agents/clerk.yaml', 'ref: acme.clerk@^1'),
      'agents/desk.yaml:20 error subagent/range "^1" is not an exact version; a sub-agent is pinned.',
    ],
    [
      'a pin that was never published',
      desk('ref: agents/clerk.yaml', 'ref: acme.clerk@9.0.0'),
      'agents/desk.yaml:20 error subagent/missing acme.clerk@9.0.0 is not published.',
    ],
    [
      'a circle',
      clerk('tools:', 'agents: [{ ref: agents/desk.yaml }]\n  tools:'),
      'agents/clerk.yaml:8 error subagent/cycle Agents delegate in a circle: acme.desk -> acme.clerk -> acme.desk.',
    ],
    [
      'delegation that is too deep',
      {
        ...desk('default_policies', 'limits: { max_subagent_depth: 1 }\n  default_policies'),
        'agents/clerk.yaml': `${DESK['agents/clerk.yaml']}  agents: [{ ref: agents/aide.yaml }]\n`,
        'agents/aide.yaml': DESK['agents/clerk.yaml']!.replace('name: clerk', 'name: aide'),
      },
      'agents/desk.yaml:22 error limits/depth-exceeded Delegation goes 2 deep (acme.desk -> acme.clerk -> acme.aide), but max_subagent_depth is 1.',
    ],
    [
      'a secret with two variables',
      clerk('spec:', 'secrets: { vendor_a: { fromEnv: OTHER_KEY } }\nspec:'),
      'agents/clerk.yaml:4 error secret/conflict The secret "vendor_a" is OTHER_KEY in acme.clerk and VENDOR_A_KEY in acme.desk.',
    ],
    [
      'a tool that is nowhere',
      desk('acme.refunds@^1.0', 'acme.refund@^1.0'),
      'agents/desk.yaml:17 error tool/unresolved There is no Tool document acme.refund, neither in the bundle nor published. Did you mean "acme.refunds"?',
    ],
    [
      'a range that nothing satisfies',
      desk('acme.refunds@^1.0', 'acme.refunds@^2.0'),
      'agents/desk.yaml:17 error tool/unresolved No version of acme.refunds satisfies ^2.0; there are 1.0.0.',
    ],
    [
      'a range that is none',
      desk('acme.refunds@^1.0', 'acme.refunds@^1..3'),
      'agents/desk.yaml:17 error tool/range-invalid "^1..3" is not a semver range.',
    ],
    [
      'a built-in tool that does not exist',
      desk('acme.refunds@^1.0', 'svc.ask_user@^2'),
      'agents/desk.yaml:17 error tool/unresolved There is no Tool document svc.ask_user, neither in the bundle nor published.',
    ],
    [
      'two tools of one name',
      clerk('as: pay_back', '\n    - ref: acme.refunds'),
      'agents/clerk.yaml:11 error tool/wire-name-collision "refunds" already names acme.refunds in this agent.',
    ],
    [
      'a name that no provider takes',
      clerk('as: pay_back', 'as: pay.back'),
      'agents/clerk.yaml:10 error tool/wire-name-invalid "pay.back" cannot be the name of a tool: providers take letters, digits, "_" and "-", at most 64.',
    ],
    [
      'an MCP server that is not declared',
      clerk('as: pay_back', 'mcp: { server: files }'),
      'agents/clerk.yaml:10 error mcp/server-undeclared No MCP server "files" is declared.',
    ],
    [
      'a policy that is nowhere',
      desk('policies: [acme.small]', 'policies: [acme.smal]'),
      'agents/desk.yaml:18 error policy/attachment-missing There is no Policy document acme.smal, neither in the bundle nor published. Did you mean "acme.small"?',
    ],
    [
      'a policy file that is none',
      desk('[acme.small]', '[{ ref: prompts/desk.md }]'),
      'agents/desk.yaml:18 error policy/attachment-missing prompts/desk.md holds no Policy document.',
    ],
    [
      'a policy that is attached where it never applies',
      desk('acme.orders.lookup@^1.0', 'acme.orders.lookup@^1.0\n      policies: [acme.small]'),
      'agents/desk.yaml:17 error policy/scope-mismatch acme.small is for acme.refunds and is attached to acme.orders.lookup, where it never applies.',
    ],
    [
      'a policy without a decision',
      changed(DESK, 'policies/small.yaml', '  decision: { type: allow }\n', ''),
      'policies/small.yaml:4 error policy/no-decision The policy decides nothing: `spec.decision` is missing.',
    ],
    [
      'a scope of another form',
      limit('tool:acme.refunds', 'acme.refunds'),
      'policies/limit.yaml:5 error policy/scope-syntax "acme.refunds" is no scope: a scope names one tool, as `tool:namespace.name`.',
    ],
    [
      'a condition with an unknown operator',
      limit('op: gt', 'op: above'),
      'policies/limit.yaml:6 error policy/condition-syntax There is no operator "above"; there are eq, ne, gt, gte, lt, lte, in, not_in, contains, starts_with, ends_with, matches, exists, type, cidr, semver, within.',
    ],
    [
      'a field that no root has',
      limit('args.amount', 'run.dpth'),
      'policies/limit.yaml:6 error policy/condition-field run has no field "dpth"; it has depth, is_subagent, iteration, elapsed_seconds, tokens_used, trigger_type, taint.',
    ],
    [
      'a literal of the wrong type',
      limit('value: 100', 'value: "100"'),
      'policies/limit.yaml:6 error policy/type-mismatch `gt` compares numbers; its value is string "100".',
    ],
    [
      'an empty condition',
      limit('{ field: args.amount, op: gt, value: 100 }', '{}'),
      'policies/limit.yaml:6 error policy/condition-syntax An empty condition says nothing; leave `conditions` out for always.',
    ],
    [
      'a quorum out of range',
      limit('reason: Above 100', 'approvals_required: 11'),
      'policies/limit.yaml:10 error approval/count-range approvals_required must be from 1 to 10, but is 11.',
    ],
    [
      'a time-out of nothing',
      limit('after_minutes: 30', 'after_minutes: 0'),
      'policies/limit.yaml:11 error approval/timeout-range after_minutes must be greater than zero, but is 0.',
    ],
    [
      'a time-out that approves the irreversible',
      limit('default: deny', 'default: allow'),
      'policies/limit.yaml:11 error approval/timeout-allow-irreversible acme.limit would approve after a timeout, but acme.refunds is irreversible.',
    ],
    [
      'an unknown on_reject',
      limit('reason: Above 100', 'on_reject: give up'),
      'policies/limit.yaml:10 error approval/on-reject-value on_reject must be return_to_agent or fail, but is "give up".',
    ],
    [
      'an unknown on_modify',
      limit('reason: Above 100', 'on_modify: re-check'),
      'policies/limit.yaml:10 error approval/on-modify-value on_modify must be revalidate, accept or reject, but is "re-check".',
    ],
    [
      'instructions that are not there',
      without('prompts/desk.md'),
      'agents/desk.yaml:13 error agent/instructions-missing-file There is no file "prompts/desk.md".',
    ],
    [
      'instructions without a word',
      { ...DESK, 'prompts/desk.md': ' \n' },
      'agents/desk.yaml:13 error agent/instructions-empty prompts/desk.md is empty.',
    ],
    [
      'instructions in two revisions',
      {
        ...desk('ref: prompts/desk.md', 'ref: prompts/desk, version: 2'),
        'prompts/desk-2.md': 'a',
        'prompts/desk/2.md': 'b',
      },
      'agents/desk.yaml:13 error agent/instructions-version-ambiguous "prompts/desk" could be prompts/desk.md or prompts/desk-2.md or prompts/desk/2.md.',
    ],
    [
      'a schema that is not there',
      changed(DESK, 'tools/lookup.yaml', 'schemas/order.json', 'schemas/ordr.json'),
      'tools/lookup.yaml:7 error schema/ref-missing There is no file "schemas/ordr.json". Did you mean "schemas/order.json"?',
    ],
    [
      'a schema that is none',
      { ...DESK, 'schemas/order.json': '[1]' },
      'tools/lookup.yaml:7 error schema/ref-missing "schemas/order.json" is no JSON Schema: a schema is a mapping.',
    ],
    [
      'a schema from elsewhere',
      { ...DESK, 'schemas/order.json': '{"$ref": "https://x.example/s.json"}' },
      'schemas/order.json:1 error schema/remote-ref "https://x.example/s.json" is not part of the bundle.',
    ],
    [
      'a script with an unknown key',
      { ...DESK, 'models/clerk.yaml': '- says: Yes.\n' },
      'agents/clerk.yaml:7 error model/script models/clerk.yaml: turn 1 has no key "says"; it has when, say, call, usage, delay_ms, fail.',
    ],
    [
      'a guardrail that is nowhere',
      DESK,
      'svc.config.yaml:1 error policy/attachment-missing guardrails names "policies/house.yaml", which holds no Policy document.',
    ],
  ])('%s', async (what, files, said) => {
    const options = what.startsWith('a guardrail') ? { guardrails: ['policies/house.yaml'] } : {}
    expect(await saidOf(files, options)).toEqual([said])
  })
})

test('an agent with sub-agents is not compiled without its bundle', async () => {
  expect(await saidOf(without('bundle.yaml'), { root: 'agents/desk.yaml' })).toEqual([
    'agents/desk.yaml:19 error agent/needs-bundle agents/desk.yaml delegates to other agents, so it is published by a Bundle.',
  ])
})

describe('authority boundaries', () => {
  test('without a policy are an error when strict; what lint warns of is not said again', async () => {
    const files = limit('authority_ref: refund-limit', 'authority_ref: refund-limits')
    expect(await saidOf(files)).toEqual([])
    expect(await saidOf(files, { strict: true })).toEqual([
      'agents/desk.yaml:7 error authority/unresolved No policy has authority_ref "refund-limit": every call above read_only of acme.desk needs an approval instead.',
    ])
  })
})

describe('versions', () => {
  test('of one agent must not differ in a closure', async () => {
    const published = registryOf(await bundleOf(clerk('version: 1.0.0', 'version: 1.1.0')))
    const files = desk('as: ask_clerk', 'as: ask_clerk\n    - ref: acme.clerk@1.1.0')
    expect(await saidOf(files, { published })).toEqual([
      'agents/desk.yaml:22 error subagent/version-conflict acme.clerk is in this bundle twice: 1.0.0 (agents/clerk.yaml) and 1.1.0 (published 1.1.0).',
    ])
  })
})

describe('what is compiled', () => {
  test.each<[string, Files, string, string]>([
    ['nothing there', {}, '', 'no_documents'],
    ['a directory without documents', DESK, 'prompts', 'no_documents'],
    ['two bundles', { ...DESK, 'other.yaml': DESK['bundle.yaml']! }, '', 'ambiguous_reference'],
  ])('%s is a failure of the caller', async (_, files, root, code) => {
    await expect(compileFiles(files, { root })).rejects.toMatchObject({ code })
  })
})
