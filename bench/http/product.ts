/**
 * The whole server with an agent that answers at once and one that waits, and as many stored sessions as asked for.
 * Arguments: directory, number of sessions, address of a model.
 */
import { digestOf } from '../../src/base/digest.ts'
import { createIds, type SessionId } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import { sealSet } from '../../src/policy/policy-set.ts'
import { openServer } from '../../src/server/open.ts'
import type { Run } from '../../src/spec/run/run.ts'
import { digestOfSnapshot, type ScriptTurn, type AgentSnapshot } from '../../src/spec/snapshot.ts'
import type { Store } from '../../src/store/store.ts'
import { TALKS } from '../engine/model.ts'

const [directory, sessions, modelUrl] = process.argv.slice(2) as [string, string, string]
const NONE = {
  ratePerMinute: null,
  ratePerDay: null,
  maxConcurrentRuns: null,
  planRunsPerDay: null,
  planTokensPerDay: null,
  planCostPerDay: null,
}

/** Steps of the longest timeline. */
const LONG = 10_000
const ASK = {
  wire: 'ask_user',
  id: 'svc.ask_user',
  version: '1.0.0',
  description: 'Asks.',
  inputSchema: { type: 'object' },
  inputSchemas: [{ type: 'object' }],
  labels: {},
  builtin: true,
} as const

const scripted = (script: readonly ScriptTurn[]): AgentSnapshot['model'] => ({
  provider: 'scripted',
  name: 'script',
  script,
})

const REFUNDS = {
  wire: 'refunds',
  id: 'bench.refunds',
  version: '1.0.0',
  description: 'Pays an amount back.',
  inputSchema: { type: 'object' },
  inputSchemas: [{ type: 'object' }],
  labels: {},
  sideEffectClass: 'irreversible_action',
} as const

function agent(name: string, model: AgentSnapshot['model']): AgentSnapshot {
  const id = `bench.${name}`
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
    model,
    secrets: {},
    mcpServers: [],
    tools: [ASK, REFUNDS],
    agents: [],
    limits: {},
    output: { format: 'text', strict: false, on_invalid: 'retry' },
    policies: sealSet({
      v: 1,
      compiler: 'bench',
      agent: id,
      entries: [],
      index: { ask_user: [], refunds: [] },
      inherited: [],
    }),
  }
  return { ...content, digest: digestOfSnapshot(content) }
}

const server = await openServer({
  dataDirectory: directory,
  workspace: 'bench',
  config: {
    tools: { 'bench.refunds': { mock: [{ result: {} }] } },
    providers: { near: { type: 'openai-compatible', base_url: modelUrl } },
  },
  configDirectory: directory,
  env: { PATH: process.env['PATH'] },
  version: '0.0.0',
  log: silentLog,
})

async function ask<T>(line: string, body: unknown): Promise<T> {
  const [method, path] = line.split(' ') as [string, string]
  const response = await server.operator.fetch(
    new Request(`http://operator.svc${path}`, {
      method,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  )
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as T
}

interface Door {
  readonly agentId: string
  readonly keys: readonly string[]
}

async function open(snapshot: AgentSnapshot, keys: number): Promise<Door> {
  const bundle = { root: snapshot.id, agents: [snapshot], documents: [], closureDigest: snapshot.digest }
  const { deployed } = await ask<{ deployed: { agentId: string } }>('POST /publish', { bundle, deploy: true })
  await ask('POST /triggers', { agent: snapshot.id, type: 'api' })
  const made: string[] = []
  while (made.length < keys)
    made.push((await ask<{ secret: string }>('POST /keys', { agent: snapshot.id, trigger: 'api' })).secret)
  return { agentId: deployed.agentId, keys: made }
}

async function start({ agentId, keys }: Door): Promise<{ runId: string; sessionId: SessionId }> {
  const response = await fetch(`${server.url}/v1/agents/${agentId}/runs`, {
    method: 'POST',
    headers: { 'x-api-key': keys[0]!, 'content-type': 'application/json' },
    body: JSON.stringify({ input: { message: 'Hello.' } }),
  })
  return (await response.json()) as { runId: string; sessionId: SessionId }
}

/** Starts a run and waits until it pauses. */
async function paused(door: Door): Promise<{ runId: string }> {
  const { runId } = await start(door)
  const headers = { 'x-api-key': door.keys[0]!, prefer: 'wait=10' }
  const run = (await (await fetch(`${server.url}/v1/runs/${runId}`, { headers })).json()) as { pending: unknown[] }
  if (run.pending.length !== 1) throw new Error(`Run ${runId} waits for nothing.`)
  return { runId }
}

const desk = await open(agent('desk', scripted([{ say: 'ok' }])), 1)
const waits = await open(
  agent('waits', scripted([{ call: { tool: 'ask_user', arguments: { message: 'Well?' } } }])),
  50,
)
/** Waits after every piece: one of some words, then all that a long answer has. */
const talks = await open(agent('talks', { provider: 'near', name: 'talks' }), 50)
const refunds = await open(
  agent(
    'approving',
    scripted([
      {
        call: {
          tool: 'refunds',
          arguments: { order: 'A-1042', amount: 180, currency: 'EUR', reason: 'It arrived broken.' },
        },
      },
    ]),
  ),
  1,
)
const spoken = await open(agent('spoken', { provider: 'near', name: 'tools-0' }), 1)
const { runId, sessionId } = await start(desk)
const stream = await fetch(`${server.url}/v1/runs/${runId}/stream`, { headers: { 'x-api-key': desk.keys[0]! } })
await stream.text()
await fill(server.store, sessionId, Number(sessions))
const longRunId = await fillLong(server.store, sessionId, LONG)

process.on('message', (wanted) => {
  if (wanted === 'memory') globalThis.gc?.()
  const { user, system } = process.cpuUsage()
  process.send!({ rss: process.memoryUsage().rss, cpuMs: (user + system) / 1000 })
})
process.on('disconnect', () => process.exit(0))
process.send!({
  port: Number(new URL(server.url).port),
  key: desk.keys[0],
  agentId: desk.agentId,
  spoken: { agentId: spoken.agentId, key: spoken.keys[0] },
  runId,
  long: { runId: longRunId, steps: LONG },
  approving: { runId: (await paused(refunds)).runId, key: refunds.keys[0] },
  waiting: { runId: (await start(waits)).runId, keys: waits.keys },
  talking: { runId: (await start(talks)).runId, keys: talks.keys, ...TALKS },
})

/** One more session like the one that ended, with so many completions of a sentence each. */
async function fillLong(store: Store, like: SessionId, count: number): Promise<string> {
  const ids = createIds(() => Date.now())
  const session = (await store.session(like))!
  const run: Run = (await store.runsOfSession(like))[0]!
  const step = (await store.stepsOfSession(like)).find(({ type }) => type === 'Reasoning')!
  const [id, rootRunId] = [ids.next<'session'>(), ids.next<'run'>()]
  const steps = Array.from({ length: count }, (_, index) => ({
    ...step,
    id: ids.next<'step'>(),
    eventId: ids.next<'event'>(),
    sessionId: id,
    runId: rootRunId,
    sequence: index + 1,
    ordinal: index + 1,
  }))
  const turn = {
    session: { ...session, id, rootRunId, version: 0, lastSeq: 0, lastOrdinal: count },
    runs: [{ ...run, id: rootRunId, sessionId: id, lastSequence: count }],
    steps,
    closedSteps: [],
    tasks: [],
    calls: [],
    events: [],
    setTimers: [],
    clearTimers: [],
    spends: [],
    busy: false,
  }
  await store.start(turn, NONE)
  return rootRunId
}

/** Further sessions like the one that ended, through the door that starts use. */
async function fill(store: Store, like: SessionId, count: number): Promise<void> {
  const ids = createIds(() => Date.now())
  const session = (await store.session(like))!
  const run: Run = (await store.runsOfSession(like))[0]!
  for (let made = 0; made < count; made += 1000)
    await Promise.all(
      Array.from({ length: Math.min(1000, count - made) }, () => {
        const id = ids.next<'session'>()
        const rootRunId = ids.next<'run'>()
        return store.start(
          {
            session: { ...session, id, rootRunId, version: 0, lastSeq: 0 },
            runs: [{ ...run, id: rootRunId, sessionId: id }],
            steps: [],
            closedSteps: [],
            tasks: [],
            calls: [],
            events: [],
            setTimers: [],
            clearTimers: [],
            spends: [],
            busy: false,
          },
          NONE,
        )
      }),
    )
}
