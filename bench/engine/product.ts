/**
 * The whole server as the binary opens it, with agents that call 0, 1 and 3 tools, and one that waits for an approval.
 * Arguments: directory, model address or `scripted`, JSON of environment variables.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { digestOf } from '../../src/base/digest.ts'
import { createIds } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import { sealSet } from '../../src/policy/policy-set.ts'
import { openServer } from '../../src/server/open.ts'
import { digestOfSnapshot, type BoundTool, type AgentSnapshot } from '../../src/spec/snapshot.ts'
import type { StartLimits } from '../../src/store/start-outcome.ts'
import type { Store } from '../../src/store/store.ts'
import type { SessionUpdate } from '../../src/store/session-update.ts'
import { seed } from './seed.ts'
import { subject, type Ready } from './subject.ts'

const [directory, model, variables = '{}'] = process.argv.slice(2) as [string, string, string?]
const me = subject(async ({ like, count }) =>
  seed(plain, firsts.get(`bench.${like}`)!, NO_LIMITS, createIds(Date.now), count),
)

const NO_LIMITS: StartLimits = {
  ratePerMinute: null,
  ratePerDay: null,
  maxConcurrentRuns: null,
  planRunsPerDay: null,
  planTokensPerDay: null,
  planCostPerDay: null,
}

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

function agent(
  name: string,
  tools: readonly BoundTool[],
  calls: readonly string[],
  limits: AgentSnapshot['limits'] = {},
): AgentSnapshot {
  const id = `bench.${name}`
  const index = Object.fromEntries(tools.map(({ wire }) => [wire, []]))
  const script = [...calls.map((tool, n) => ({ call: { tool, arguments: { n } } })), { say: 'ok' }]
  const content: Omit<AgentSnapshot, 'digest'> = {
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
    limits,
    output: { format: 'text', strict: false, on_invalid: 'retry' },
    policies: sealSet({ v: 1, compiler: 'bench', agent: id, entries: [], index, inherited: [] }),
  }
  return { ...content, digest: digestOfSnapshot(content) }
}

const agents = [
  agent('tools-0', [look], []),
  agent('tools-1', [look], ['look']),
  agent('tools-3', [look], ['look', 'look', 'look']),
  agent('pieces', [], []),
  // Each that waits has a timer.
  agent('waits', [pay], ['pay'], { max_hitl_wait_minutes: 600 }),
]

const server = await openServer({
  dataDirectory: directory,
  workspace: 'bench',
  config: {
    // Recovery counts the model calls that a restart sends at once: none of them waits for its turn.
    ...(model !== 'scripted' && {
      providers: { fake: { type: 'openai-compatible', base_url: model, concurrency: 1000 } },
    }),
    tools: { 'bench.*': { mock: [{ result: { seen: 1 } }] } },
  },
  configDirectory: directory,
  env: JSON.parse(variables) as Record<string, string>,
  version: 'bench',
  log: silentLog,
})
const { store } = server
const plain = { ...store }
/** The turns of the first session of each agent: what is stored in bulk is like them. */
const firsts = new Map<string, SessionUpdate[]>()
const keep = (turn: SessionUpdate): void => {
  const turns = firsts.get(turn.session.agentName) ?? []
  if (turns.length > 0 && turns[0]!.session.id !== turn.session.id) return
  firsts.set(turn.session.agentName, [...turns, turn])
}
Object.assign(store, {
  start: (...given: Parameters<Store['start']>) => {
    me.saved()
    keep(given[0])
    return plain.start(...given)
  },
  save: async (...given: Parameters<Store['save']>) => {
    me.saved()
    const [{ session }] = given
    keep(given[0])
    const lease = await plain.save(...given)
    if (session.status !== 'Running') me.ended(session.rootRunId)
    return lease
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

/** Published once: a restart is measured without it. */
async function publish(): Promise<Omit<Ready, 'url'>> {
  const starts: Record<string, string> = {}
  const headers: Record<string, string> = {}
  for (const each of agents) {
    const bundle = { root: each.id, agents: [each], documents: [], closureDigest: digestOf(each.digest) }
    await operator('/publish', { bundle, deploy: true })
    await operator('/triggers', { agent: each.id, type: 'api', name: each.name })
    const key = await operator('/keys', { agent: each.id, trigger: each.name })
    const name = each.name.replace('tools-', '')
    starts[name] = `/v1/agents/${key['agentId']}/runs`
    headers[name] = key['secret']!
  }
  return { starts, headers }
}

const note = join(directory, 'bench.json')
const about = existsSync(note) ? (JSON.parse(readFileSync(note, 'utf8')) as Omit<Ready, 'url'>) : await publish()
writeFileSync(note, JSON.stringify(about))
me.ready({ url: server.url, ...about })
