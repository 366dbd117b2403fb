/**
 * The whole server as the binary opens it, with agents that call 0, 1 and 3 tools, and one that waits for an approval.
 * Arguments: directory, model address or `scripted`.
 */
import { digestOf } from '../../src/base/digest.ts'
import { silentLog } from '../../src/base/log.ts'
import { sealSet } from '../../src/policy/policy-set.ts'
import { openServer } from '../../src/server/open.ts'
import { digestOfSnapshot, type BoundTool, type Snapshot } from '../../src/spec/snapshot.ts'
import type { Store, Turn } from '../../src/store/store.ts'
import { subject } from './subject.ts'

const [directory, model] = process.argv.slice(2) as [string, string]
const me = subject()

const look: BoundTool = {
  wire: 'look',
  id: 'bench.look',
  version: '1.0.0',
  description: 'Looks.',
  inputSchema: { type: 'object' },
  inputSchemas: [{ type: 'object' }],
  labels: {},
  sideEffectClass: 'read_only',
}
const pay: BoundTool = { ...look, wire: 'pay', id: 'bench.pay', sideEffectClass: 'irreversible_action' }

function agent(name: string, tools: readonly BoundTool[], calls: readonly string[]): Snapshot {
  const id = `bench.${name}`
  const index = Object.fromEntries(tools.map(({ wire }) => [wire, []]))
  const script = [...calls.map((tool, n) => ({ call: { tool, arguments: { n } } })), { say: 'ok' }]
  const content: Omit<Snapshot, 'digest'> = {
    v: 1,
    id,
    namespace: 'bench',
    name,
    version: '1.0.0',
    labels: {},
    classifications: [],
    boundaries: [],
    purpose: 'Measure.',
    instructions: { text: 'Answer.', digest: digestOf('Answer.') },
    model: model === 'scripted' ? { provider: 'scripted', name: 'script', script } : { provider: 'fake', name },
    secrets: {},
    mcpServers: [],
    tools,
    agents: [],
    limits: {},
    output: { format: 'text', strict: false, on_invalid: 'retry' },
    policies: sealSet({ v: 1, compiler: 'bench', agent: id, entries: [], index, inherited: [] }),
  }
  return { ...content, digest: digestOfSnapshot(content) }
}

const agents = [
  agent('tools-0', [look], []),
  agent('tools-1', [look], ['look']),
  agent('tools-3', [look], ['look', 'look', 'look']),
  agent('waits', [pay], ['pay']),
]

const server = await openServer({
  dataDirectory: directory,
  workspace: 'bench',
  config: {
    ...(model !== 'scripted' && { providers: { fake: { type: 'openai-compatible', base_url: model } } }),
    tools: { 'bench.*': { mock: [{ result: { seen: 1 } }] } },
  },
  configDirectory: directory,
  env: {},
  version: 'bench',
  log: silentLog,
})
const { store } = server
const plain = { ...store }
Object.assign(store, {
  start: (...given: Parameters<Store['start']>) => {
    me.saved()
    return plain.start(...given)
  },
  save: async (turn: Turn) => {
    me.saved()
    await plain.save(turn)
    if (turn.session.status !== 'Running') me.ended(turn.session.rootRunId)
  },
} satisfies Partial<Store>)

const operator = async (path: string, body: object): Promise<Record<string, string>> => {
  const response = await server.operator.fetch(
    new Request(`http://operator.svc${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  )
  const answer = (await response.json()) as Record<string, string>
  if (!response.ok) throw new Error(JSON.stringify(answer))
  return answer
}
const starts: Record<string, string> = {}
const secrets: Record<string, string> = {}
for (const each of agents) {
  const bundle = { root: each.id, agents: [each], documents: [], closureDigest: digestOf(each.digest) }
  await operator('/publish', { bundle, deploy: true })
  const trigger = `t${Date.now()}-${each.name}`
  await operator('/triggers', { agent: each.id, type: 'api', name: trigger })
  const key = await operator('/keys', { agent: each.id, trigger })
  const name = each.name.replace('tools-', '')
  starts[name] = `/v1/agents/${key['agentId']}/runs`
  secrets[name] = key['secret']!
}
me.ready({ url: server.url, headers: secrets, starts })
