/** Plays a scenario: whenever the run is idle, answers a task or advances the clock to the next event. */
import { setTimeout as after } from 'node:timers/promises'
import { readWhole } from '../client/whole-conversation.ts'
import { toIsoText, type Instant } from '../base/clock.ts'
import { isFailure } from '../base/failure.ts'
import type { JsonObject, JsonValue } from '../base/json/json.ts'
import { type SessionId, nameBasedId, workspaceIdOf } from '../base/ids.ts'
import type { Conversation, RunStatusBody, StreamEvent } from '../spec/api.ts'
import type { Cassette } from '../spec/project/cassette.ts'
import type { RecordedDecision } from '../operations/decisions.ts'
import type { InboxItem } from '../operations/tasks.ts'
import type { CompiledBundle } from '../spec/snapshot.ts'
import type { Run } from '../spec/run/run.ts'
import type { ShownTask } from '../spec/task.ts'
import { describeCause, describeSubject } from '../view/task/task-subject.ts'
import { readInboxItem } from '../view/task/task-content.ts'
import { describeUndoItem } from '../view/undo.ts'
import { RemoteError } from '../client/remote-error.ts'
import { answerOf, createScriptedAnswers, delayOf, type DecisionRule, type ScriptedAnswers } from './decisions.ts'
import type { EarlierRun, Scenario } from './scenario.ts'
import { isBeforeStart, nextOutside, type DueEvent, type OutsideEvent } from './outside.ts'
import { hasEnded, waitUntilIdle } from './idle.ts'
import { openScenarioServer, type ScenarioProject, type ScenarioServer } from './scenario-server.ts'
import type { UnscriptedCall } from './tool-doubles.ts'
import { isFileRef, type FileRef } from '../spec/file.ts'

export interface PlayedScenario {
  /** Absent when the run could not be started. */
  readonly run?: RunStatusBody
  readonly conversation?: Conversation
  readonly events: readonly StreamEvent[]
  /** Why the run did not end, or could not start. */
  readonly problem?: string
  /** Tasks that no entry of `decide` answered, described for people. */
  readonly undecided: readonly string[]
  /** Virtual time that passed. */
  readonly virtualMs: number
  /** Of an evaluation. */
  readonly evaluated?: {
    /** Policy decisions of the run, oldest first. */
    readonly decisions: readonly RecordedDecision[]
    /** Calls that were not carried out, because nothing was scripted or recorded for them. */
    readonly unscripted: readonly UnscriptedCall[]
    /** Time on the wall from the start of the run to its end. */
    readonly wallMs: number
  }
}

export interface PlayOptions {
  readonly project: ScenarioProject
  readonly bundle: CompiledBundle
  /** Late-bound agents that are deployed with it. */
  readonly lateBound: readonly CompiledBundle[]
  /** `namespace.name` of the agent that is started. */
  readonly agent: string
  readonly cassette: Cassette
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** Evaluates: asks the models that the documents name, and calls no tool that has no double. */
  readonly isEvaluation?: boolean
}

export async function playScenario(
  scenario: Scenario,
  { project, bundle, lateBound, agent, cassette, env, signal, isEvaluation = false }: PlayOptions,
): Promise<PlayedScenario> {
  const unscripted: UnscriptedCall[] = []
  // To be evaluated, or recorded.
  const isLive = isEvaluation || cassette.record !== undefined
  const server = await openScenarioServer({
    project,
    bundles: [...lateBound, bundle],
    doubles: scenario.tools ?? {},
    env,
    cassette,
    isLive,
    ...(isEvaluation && { evaluation: { onUnscripted: (call) => void unscripted.push(call) } }),
  })
  const undecided = new Set<string>()
  const since = server.time.clock.now()
  try {
    const play = async (
      run: EarlierRun & Pick<Scenario, 'outside' | 'undo'>,
      waitsOut: boolean,
    ): Promise<PlayedRun> => {
      await fakeFiles(server, project, run.input)
      return await playRun(server, run.agent ?? agent, run, { waitsOut, undecided, signal, isLive })
    }
    const virtualMs = (): number => server.time.clock.now() - since
    for (const [at, run] of (scenario.before ?? []).entries()) {
      const { problem } = await play(run, false)
      if (problem === undefined) continue
      return { events: [], undecided: [...undecided], problem: `before[${at}]: ${problem}`, virtualMs: virtualMs() }
    }
    const { decide = [], outside = [], input = {}, undo = false, expect } = scenario
    const startedAt = performance.now()
    const { started, problem } = await play(
      { decide, outside, input, undo },
      expect?.limits?.includes('max_hitl_wait_minutes') === true,
    )
    const wallMs = performance.now() - startedAt
    if (!started) return { events: [], undecided: [], ...(problem !== undefined && { problem }), virtualMs: 0 }
    return {
      run: await server.operator.call('GET /v1/runs/:id', { id: started.runId }),
      conversation: await readWhole((cursor) =>
        server.operator.call('GET /v1/runs/:id/conversation', {
          id: started.runId,
          query: { ...(cursor !== undefined && { cursor }) },
        }),
      ),
      events: await eventsOf(server, started.sessionId as SessionId),
      ...(problem !== undefined && { problem }),
      undecided: [...undecided],
      virtualMs: virtualMs(),
      ...(isEvaluation && {
        evaluated: {
          decisions: (await server.operator.call('GET /decisions', { query: { run: started.runId } })).items,
          unscripted,
          wallMs,
        },
      }),
    }
  } finally {
    await server.close()
  }
}

interface StartedRun {
  readonly runId: string
  readonly sessionId: string
}

interface PlayedRun {
  /** Absent where the start was refused. */
  readonly started?: StartedRun
  readonly problem?: string
}

interface RunWaits {
  /** True if the scenario expects a wait that only the run's own limit ends. */
  readonly waitsOut: boolean
  readonly undecided: Set<string>
  readonly signal: AbortSignal
  /** True if models on the network answer. */
  readonly isLive: boolean
}

/** Plays one run to its end, or until it cannot continue. */
async function playRun(
  server: ScenarioServer,
  agent: string,
  { input = {}, decide = [], outside = [], undo = false }: EarlierRun & Pick<Scenario, 'outside' | 'undo'>,
  { signal, isLive, ...waits }: RunWaits,
): Promise<PlayedRun> {
  const used = new Set(outside.filter(isBeforeStart))
  const startedAt = server.time.clock.now()
  for (const { pause } of used) {
    const problem = pause && (await withoutRefusal(() => server.setPaused(pause, true)))
    if (problem !== undefined) return { problem }
  }
  const started = await startRun(server, agent, input)
  if (typeof started === 'string') return { problem: started }
  const answers = createScriptedAnswers(decide)
  let isUndone = !undo
  for (;;) {
    const tree = await waitUntilIdle(server, started.sessionId as SessionId, signal)
    if (hasEnded(tree)) {
      if (isUndone) return { started }
      isUndone = true
      const refused = await undoRun(server, started.runId)
      if (refused !== undefined) return { started, problem: refused }
      continue
    }
    if (isLive) await waitForModels(server, tree.runs, signal)
    const coming = nextOutside(tree.runs, outside, used, startedAt)
    const problem = await answerOrAdvance(server, answers, waits, coming, (event) => used.add(event))
    if (problem !== undefined) return { started, problem }
  }
}

/** The longest wait between two attempts of a completion. */
const MAX_BACKOFF_MS = 30_000

/** Waits as long as the engine would before it asks a model again: in virtual time, it would be asked at once. */
async function waitForModels({ time }: ScenarioServer, runs: readonly Run[], signal: AbortSignal): Promise<void> {
  const next = Math.min(...runs.flatMap(({ state }) => (state.at === 'backing_off' ? [state.until] : [])))
  const ms = Math.min(MAX_BACKOFF_MS, next - time.clock.now())
  if (Number.isFinite(next) && ms > 0) await after(ms, undefined, { signal })
}

/** Returns the message of the error where the start is refused. */
const startRun = ({ operator }: ScenarioServer, agent: string, input: JsonObject): Promise<StartedRun | string> =>
  withoutRefusal(() => operator.call('POST /runs', { body: { agent, input } }))

/** The result of the work, or the message of the server's refusal. */
async function withoutRefusal<T>(work: () => Promise<T>): Promise<T | string> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof RemoteError) return describeRefusal(error)
    throw error
  }
}

/** The message of a refusal, with the places that it names. */
const describeRefusal = ({ message, details }: RemoteError): string =>
  [message, ...details.slice(0, MAX_DETAILS).map((each) => `${each.path} ${each.message}`)].join(' ')

const MAX_DETAILS = 3

/** Undoes everything that can be undone in a run. Returns the reason if nothing can. */
async function undoRun({ operator }: ScenarioServer, id: string): Promise<string | undefined> {
  const { items } = await operator.call('GET /runs/:id/undo', { id })
  const calls = items.flatMap(({ state, undo, runId, toolCallId }) =>
    state === 'open' && undo?.decision !== 'deny' ? [{ runId, toolCallId }] : [],
  )
  if (calls.length === 0)
    return `nothing can be undone${items.map((item) => `; ${item.tool}: ${describeUndoItem(item)}`).join('')}`
  await operator.call('POST /runs/:id/undo', { id, body: { calls } })
  return undefined
}

interface PendingAnswer {
  readonly rule: DecisionRule
  readonly task: ShownTask
  readonly at: Instant
}

/** Answers the task that is due first, or advances the clock. Returns the reason where neither is possible. */
async function answerOrAdvance(
  server: ScenarioServer,
  answers: ScriptedAnswers,
  { waitsOut, undecided }: Pick<RunWaits, 'waitsOut' | 'undecided'>,
  coming: DueEvent | undefined,
  recordUse: (event: OutsideEvent) => void,
): Promise<string | undefined> {
  const { operator, store, time } = server
  const { items } = await operator.call('GET /tasks', { query: {} })
  let next: PendingAnswer | undefined
  for (const item of items) {
    const task = toQuestion(item)
    const rule = answers.choose(task)
    if (!rule) {
      undecided.add(describeTask(task))
      // The task's own time-out answers it; that of the run counts only where the scenario expects it.
      if (item.expiresAt === null && !waitsOut) return `nobody answers ${describeTask(task)}`
      continue
    }
    const at = Math.max(time.clock.now(), Date.parse(item.createdAt) + delayOf(rule))
    if (!next || at < next.at) next = { rule, task, at }
  }
  const due = Math.min((await store.nextTimerAt()) ?? Infinity, time.asleep.until ?? Infinity)
  if (coming && coming.at < Math.min(due, next?.at ?? Infinity)) {
    time.advance(Math.max(time.clock.now(), coming.at))
    recordUse(coming.event)
    const problem = await withoutRefusal(() => server.applyOutside(coming))
    return problem === undefined ? undefined : `what comes from outside is refused: ${problem}`
  }
  if (next && next.at < due) {
    time.advance(next.at)
    return await answerTask(server, answers, next)
  }
  if (due === Infinity) return 'the run waits for something that never comes'
  time.advance(due)
  return undefined
}

async function answerTask(
  server: ScenarioServer,
  answers: ScriptedAnswers,
  { rule, task }: PendingAnswer,
): Promise<string | undefined> {
  try {
    const { error } = await server.answer(task.runId, answerOf(rule, task), {
      ...(rule.as !== undefined && { id: rule.as }),
      ...(rule.roles && { roles: rule.roles }),
    })
    answers.recordUse(rule, task)
    return error === undefined ? undefined : `the answer to ${describeTask(task)} is refused: ${error}`
  } catch (error) {
    if (error instanceof RemoteError || isFailure(error)) return `the answer to ${describeTask(task)}: ${error.message}`
    throw error
  }
}

/** Reply requests have no task id, so the run, time and question identify them. */
const toQuestion = (item: InboxItem): ShownTask => ({
  ...readInboxItem(item),
  ...(item.kind === 'reply' && { id: `${item.runId} ${item.createdAt} ${item.why}` }),
})

/** `approval of acme.refunds amount 180`, `reply: "Which colour?"`. */
const describeTask = (task: ShownTask): string =>
  task.tool === undefined
    ? `${task.kind}: ${JSON.stringify(describeCause(task))}`
    : `${task.kind} of ${describeSubject(task)}`

/** Events per query. */
const PAGE_SIZE = 500

async function eventsOf({ store }: ScenarioServer, sessionId: SessionId): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for (let seq = 0; ;) {
    const page = await store.events(sessionId, seq, PAGE_SIZE)
    events.push(...page.map(({ ts, kind, subject, data }) => ({ ts: toIsoText(ts), kind, subject, data })))
    if (page.length < PAGE_SIZE) return events
    seq = page.at(-1)?.seq ?? seq
  }
}

/**
 * Registers the files that the input refers to as uploaded. They have no bytes: the double of `svc.read_file` defines what a run
 * reads.
 */
async function fakeFiles(
  { store, time }: ScenarioServer,
  project: ScenarioProject,
  input: JsonValue = null,
): Promise<void> {
  const workspaceId = workspaceIdOf(project.workspace)
  const now = time.clock.now()
  for (const { filename, mediaType = 'application/octet-stream' } of fileRefsIn(input)) {
    if (await store.fileByName(workspaceId, filename)) continue
    const id = nameBasedId<'file'>('scenario', filename)
    const objectKey = `${workspaceId}/files/${filename}`
    const file = { id, workspaceId, objectKey, stagingKey: `staging/${id}`, filename, mediaType, maxBytes: 1 }
    await store.presignFile({ ...file, sizeBytes: null, createdAt: now, expiresAt: now + 1, finalizedAt: null }, null)
    await store.finalizeFile(id, 0, now)
  }
}

function fileRefsIn(value: JsonValue): readonly FileRef[] {
  if (isFileRef(value)) return [value]
  if (Array.isArray(value)) return value.flatMap(fileRefsIn)
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(fileRefsIn) : []
}
