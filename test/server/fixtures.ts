/** A server without a socket: a real store in memory, a clock wound by hand, and an engine that writes down what it is asked. */
import { ownStoreClock } from '../../src/base/clock.ts'
import { createApp } from '../../src/server/app.ts'
import { createRefusedActs } from '../../src/server/runtime/refused-acts.ts'
import { createKeyAttempts } from '../../src/server/runtime/attempts.ts'
import { createChangeHints } from '../../src/server/runtime/change-hints.ts'
import { createSignInCodes } from '../../src/server/runtime/sign-in-codes.ts'
import type { HostRules } from '../../src/server/http/hosts.ts'
import { createOperatorApp } from '../../src/server/operator-app.ts'
import { createStreamReaders } from '../../src/server/runtime/readers.ts'
import { createRehearsals } from '../../src/server/runtime/rehearsals.ts'
import { createSessionScopes } from '../../src/server/runtime/scopes.ts'
import type { ServerServices } from '../../src/server/runtime/services.ts'
import { digestOf } from '../../src/base/digest.ts'
import { agentIdOf, createIds, versionIdOf, workspaceIdOf, type AgentId, type RunId } from '../../src/base/ids.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import { silentLog } from '../../src/base/log.ts'
import { createRedactor } from '../../src/base/secret.ts'
import type { Blobs } from '../../src/blobs/blobs.ts'
import { createNotifier } from '../../src/engine/drive/notifier.ts'
import type { Engine, FollowedEvent, StartRequest } from '../../src/engine/interface/engine.ts'
import type { ProjectConfig } from '../../src/spec/project/config.ts'
import type { OperatorRoutes } from '../../src/operations/operations.ts'
import type { Run, RunStatusName } from '../../src/spec/run/run.ts'
import type { Session } from '../../src/spec/run/session.ts'
import { digestOfSnapshot, type AgentSnapshot } from '../../src/spec/snapshot.ts'
import type { StoredEvent } from '../../src/spec/event.ts'
import type { GivenAnswer } from '../../src/spec/task.ts'
import { sealSet } from '../../src/policy/policy-set.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import type { SessionUpdate } from '../../src/store/session-update.ts'

export const WORKSPACE = 'acme'
export const NOW = Date.UTC(2026, 10, 20, 10, 0, 0)

export function snapshotOf(id: string, version = '1.0.0', extra: Partial<AgentSnapshot> = {}): AgentSnapshot {
  const at = id.lastIndexOf('.')
  const content = {
    v: 1,
    id,
    namespace: id.slice(0, at),
    name: id.slice(at + 1),
    version,
    labels: {},
    classifications: [],
    boundaries: [],
    purpose: 'Answer.',
    instructions: { text: 'Answer.', digest: digestOf('Answer.') },
    model: { provider: 'scripted', name: 'script', script: [{ say: 'Hello.' }] },
    secrets: {},
    mcpServers: [],
    tools: [],
    agents: [],
    limits: {},
    output: { format: 'text', strict: false, on_invalid: 'retry' },
    policies: sealSet({ v: 1, compiler: 'test', agent: id, entries: [], index: {}, inherited: [] }),
    ...extra,
  } as const
  return { ...content, digest: digestOfSnapshot(content as Omit<AgentSnapshot, 'digest'>) } as AgentSnapshot
}

export interface Asked {
  readonly starts: StartRequest[]
  readonly answers: { readonly runId: string; readonly answer: GivenAnswer; readonly hidden: boolean | undefined }[]
  readonly cancels: { readonly runId: string; readonly reason: string | undefined }[]
}

export interface Fixture {
  readonly services: ServerServices
  readonly clock: { now(): number; monotonic(): number; wind(ms: number): void }
  readonly asked: Asked
  /** What the engine's doors do; a test replaces one where it needs another answer. */
  readonly doors: {
    start?: Engine['start']
    answer?: Engine['answer']
    conversation?: Engine['conversation']
    waitForPause?: Engine['waitForPause']
    follow?: (runId: RunId, after: number, signal: AbortSignal) => ReturnType<Engine['follow']>
  }
  readonly api: (
    path: string,
    init?: RequestInit & { readonly key?: string; readonly json?: unknown },
  ) => Promise<Response>
  readonly operator: <R extends keyof OperatorRoutes>(
    line: R,
    given?: { readonly body?: unknown; readonly query?: Record<string, string>; readonly id?: string },
  ) => Promise<OperatorRoutes[R]['answer']>
  readonly operatorRaw: (line: string, body?: unknown) => Promise<Response>
  /** Publishes and deploys an agent; answers its id. */
  readonly deploy: (id: string, version?: string, extra?: Partial<AgentSnapshot>) => Promise<AgentId>
  /** A trigger and a key for it. */
  readonly keyFor: (
    agent: string,
    given?: { readonly trigger?: Record<string, unknown>; readonly key?: Record<string, unknown> },
  ) => Promise<{ readonly secret: string; readonly keyId: string; readonly triggerId: string }>
  /** A session with one run, stored as the engine would store it. */
  readonly storeRun: (
    agent: string,
    given?: {
      readonly triggerId?: string | null
      readonly status?: RunStatusName
      readonly events?: number
      readonly child?: boolean
      readonly input?: JsonObject
      readonly tags?: readonly string[]
    },
  ) => Promise<{ readonly runId: RunId; readonly sessionId: string; readonly childId: RunId }>
}

export function openFixture(
  given: {
    readonly config?: ProjectConfig
    readonly blobs?: Blobs
    readonly rules?: HostRules
    readonly workspace?: string
    /** Of another fixture, so that several workspaces live in one store. */
    readonly store?: Store
  } = {},
): Fixture {
  const time = { now: NOW }
  const clock = {
    ...ownStoreClock({ now: () => time.now, monotonic: () => time.now }),
    wind: (ms: number) => void (time.now += ms),
  }
  const ids = createIds(() => clock.now())
  const store = given.store ?? openSqlite(':memory:', { clock })
  const workspace = given.workspace ?? WORKSPACE
  const asked: Asked = { starts: [], answers: [], cancels: [] }
  const doors: Fixture['doors'] = {}

  const storeRun: Fixture['storeRun'] = async (
    agent,
    { triggerId = null, status = 'Running', events = 0, child = false, input = { order: 'A-1042' }, tags } = {},
  ) => {
    const version = (await store.versions(agentIdOf(workspace, agent)))[0]!
    const sessionId = ids.next<'session'>()
    const runId = ids.next<'run'>()
    const childId = ids.next<'run'>()
    const now = clock.now()
    const finishedAt = ['Completed', 'Failed', 'Cancelled'].includes(status) ? now : null
    const shared = {
      workspaceId: workspaceIdOf(workspace),
      agentId: version.agentId,
      agentName: agent,
      agentVersionId: version.id,
      versionLabel: version.snapshot.version,
      llmModel: 'script',
    }
    const run: Run = {
      ...shared,
      id: runId,
      sessionId,
      parentRunId: null,
      parentCallId: null,
      depth: 0,
      input,
      state: { at: 'thinking', turn: 1, attempt: 1 },
      status,
      usage: {
        inputTokens: 30,
        outputTokens: 12,
        iterations: 0,
        waitedMs: 0,
        waitingSince: null,
        grants: {},
        outputAttempts: 0,
        tainted: false,
        refusals: {},
      },
      lastSequence: 0,
      output: finishedAt === null ? null : 'Hello.',
      error: null,
      errorCode: null,
      startedAt: now,
      finishedAt,
    }
    const childRun: Run = { ...run, id: childId, parentRunId: runId, parentCallId: 'call-1', depth: 1 }
    const session: Session = {
      ...shared,
      id: sessionId,
      triggerType: triggerId === null ? 'operator' : 'api',
      triggeredBy: null,
      person: null,
      triggerId: triggerId as Session['triggerId'],
      triggerName: triggerId === null ? null : 'api',
      rootRunId: runId,
      status,
      totalTokensUsed: 42,
      runCount: child ? 2 : 1,
      output: run.output,
      error: null,
      input: run.input,
      startContext: { userInput: run.input, version: version.snapshot.version },
      startedAt: now,
      finishedAt,
      version: 0,
      lastSeq: events,
      lastOrdinal: 0,
      ...(tags && { tags }),
    }
    const stored = Array.from({ length: events }, (_, index): StoredEvent => {
      const last = index === events - 1 && finishedAt !== null
      const isStep = !last && index > 0
      return {
        sessionId,
        seq: index + 1,
        runId,
        ts: now + index,
        kind: isStep ? 'step' : 'session',
        subject: index === 0 ? 'engine.session.started' : last ? 'engine.session.completed' : 'engine.step.completed',
        data: { sessionId, runId, n: index + 1, ...(isStep && { step: { ordinal: index } }) },
      }
    })
    const turn: SessionUpdate = {
      session,
      runs: child ? [run, childRun] : [run],
      steps: [],
      closedSteps: [],
      tasks: [],
      calls: [],
      events: stored,
      setTimers: [],
      clearTimers: [],
      spends: [],
      busy: false,
    }
    const outcome = await store.start(turn, {
      ratePerMinute: null,
      ratePerDay: null,
      maxConcurrentRuns: null,
      planRunsPerDay: null,
      planTokensPerDay: null,
      planCostPerDay: null,
    })
    if (outcome.outcome !== 'started') throw new Error(outcome.outcome)
    return { runId, sessionId, childId }
  }

  const engine: Engine = {
    store,
    async start(request) {
      asked.starts.push(request)
      if (doors.start) return doors.start(request)
      const agent = await store.agent(request.agentId)
      const { runId, sessionId } = await storeRun(agent!.name, { triggerId: request.triggerId })
      return {
        sessionId,
        runId,
        status: 'Running',
        totalTokensUsed: 0,
        output: null,
        agentId: request.agentId,
        triggerId: request.triggerId,
      }
    },
    gate: {
      callTool: () => Promise.reject(new Error('No client calls.')),
      findCall: () => Promise.reject(new Error('No client calls.')),
      hasCall: () => Promise.resolve(false),
      listTools: () => Promise.resolve([]),
    },
    async answer(runId, answer, hidden) {
      asked.answers.push({ runId, answer, hidden })
      return doors.answer ? doors.answer(runId, answer, hidden) : { status: 'Running' }
    },
    async cancel(runId, _principal, reason) {
      asked.cancels.push({ runId, reason })
      return { runId, status: 'Cancelled' }
    },
    text: createNotifier(),
    probe: () => Promise.reject(new Error('not asked here')),
    fork: () => Promise.reject(new Error('not asked here')),
    migrate: () => Promise.reject(new Error('not asked here')),
    resume: () => Promise.reject(new Error('not asked here')),
    planUndo: () => Promise.reject(new Error('not asked here')),
    undo: () => Promise.reject(new Error('not asked here')),
    erase: (sessionId, act) => (act ? store.recording(act) : store).eraseSession(sessionId, clock.now()),
    follow(run, after, signal) {
      const runId = typeof run === 'string' ? run : run.id
      return doors.follow ? doors.follow(runId, after, signal) : replay(runId, after)
    },
    leasesHeld: () => 0,
    fullSince: () => undefined,
    nextAttempt: () => undefined,
    watch: () => () => {},
    waitForPause: async (run, signal) => doors.waitForPause?.(run, signal),
    conversation: (sessionId) => doors.conversation!(sessionId),
    recover: async () => 0,
    release: (sessions, triggers, whole, act) =>
      (act ? store.recording(act) : store).releaseRestored(sessions, triggers, whole),
    signal: async () => ({ status: 'Running' }),
    complete: () => Promise.reject(new Error('not asked here')),
    pauses: (workspaceId) => store.pauses(workspaceId),
    reportCheckpoint: (report) => store.keepCheckpointReport(report),
    setPaused: (workspaceId, pause, act) => (act ? store.recording(act) : store).setPaused(workspaceId, pause),
    close: async () => {},
  }
  async function* replay(runId: RunId, after: number): AsyncGenerator<readonly FollowedEvent[]> {
    const run = await store.run(runId)
    yield [...(await store.events(run!.sessionId, after, 1000)), 'live']
  }

  const services: ServerServices = {
    workspace: { id: workspaceIdOf(workspace), name: workspace },
    store,
    engine,
    ...(given.blobs && { blobs: given.blobs }),
    config: given.config ?? {},
    clock,
    ids,
    log: silentLog,
    redactor: createRedactor(),
    readers: createStreamReaders(),
    attempts: createKeyAttempts(clock),
    refusedActs: createRefusedActs({ store, log: silentLog }),
    changes: createChangeHints(engine),
    signInCodes: createSignInCodes(clock),
    secretState: () => 'missing',
    scopes: createSessionScopes(store),
    rehearsals: createRehearsals('no-such-directory', createRedactor()),
    serverState: {
      version: '0.1.0',
      startedAt: NOW,
      url: null,
      uploadUrl: null,
      consoleUrl: null,
      peerUrl: null,
      closing: false,
    },
    operator: 'ana@acme.example',
  }
  const app = createApp(services, given.rules)
  const operatorApp = createOperatorApp(services)

  const operatorRaw: Fixture['operatorRaw'] = async (line, body) => {
    const [method, path] = line.split(' ') as [string, string]
    return operatorApp.fetch(
      new Request(`http://operator.svc${path}`, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      }),
    )
  }
  const operator: Fixture['operator'] = async (line, { body, query, id } = {}) => {
    const search = query ? `?${new URLSearchParams(query)}` : ''
    const response = await operatorRaw(line.replace(':id', id ?? '') + search, body)
    const answer: unknown = await response.json()
    if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(answer)}`)
    return answer as never
  }
  return {
    services,
    clock,
    asked,
    doors,
    storeRun,
    operator,
    operatorRaw,
    async api(path, { key, json, ...init } = {}) {
      const headers = new Headers(init.headers)
      if (key !== undefined) headers.set('x-api-key', key)
      if (json !== undefined) headers.set('content-type', 'application/json')
      const method = init.method ?? (json === undefined ? 'GET' : 'POST')
      return app.request(path, { ...init, method, headers, ...(json !== undefined && { body: JSON.stringify(json) }) })
    },
    async deploy(id, version = '1.0.0', extra = {}) {
      const snapshot = snapshotOf(id, version, extra)
      await operator('POST /publish', {
        body: {
          bundle: { root: id, agents: [snapshot], documents: [], closureDigest: digestOf(snapshot.digest) },
          deploy: true,
        },
      })
      return agentIdOf(workspace, id)
    },
    async keyFor(agent, { trigger = {}, key = {} } = {}) {
      const { triggerId } = await operator('POST /triggers', {
        body: { agent, type: 'api', allowApprovals: true, ...trigger },
      })
      const { secret, keyId } = await operator('POST /keys', { body: { agent, trigger: triggerId, ...key } })
      return { secret, keyId, triggerId }
    },
  }
}

export const versionOf = (id: string, version = '1.0.0') => versionIdOf(WORKSPACE, id, snapshotOf(id, version).digest)
