/** What a version reaches, as nodes and edges. Source: docs/design/console.md#screens */
import { expect, test } from 'vitest'
import { digestOf } from '../../src/base/digest.ts'
import type { PolicyEntry } from '../../src/spec/policy-set.ts'
import type { AgentSnapshot, BoundAgent, BoundTool } from '../../src/spec/snapshot.ts'
import { bundleGraph, describeEdge } from '../../src/view/bundle-graph.ts'
import { snapshotOf } from '../server/fixtures.ts'

const tool = (id: string, given: Partial<BoundTool> = {}): BoundTool => ({
  wire: id.replace('.', '_'),
  id,
  version: '1.0.0',
  description: '',
  inputSchemas: [],
  labels: {},
  ...given,
})

const entry = (policy: string, given: Partial<PolicyEntry> = {}): PolicyEntry => ({
  id: digestOf(policy),
  policy,
  version: '1.0.0',
  effect: 'require_approval',
  obligations: {},
  origin: [],
  ...given,
})

const WHEN = { field: 'args.amount', op: 'gt', value: 100 }

function agent(
  id: string,
  given: Partial<AgentSnapshot>,
  entries: Readonly<Record<string, readonly PolicyEntry[]>> = {},
) {
  const all = Object.values(entries).flat()
  const index = Object.fromEntries(Object.entries(entries).map(([wire, of]) => [wire, of.map((each) => each.id)]))
  const policies = {
    v: 1,
    compiler: 'test',
    agent: id,
    entries: all,
    index,
    inherited: [],
    digest: digestOf(id),
  } as const
  return snapshotOf(id, '1.0.0', { ...given, policies })
}

const bound = (id: string, given: Partial<BoundAgent> = {}): BoundAgent => ({
  wire: id,
  id,
  version: '1.0.0',
  lateBound: false,
  description: '',
  result: 'summary',
  ...given,
})

const noChild = async () => undefined

test('names agents, tools, servers, policies and secrets, each once', async () => {
  const child = agent('acme.fraud', {
    tools: [tool('acme.score', { sideEffectClass: 'read_only' })],
    agents: [bound('acme.desk')],
  })
  const root = agent(
    'acme.desk',
    {
      model: { provider: 'openai', name: 'gpt', secret: 'openai' },
      secrets: { openai: { fromEnv: 'OPENAI_API_KEY' }, crm: { fromEnv: 'CRM_TOKEN' } },
      mcpServers: [{ name: 'crm', url: 'https://crm.example', auth: { scheme: 'bearer', secret: 'crm' } }],
      tools: [
        tool('acme.pay', { sideEffectClass: 'non_idempotent_write' }),
        tool('acme.lookup', { version: '', mcp: { server: 'crm', tool: 'lookup' } }),
      ],
      agents: [bound('acme.fraud'), bound('acme.gone', { lateBound: true, version: undefined as never })],
    },
    { acme_pay: [entry('acme.limit', { when: WHEN }), entry('acme.night', { effect: 'deny', when: WHEN })] },
  )
  const graph = await bundleGraph(root, async ({ id }) => ({ 'acme.fraud': child, 'acme.desk': root })[id])
  expect(graph.root).toBe('agent:acme.desk@1.0.0')
  expect(graph.nodes).toEqual([
    { id: 'agent:acme.desk@1.0.0', kind: 'agent', name: 'acme.desk', version: '1.0.0', depth: 0 },
    { id: 'secret:OPENAI_API_KEY', kind: 'secret', name: 'OPENAI_API_KEY', depth: 0 },
    { id: 'tool:acme.pay@1.0.0', kind: 'tool', name: 'acme.pay', version: '1.0.0', depth: 0 },
    { id: 'policy:acme.limit@1.0.0', kind: 'policy', name: 'acme.limit', version: '1.0.0', depth: 0 },
    { id: 'policy:acme.night@1.0.0', kind: 'policy', name: 'acme.night', version: '1.0.0', depth: 0 },
    { id: 'tool:acme.lookup', kind: 'tool', name: 'acme.lookup', depth: 0 },
    { id: 'mcp_server:crm', kind: 'mcp_server', name: 'crm', depth: 0 },
    { id: 'secret:CRM_TOKEN', kind: 'secret', name: 'CRM_TOKEN', depth: 0 },
    { id: 'agent:acme.fraud@1.0.0', kind: 'agent', name: 'acme.fraud', version: '1.0.0', depth: 1 },
    { id: 'agent:acme.gone', kind: 'agent', name: 'acme.gone', depth: 1 },
    { id: 'tool:acme.score@1.0.0', kind: 'tool', name: 'acme.score', version: '1.0.0', depth: 1 },
  ])
  expect(graph.edges.map((edge) => `${edge.from} | ${describeEdge(edge)} | ${edge.to}`)).toEqual([
    'agent:acme.desk@1.0.0 | reads | secret:OPENAI_API_KEY',
    'agent:acme.desk@1.0.0 | calls (non idempotent write), stopped where a policy says so | tool:acme.pay@1.0.0',
    'tool:acme.pay@1.0.0 | asks for an approval (calls of acme.desk) | policy:acme.limit@1.0.0',
    'tool:acme.pay@1.0.0 | denies (calls of acme.desk) | policy:acme.night@1.0.0',
    'agent:acme.desk@1.0.0 | calls (undeclared class), not stopped | tool:acme.lookup',
    'tool:acme.lookup | is served by | mcp_server:crm',
    'mcp_server:crm | reads | secret:CRM_TOKEN',
    'agent:acme.desk@1.0.0 | delegates, not stopped | agent:acme.fraud@1.0.0',
    'agent:acme.desk@1.0.0 | delegates, version chosen at the call, not stopped | agent:acme.gone',
    'agent:acme.fraud@1.0.0 | calls (read only), not stopped | tool:acme.score@1.0.0',
    'agent:acme.fraud@1.0.0 | delegates, not stopped | agent:acme.desk@1.0.0',
  ])
})

test.each<[string, BoundTool['sideEffectClass'], readonly PolicyEntry[], string]>([
  ['no policy', 'read_only', [], 'never'],
  ['a grant', 'read_only', [entry('a', { effect: 'grant' })], 'never'],
  ['a condition', 'read_only', [entry('a', { when: WHEN })], 'sometimes'],
  ['a list of values', 'read_only', [entry('a', { effect: 'restrict' })], 'sometimes'],
  ['an approval for every call', 'read_only', [entry('a')], 'always'],
  ['a denial of every call', 'read_only', [entry('a'), entry('b', { effect: 'deny' })], 'denied'],
  ['no policy, for what cannot be undone', 'irreversible_action', [], 'always'],
  ['a grant, for what cannot be undone', 'irreversible_action', [entry('a', { effect: 'grant' })], 'sometimes'],
])('marks a call with %s', async (_, sideEffectClass, entries, expected) => {
  const tools = [tool('acme.pay', { ...(sideEffectClass && { sideEffectClass }) })]
  const graph = await bundleGraph(agent('acme.desk', { tools }, { acme_pay: entries }), noChild)
  expect(graph.edges.find(({ kind }) => kind === 'calls')!.gate).toBe(expected)
})

test('applies the gates of the agents above, but not their grants', async () => {
  const gates = [entry('acme.boundary', { when: WHEN }), entry('acme.grant', { effect: 'grant' })]
  const root = agent('acme.desk', { agents: [bound('acme.child')] }, { acme_child: gates })
  const above = { ...root, policies: { ...root.policies, inherited: gates.map(({ id }) => id) } }
  const child = agent('acme.child', { tools: [tool('acme.pay', { sideEffectClass: 'read_only' })] })
  const graph = await bundleGraph(above, async () => child)
  expect(graph.edges.find(({ to }) => to === 'tool:acme.pay@1.0.0')).toMatchObject({ gate: 'sometimes' })
  expect(graph.edges.filter(({ from }) => from === 'tool:acme.pay@1.0.0').map(({ to }) => to)).toEqual([
    'policy:acme.boundary@1.0.0',
  ])
})
