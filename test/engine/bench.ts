/** A workspace for engine tests: manual clock, counted ids, scripted models, tools that are functions. */
import { ownStoreClock, type StoreClock } from '../../src/base/clock.ts'
import { digestOf, digestOfJson } from '../../src/base/digest.ts'
import {
  agentIdOf,
  createIds,
  versionIdOf,
  workspaceIdOf,
  type KeyId,
  type RunId,
  type TaskId,
} from '../../src/base/ids.ts'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { silentLog } from '../../src/base/log.ts'
import { createRedactor } from '../../src/base/secret.ts'
import type { Engine, EngineParts, StartRequest } from '../../src/engine/interface/engine.ts'
import { createEngine } from '../../src/engine/open.ts'
import { maxOutputTokens } from '../../src/providers/output-limit.ts'
import {
  ProviderError,
  type ModelCompletion,
  type CompletionRequest,
  type FinishReason,
  type ModelCall,
  type ModelProviders,
} from '../../src/providers/provider.ts'
import type { QueueTimers } from '../../src/queue/timers.ts'
import type { StoredEvent } from '../../src/spec/event.ts'
import type { Principal } from '../../src/spec/people/key.ts'
import type { PolicyEntry } from '../../src/spec/policy-set.ts'
import type { BoundAgent, BoundTool, JsonSchema, AgentSnapshot } from '../../src/spec/snapshot.ts'
import type { GivenAnswer } from '../../src/spec/task.ts'
import { openDatabase } from '../../src/store/sqlite/database/database.ts'
import { releaseAllLeases } from '../../src/store/sqlite/sessions/leases.ts'
import { createSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import type { ToolInvocation, ToolOutcome } from '../../src/tools/tool.ts'
import { collectTimeline } from './collect-timeline.ts'

export const WORKSPACE = workspaceIdOf('main')
export const T0 = Date.UTC(2026, 0, 1)

export interface ManualClock extends StoreClock {
  set(now: number): void
}
export function createManualClock(start = T0): ManualClock {
  let now = start
  return { ...ownStoreClock({ now: () => now, monotonic: () => now }), set: (next) => void (now = next) }
}

/** A scripted completion: text, calls, or a failure. */
export type ModelReply =
  | string
  | {
      text?: string
      calls?: { name: string; args?: JsonValue; id?: string }[]
      tokens?: number
      finish?: FinishReason
      /** Follows the text instead of the end: the stream fails, or never ends. */
      after?: Error | 'silence'
    }
  | Error
export type Model = (request: CompletionRequest, signal: AbortSignal) => ModelReply | Promise<ModelReply>

/** Answers the completion of turn n with the n-th reply. */
export const inOrder =
  (...turns: ModelReply[]): Model =>
  ({ run }) =>
    turns[run.turn - 1] ?? `no turn ${run.turn}`

export type ToolFunction = (invocation: ToolInvocation, signal: AbortSignal) => ToolOutcome | Promise<ToolOutcome>
export const returns = (result: JsonValue, isError = false): ToolOutcome => ({
  at: 'returned',
  result,
  isError,
  durationMs: 5,
})

const ANY = { type: 'object' }

export const tool = (wire: string, about: Partial<BoundTool> = {}): BoundTool => ({
  wire,
  id: `acme.${wire}`,
  version: '1.0.0',
  description: `Does ${wire}.`,
  inputSchema: ANY,
  inputSchemas: [ANY],
  labels: {},
  sideEffectClass: 'read_only',
  ...about,
})

export const builtin = (name: 'ask_user' | 'request_input'): BoundTool =>
  tool(name, { id: `svc.${name}`, builtin: true })

export const policy = (name: string, about: Partial<PolicyEntry>): PolicyEntry => ({
  id: digestOf(name),
  policy: `acme.${name}`,
  version: '1.0.0',
  effect: 'require_approval',
  obligations: {},
  reason: `because of ${name}`,
  origin: [{ kind: 'binding', doc: `acme.${name}@1.0.0` }],
  ...about,
})

export interface AgentSpec {
  readonly name: string
  readonly tools?: readonly BoundTool[]
  readonly agents?: readonly BoundAgent[]
  /** Policies by the wire names they concern. */
  readonly policies?: readonly { on: readonly string[]; entry: PolicyEntry; inherited?: boolean }[]
  readonly limits?: AgentSnapshot['limits']
  readonly output?: Partial<AgentSnapshot['output']>
  readonly inputContract?: JsonObject
  readonly model?: AgentSnapshot['model']
}

export function snapshotOf(spec: AgentSpec): AgentSnapshot {
  const policies = spec.policies ?? []
  const wires = [...(spec.tools ?? []), ...(spec.agents ?? [])].map((each) => each.wire)
  const set = {
    v: 1 as const,
    compiler: 'test',
    agent: `acme.${spec.name}`,
    entries: policies.map((each) => each.entry),
    index: Object.fromEntries(
      wires.map((wire) => [wire, policies.filter((each) => each.on.includes(wire)).map((each) => each.entry.id)]),
    ),
    inherited: policies.filter((each) => each.inherited).map((each) => each.entry.id),
  }
  const body: Omit<AgentSnapshot, 'digest'> = {
    v: 1,
    id: `acme.${spec.name}`,
    namespace: 'acme',
    name: spec.name,
    version: '1.0.0',
    labels: {},
    classifications: [],
    boundaries: [],
    purpose: 'Test.',
    instructions: { text: 'You are a test.', digest: digestOf('You are a test.') },
    model: spec.model ?? { provider: 'scripted', name: `${spec.name}-model` },
    secrets: {},
    mcpServers: [],
    tools: spec.tools ?? [],
    agents: spec.agents ?? [],
    limits: spec.limits ?? {},
    output: { format: 'text', strict: false, on_invalid: 'retry', ...spec.output },
    ...(spec.inputContract && { inputContract: spec.inputContract }),
    policies: { ...set, digest: digestOfJson(set) },
  }
  return { ...body, digest: digestOfJson(body) }
}

export const boundAgent = (child: AgentSnapshot, about: Partial<BoundAgent> = {}): BoundAgent => ({
  wire: child.name,
  id: child.id,
  version: child.version,
  digest: child.digest,
  lateBound: false,
  description: `Asks ${child.name}.`,
  result: 'summary',
  ...about,
})

export interface BenchSpec {
  readonly agents: readonly AgentSnapshot[]
  /** By agent name. */
  readonly models: Readonly<Record<string, Model>>
  /** By wire name. */
  readonly tools?: Readonly<Record<string, ToolFunction>>
  /** Descriptions that only the server of a tool has, by wire name. */
  readonly described?: Readonly<Record<string, { description: string; schema: JsonSchema } | 'never'>>
  /** A secret that tools need and nobody has set. */
  readonly unset?: { secret: string; env: string }
  readonly timeoutMs?: number
  readonly concurrency?: NonNullable<EngineParts['concurrency']>
  /** What the models cost; nothing by default. */
  readonly terms?: ModelProviders['terms']
  /** What the workspace may spend in a day. */
  readonly plan?: NonNullable<EngineParts['plan']>
  /** Checkpoints of the audit that are asked for. */
  readonly checkpoints?: NonNullable<EngineParts['checkpoints']>
  /** Replaces `models`. */
  readonly providers?: ModelProviders
  readonly store?: (store: Store) => Store
  /** An existing database file, instead of a new one in memory. */
  readonly path?: string
}

export interface Bench {
  readonly clock: ManualClock
  readonly store: Store
  readonly engine: Engine
  readonly parts: EngineParts
  /** Timers that `advance` fires. */
  readonly timers: QueueTimers
  readonly invoked: ToolInvocation[]
  /** Moves the clock forward, firing the timers that become due on the way. */
  advance(ms: number): Promise<void>
  start(agent: string, input?: JsonObject, more?: Partial<StartRequest>): Promise<RunId>
  /** Resolves with the first event that fits, in the order of the log. */
  waitForEvent(run: RunId, fits: (event: StoredEvent) => boolean, after?: number): Promise<StoredEvent>
  waitForEnd(run: RunId): Promise<StoredEvent>
  /** Resolves with the newest pending task of the run's session. */
  waitForTask(run: RunId, count?: number): Promise<JsonObject>
  timeline(run: RunId): Promise<{ type: string; content: JsonObject; error: string | null; runId: string }[]>
  /** Ids of the sessions with work in flight, whether they are held or not. */
  busySessions(): readonly string[]
  /** Another engine on the same store, as a restart would make. */
  restart(): Promise<Engine>
}

export const operator = (id = 'olga', roles: string[] = []): Principal => ({
  type: 'operator',
  id,
  proof: 'credential',
  workspaceId: WORKSPACE,
  roles,
})
export const key = (id = 'k1', agent = 'root', person: string | null = null): Principal => ({
  type: 'api_key',
  id: id as KeyId,
  workspaceId: WORKSPACE,
  agentId: agentIdOf('test', `acme.${agent}`),
  triggerId: 't1' as never,
  triggerName: 'api',
  allowUploads: false,
  person,
  exposeTimeline: true,
  allowApprovals: true,
  allowOlderVersions: false,
})

export const reply = (task: JsonObject, more: Partial<GivenAnswer> = {}): GivenAnswer => ({
  taskId: task['user_task_id'] as TaskId,
  by: key(),
  ...more,
})

export async function openBench(spec: BenchSpec): Promise<Bench> {
  const clock = createManualClock()
  const db = openDatabase(spec.path ?? ':memory:')
  const plain = createSqliteStore(db, clock)
  const store = spec.store?.(plain) ?? plain
  if (spec.path === undefined) await publish(plain, spec.agents)
  let seed = 7
  const ids = createIds(
    () => clock.now(),
    (bytes) => {
      for (let at = 0; at < bytes.length; at++) bytes[at] = seed = (seed * 1103515245 + 12345) & 0xff
    },
  )
  const invoked: ToolInvocation[] = []
  const parts: EngineParts = {
    store,
    providers: spec.providers ?? {
      choose: (agent) => ({
        complete: (request, signal) => streamReply(spec.models[agent.id.slice(5)]!, request, signal),
      }),
      maxOutputTokens: (model) => maxOutputTokens(model, 'scripted'),
      terms: spec.terms ?? (() => ({ price: 'free' })),
    },
    tools: {
      route(_, bound) {
        const run = spec.tools?.[bound.wire]
        if (!run) return undefined
        return {
          route: 'mock',
          timeoutMs: spec.timeoutMs ?? 60_000,
          async invoke(invocation, signal) {
            invoked.push(invocation)
            return await run(invocation, signal)
          },
        }
      },
      describe: async (_, bound, signal) => {
        const described = spec.described?.[bound.wire]
        if (described !== 'never') return described
        await new Promise((done) => signal.addEventListener('abort', done))
        throw signal.reason
      },
      findUnsetSecret: () => spec.unset,
      close: () => Promise.resolve(),
    },
    clock,
    ids,
    random: () => 0,
    log: silentLog,
    redactor: createRedactor(),
    worker: 'host:7',
    ...(spec.concurrency && { concurrency: spec.concurrency }),
    ...(spec.plan && { plan: spec.plan }),
    ...(spec.checkpoints && { checkpoints: spec.checkpoints }),
  }
  const alarms = new Map<number, { callback: () => void; at: number }>()
  let handles = 0
  const timers: QueueTimers = {
    set(callback, ms) {
      alarms.set(++handles, { callback, at: clock.now() + ms })
      return handles
    },
    clear: (handle) => void alarms.delete(handle as number),
  }
  let processes = 0
  /** As the process does that opens the directory: nobody else has it. */
  const open = (): Engine => {
    releaseAllLeases(db)
    return createEngine({ ...parts, worker: `host:${7 + processes++}`, timers })
  }
  let engine = open()
  const waitForEvent: Bench['waitForEvent'] = async (run, fits, after = 0) => {
    const stop = new AbortController()
    for await (const each of oneByOne(engine.follow(run, after, stop.signal))) {
      if (each !== 'live' && 'seq' in each && fits(each)) return each
    }
    throw new Error('The stream ended without such an event.')
  }
  return {
    clock,
    store: plain,
    get engine() {
      return engine
    },
    parts,
    timers,
    invoked,
    async advance(ms) {
      const until = clock.now() + ms
      for (;;) {
        await turns()
        const next = [...alarms].filter(([, each]) => each.at <= until).sort(([, a], [, b]) => a.at - b.at)[0]
        if (!next) break
        alarms.delete(next[0])
        clock.set(Math.max(clock.now(), next[1].at))
        next[1].callback()
      }
      clock.set(until)
      await turns()
    },
    async start(agent, input = {}, more = {}) {
      const { runId } = await engine.start(startOf(agent, input, more))
      return runId as RunId
    },
    waitForEvent,
    waitForEnd: (run) =>
      waitForEvent(
        run,
        (event) => event.runId === run && /^engine\.run\.(completed|failed|cancelled)$/.test(event.subject),
      ),
    async waitForTask(run, count = 1) {
      let left = count
      const event = await waitForEvent(run, (each) => each.subject === 'engine.user_task.created' && --left === 0)
      return event.data['task'] as JsonObject
    },
    async timeline(run) {
      const stored = await plain.run(run)
      return (await collectTimeline(await engine.conversation(stored!.sessionId))).items.map(
        ({ type, content, error, runId }) => ({
          type,
          content: content as JsonObject,
          error,
          runId,
        }),
      )
    },
    busySessions: () => db.prepare<[], string>('select id from session where busy = 1').pluck().all(),
    async restart() {
      await engine.close(0)
      alarms.clear()
      engine = open()
      await engine.recover()
      return engine
    },
  }
}

/** A reply of an approver who saw these arguments. */
export const replyTo = (
  task: JsonObject,
  more: Partial<GivenAnswer> = {},
  seen: JsonValue = task['arguments']!,
): GivenAnswer => reply(task, { ...more, metadata: { ...more.metadata, 'svc/arguments_digest': digestOfJson(seen) } })

/** Flattens batches of events. */
export async function* oneByOne<T>(source: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const together of source) yield* together
}

/** Waits for everything that needs no time: turns of the event loop, far more than the longest chain of saves has. */
export async function turns(count = 60): Promise<void> {
  for (let at = 0; at < count; at++) await new Promise((resolve) => setImmediate(resolve))
}

export const startOf = (agent: string, input: JsonObject = {}, more: Partial<StartRequest> = {}): StartRequest => ({
  workspaceId: WORKSPACE,
  agentId: agentIdOf('test', `acme.${agent}`),
  principal: key('k1', agent),
  triggerType: 'api',
  triggerId: null,
  triggerName: 'api',
  input,
  limits: {
    ratePerMinute: null,
    ratePerDay: null,
    maxConcurrentRuns: null,
    planRunsPerDay: null,
    planTokensPerDay: null,
    planCostPerDay: null,
  },
  ...more,
})

export async function publish(store: Store, agents: readonly AgentSnapshot[]): Promise<void> {
  await store.publish({
    workspaceId: WORKSPACE,
    agents: agents.map((snapshot) => ({
      id: versionIdOf('test', snapshot.id, snapshot.digest),
      agentId: agentIdOf('test', snapshot.id),
      snapshot,
      closureDigest: snapshot.digest,
    })),
    documents: [],
    at: T0,
    by: 'test',
  })
  for (const { id, digest } of agents)
    await store.deploy(agentIdOf('test', id), versionIdOf('test', id, digest), T0, 'test')
}

async function* streamReply(model: Model, request: CompletionRequest, signal: AbortSignal) {
  const said = await model(request, signal)
  signal.throwIfAborted()
  if (said instanceof Error) throw said
  const { text = '', calls = [], tokens = 10, finish, after } = typeof said === 'string' ? { text: said } : said
  if (text) yield { type: 'text' as const, text }
  if (after === 'silence')
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  if (after instanceof Error) throw after
  const completion: ModelCompletion = {
    text,
    finishReason: finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    calls: calls.map(({ name, args = {}, id }, index): ModelCall => ({
      id: id ?? `c${request.run.turn}_${index}`,
      name,
      arguments: args,
    })),
    usage: { inputTokens: tokens, outputTokens: tokens },
  }
  yield { type: 'end' as const, completion }
}

export const overloaded = new ProviderError('The model is overloaded.', { status: 529, retryable: true })
