import { describe, expect, test } from 'vitest'
import { decideByPolicies } from '../../src/policy/decide.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import { makeFacts } from '../policy/make.ts'
import { agentOf, bundleOf, changed, compileFiles, DESK, type Files } from './make.ts'

/** Decides a call of a tool that the agent has bound. */
function decideCall(agent: AgentSnapshot, wire: string, args: object, ancestors: readonly AgentSnapshot[] = []) {
  const tool = [...agent.tools, ...agent.agents].find((each) => each.wire === wire)
  if (!tool) throw new Error(wire)
  const facts = makeFacts({
    args: args as never,
    tool: {
      id: tool.id,
      version: tool.version ?? '',
      wire_name: wire,
      kind: 'result' in tool ? 'agent' : 'tool',
      ...('sideEffectClass' in tool && tool.sideEffectClass && { side_effect_class: tool.sideEffectClass }),
      labels: {},
    },
  })
  return decideByPolicies({ own: agent.policies, ancestors: ancestors.map(({ policies }) => policies) }, wire, facts)
    .decision
}

const policiesOf = (agent: AgentSnapshot, wire: string): string[] =>
  (agent.policies.index[wire] ?? []).map((id) => agent.policies.entries.find((entry) => entry.id === id)!.policy).sort()

const policy = (name: string, spec: string): string =>
  `apiVersion: svc/v1\nkind: Policy\nmetadata: { name: ${name}, namespace: acme, version: 1.0.0 }\nspec:\n${spec}`
const desk = async (files: Files) => agentOf(await bundleOf(files), 'acme.desk')

describe('the desk', () => {
  test.each([
    [{ amount: 40 }, 'allow'],
    [{ amount: 100 }, 'allow'],
    [{ amount: 101 }, 'require_approval'],
    [{ amount: 5001 }, 'deny'],
    [{}, 'require_approval'],
  ])('decides a refund of %j: %s', async (args, decision) => {
    expect(decideCall(await desk(DESK), 'refunds', args)).toBe(decision)
  })

  test('passes its boundary down, and nothing else', async () => {
    const bundle = await bundleOf(DESK)
    const [clerk, root] = [agentOf(bundle, 'acme.clerk'), agentOf(bundle, 'acme.desk')]
    expect(decideCall(clerk, 'pay_back', { amount: 40 })).toBe('require_approval')
    expect(decideCall(clerk, 'pay_back', { amount: 9000 }, [root])).toBe('require_approval')
    expect(policiesOf(clerk, 'pay_back')).toEqual([])
  })
})

test('a boundary without a policy requires approval of all writes, also in sub-agents', async () => {
  const bundle = await bundleOf(changed(DESK, 'agents/desk.yaml', '[refund-limit]', '[spending]'))
  const [clerk, root] = [agentOf(bundle, 'acme.clerk'), agentOf(bundle, 'acme.desk')]
  expect(['lookup', 'refunds', 'ask_clerk'].map((wire) => policiesOf(root, wire))).toEqual([
    ['acme.ceiling'],
    ['acme.ceiling', 'acme.small', 'svc.spending'],
    [],
  ])
  expect(decideCall(root, 'refunds', { amount: 40 })).toBe('require_approval')
  expect(decideCall(root, 'lookup', {})).toBe('allow')
  expect(decideCall(clerk, 'pay_back', { amount: 40 }, [root])).toBe('require_approval')
})

test('a boundary without a tool scope applies to delegation', async () => {
  const files = {
    ...DESK,
    'policies/limit.yaml': policy('limit', '  decision: { type: escalate, authority_ref: refund-limit }\n'),
  }
  const root = await desk(files)
  expect(['lookup', 'refunds', 'ask_clerk'].map((wire) => policiesOf(root, wire))).toEqual([
    ['acme.ceiling', 'acme.limit'],
    ['acme.ceiling', 'acme.limit', 'acme.small'],
    ['acme.limit'],
  ])
})

test("a sub-agent's edge has its own policies", async () => {
  const root = await desk(
    changed(
      DESK,
      'agents/desk.yaml',
      'as: ask_clerk',
      'as: ask_clerk\n      policies: [{ ref: policies/ceiling.yaml }]',
    ),
  )
  expect(policiesOf(root, 'ask_clerk')).toEqual(['acme.ceiling'])
})

test("a Tool document's own policies follow it into every agent", async () => {
  const bundle = await bundleOf(
    changed(DESK, 'tools/refunds.yaml', 'side_effect_class', 'default_policies: [acme.small]\n  side_effect_class'),
  )
  expect(policiesOf(agentOf(bundle, 'acme.clerk'), 'pay_back')).toEqual(['acme.small'])
  const entry = agentOf(bundle, 'acme.desk').policies.entries.find((each) => each.policy === 'acme.small')
  expect(entry?.origin.map(({ kind }) => kind)).toEqual(['binding', 'tool_default'])
})

test('guardrails apply to every call of every agent', async () => {
  const files = { ...DESK, 'house/freeze.yaml': policy('freeze', '  decision: { type: deny }\n') }
  const bundle = await bundleOf(files, { guardrails: ['house/freeze.yaml'] })
  expect(
    bundle.agents.flatMap((agent) => [...agent.tools, ...agent.agents].map(({ wire }) => decideCall(agent, wire, {}))),
  ).toEqual(['deny', 'deny', 'deny', 'deny'])
})

describe('an allow list', () => {
  const list = (spec: string): Files => ({
    ...DESK,
    'policies/small.yaml': policy('small', `  scope: tool:acme.refunds\n  allow: [USD, EUR]\n  decision: ${spec}\n`),
  })

  test('checks the one argument that can be enumerated', async () => {
    const entry = (await desk(list('{ type: allow }'))).policies.entries.find((each) => each.policy === 'acme.small')
    expect([entry?.effect, entry?.allow]).toEqual(['restrict', { field: 'args.currency', values: ['EUR', 'USD'] }])
  })

  test('checks the argument that it names', async () => {
    const entry = (
      await desk(list('{ type: allow, runtime: { svc/allow_field: payee.country } }'))
    ).policies.entries.find((each) => each.policy === 'acme.small')
    expect(entry?.allow?.field).toBe('args.payee.country')
  })

  test.each([
    ['{ a: { type: string }, b: { type: string } }', undefined],
    ['{ a: { type: string }, name: { type: string }, currency: { enum: [EUR] } }', 'args.name'],
    ['{ amount: { type: number } }', undefined],
    ['{ a: { $ref: "#/$defs/code" }, b: { type: number } }', 'args.a'],
  ])('of the properties %s is about %s', async (properties, field) => {
    const files = changed(
      list('{ type: allow }'),
      'tools/refunds.yaml',
      '{ amount: { type: number }, currency: { enum: [EUR, USD] } }',
      `${properties}\n      $defs: { code: { type: string } }`,
    )
    const { bundle, findings } = await compileFiles(files)
    expect(
      bundle &&
        agentOf(bundle, 'acme.desk').policies.entries.find((each) => each.policy === 'acme.small')?.allow?.field,
    ).toBe(field)
    expect(findings.map(({ rule }) => rule)).toEqual(field === undefined ? ['policy/allow-list-ambiguous'] : [])
  })
})

describe('bindings', () => {
  test('uses the stricter class, and arguments must satisfy both schemas', async () => {
    const root = await desk(
      changed(
        DESK,
        'agents/desk.yaml',
        'acme.orders.lookup@^1.0',
        'acme.orders.lookup@^1.0\n      side_effect_class: idempotent_write\n      description: Mine.\n      input_schema: { inline: { maxProperties: 1 } }',
      ),
    )
    expect(root.tools[0]).toEqual({
      wire: 'lookup',
      id: 'acme.orders.lookup',
      version: '1.0.3',
      description: 'Mine.',
      inputSchema: { maxProperties: 1 },
      inputSchemas: [
        { maxProperties: 1 },
        { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
      ],
      sideEffectClass: 'idempotent_write',
      labels: {},
    })
  })

  test('an MCP tool needs no Tool document', async () => {
    const files = changed(
      DESK,
      'agents/clerk.yaml',
      'tools:\n    - ref: acme.refunds\n      as: pay_back',
      'mcp_servers: [{ name: files, url: "https://mcp.example/" }]\n  tools:\n    - ref: acme.files.read\n      mcp: { server: files }',
    )
    const clerk = agentOf(await bundleOf(files), 'acme.clerk')
    expect(clerk.tools).toEqual([
      {
        wire: 'read',
        id: 'acme.files.read',
        version: '',
        description: '',
        inputSchemas: [],
        labels: {},
        mcp: { server: 'files', tool: 'read' },
      },
    ])
    expect(clerk.mcpServers).toEqual([{ name: 'files', url: 'https://mcp.example/' }])
  })

  test('a built-in tool is bound like any other', async () => {
    const files = changed(DESK, 'agents/clerk.yaml', 'acme.refunds\n      as: pay_back', 'svc.ask_user@^1')
    expect(agentOf(await bundleOf(files), 'acme.clerk').tools).toMatchObject([
      { wire: 'ask_user', id: 'svc.ask_user', version: '1.0.0', sideEffectClass: 'read_only', builtin: true },
    ])
  })
})
