/**
 * One move of a session in the making: what was read, what has changed, and the `Turn` that says so. Nothing here reads a
 * clock, a store or the network; a draft that is thrown away has done nothing.
 */
import type { Instant } from '../../base/clock.ts'
import type { IdSource, RunId, StepId, TaskId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import type { ModelCompletion } from '../../providers/provider.ts'
import type { EventKind } from '../../spec/event.ts'
import { isTerminal, type ToolCall, type Run, type RunState } from '../../spec/run.ts'
import type { Session } from '../../spec/session.ts'
import type { BoundAgent, BoundTool, JsonSchema, AgentSnapshot } from '../../spec/snapshot.ts'
import type { RunStep, StepType } from '../../spec/step.ts'
import type { TaskStatus, TaskRecord } from '../../spec/task.ts'
import { toTimelineItem } from '../../spec/timeline-item.ts'
import type {
  CallRow,
  StepEnd,
  SessionTimer,
  TimerKey,
  TimerKind,
  SessionTree,
  SessionUpdate,
  TurnEvent,
  AgentVersion,
} from '../../store/store.ts'
import { changedRun, changedSession, changedUsage, type UsageChange } from './changed.ts'
import type { RunTransitionEvent } from './event.ts'
import { statusesOf } from './status.ts'
import { toTaskContent } from './timeline.ts'
import { endedWait, waitOf, waitsOf } from './waits.ts'

/** What a move may know of the world, read beforehand. */
export interface TransitionContext {
  /** Never before anything that the session already says. */
  readonly now: Instant
  readonly ids: IdSource
  snapshotOf(run: Run): AgentSnapshot
  /** The version a delegation would run; undefined when none is published or deployed. */
  childOf(bound: BoundAgent): AgentVersion | undefined
  /** Where a tool runs, and how long it may take; undefined when nothing handles it. */
  routeOf(
    agent: AgentSnapshot,
    tool: BoundTool,
  ): { readonly route: string; readonly timeoutMs: number; readonly concurrency?: number } | undefined
  /** Arguments of a tool that its server alone describes, as the model was shown them. */
  describedBy(tool: BoundTool): JsonSchema | undefined
  /** Stored steps of a run, in order. */
  stepsOf(run: RunId): readonly RunStep[]
  /** Calls of this session so far by `callKey`, and those of the agent in other sessions where a policy looks back over a window. */
  readonly calls: ReadonlyMap<string, CallRow>
  readonly callsElsewhere: readonly CallRow[]
  /** Names the process that sends. */
  readonly worker?: string | undefined
  /** False while the process is stopping: calls are decided and kept, but not sent. */
  readonly maySend: boolean
  /** Calls of one completion that may be under way at once. */
  readonly callsAtOnce: number
  /** True where the server has room for the call now, which then has it; else its run is told when it has. */
  takeSlot(
    run: RunId,
    key: string,
    tool: string,
    route: { readonly route: string; readonly concurrency?: number },
  ): boolean
  /** The most tokens that one answer of an agent's model can have. */
  mostOutput(agent: AgentSnapshot): number
  /** What a completion that this process has under way has used so far, by its `completionKey`. */
  spentOn(completion: string): ModelCompletion['usage'] | undefined
  /** Guard on iterations where the agent sets no limit. */
  readonly maxIterations: number
  /** 0 to 1. */
  readonly jitter: number
}

export type NewTask = Omit<TaskRecord, 'id' | 'sessionId' | 'status' | 'votes' | 'createdAt'>

export interface SessionTransaction {
  readonly world: TransitionContext
  readonly now: Instant
  /** As it was read: what changes of it follows from the runs. */
  readonly session: Session
  run(id: RunId): Run
  runs(): readonly Run[]
  childrenOf(id: RunId): readonly Run[]
  snapshot(id: RunId): AgentSnapshot
  put(run: Run): void
  move(id: RunId, state: RunState): void
  use(id: RunId, change: Partial<UsageChange>): void
  /** Pending tasks, also of this draft. */
  tasks(): readonly TaskRecord[]
  /** A task that this draft has opened, changed or ended. */
  changedTask(id: TaskId): TaskRecord | undefined
  /** Status of a run as it is now, waits of descendants included. */
  statusNow(id: RunId): Run['status']
  stepsOf(id: RunId): readonly RunStep[]
  /** The newest step of a run that fits. */
  lastStep(id: RunId, fits: (step: RunStep) => boolean): RunStep | undefined
  /** Adds a step and its event; `open` steps are closed later, `silent` ones have an event of another kind. */
  step(id: RunId, type: StepType, content: JsonObject, about?: StepAbout): RunStep
  /** @param shown what its event says in place of the step's own content */
  closeStep(step: RunStep, error?: string, shown?: JsonObject): void
  event(id: RunId, kind: EventKind, subject: string, data?: JsonObject): void
  openTask(task: NewTask): TaskRecord
  changeTask(task: TaskRecord, subject?: 'voted'): void
  /** Ends a task and the step that asked for it. */
  closeTask(task: TaskRecord, status: Exclude<TaskStatus, 'pending'>): void
  calls(): readonly CallRow[]
  /** A call of a run as it was last recorded. */
  call(id: RunId, callId: string): CallRow | undefined
  record(id: RunId, turn: number, call: ToolCall, state?: string): void
  /** The same for a call whose run has ended. */
  book(row: CallRow): void
  timer(id: RunId, kind: TimerKind, ref: string, at: Instant | null): void
  /** Something that another run of the tree, or this one, has yet to be told in the same move. */
  tell(id: RunId, event: RunTransitionEvent): void
  told(): { readonly run: RunId; readonly event: RunTransitionEvent } | undefined
  /** Derives statuses and waits, and says what changed; undefined when nothing did. */
  turn(): SessionUpdate | undefined
}

export interface StepAbout {
  readonly open?: boolean
  readonly silent?: boolean
  readonly tokens?: number
  readonly error?: string
  readonly hidden?: JsonObject
}

/** Stable over every attempt of one call. Source: reliability, "Records and protocol". */
export const idempotencyKeyOf = (run: RunId, turn: number, index: number): string => `svc:${run}:${turn}:${index}`

export function openTransaction(tree: SessionTree, world: TransitionContext): SessionTransaction {
  const { now } = world
  const runs = new Map(tree.runs.map((run) => [run.id, run]))
  const tasks = new Map<TaskId, TaskRecord>(tree.tasks.map((task) => [task.id, task]))
  const changedTasks = new Map<TaskId, TaskRecord>()
  const changedCalls = new Map<string, CallRow>()
  const steps: RunStep[] = []
  const closed = new Map<StepId, StepEnd>()
  const events: TurnEvent[] = []
  const timers = new Map<string, { key: TimerKey; at: Instant | null }>()
  const mail: { run: RunId; event: RunTransitionEvent }[] = []
  const { session } = tree
  // Each step and event has its number: what they count is put together once, at the end.
  let { lastSeq, lastOrdinal } = session
  const lastSequences = new Map<RunId, number>()

  const draft: SessionTransaction = {
    world,
    now,
    session,
    run: (id) => runs.get(id)!,
    runs: () => [...runs.values()],
    childrenOf: (id) => [...runs.values()].filter((run) => run.parentRunId === id),
    snapshot: (id) => world.snapshotOf(runs.get(id)!),
    put: (run) => void runs.set(run.id, run),
    move: (id, state) => void runs.set(id, changedRun(runs.get(id)!, { state })),
    use: (id, change) => {
      const run = runs.get(id)!
      runs.set(id, changedRun(run, { usage: changedUsage(run.usage, change) }))
    },
    tasks: () => [...tasks.values()],
    changedTask: (id) => changedTasks.get(id),
    statusNow: (id) => statusesOf([...runs.values()]).get(id)!,
    stepsOf: (id) => [...world.stepsOf(id).map(asClosed), ...steps.filter((step) => step.runId === id)],
    lastStep(id, fits) {
      const fresh = steps.findLast((step) => step.runId === id && fits(step))
      if (fresh) return fresh
      const stored = world.stepsOf(id).findLast((step) => fits(asClosed(step)))
      return stored && asClosed(stored)
    },
    step(id, type, content, { open = false, silent = false, tokens, error, hidden } = {}) {
      const sequence = (lastSequences.get(id) ?? runs.get(id)!.lastSequence) + 1
      lastSequences.set(id, sequence)
      const step: RunStep = {
        id: world.ids.next(),
        sessionId: session.id,
        runId: id,
        type,
        sequence,
        ordinal: ++lastOrdinal,
        content,
        tokensUsed: tokens ?? null,
        error: error ?? null,
        startedAt: now,
        finishedAt: open ? null : now,
        ...(hidden && { hidden }),
      }
      steps.push(step)
      if (!silent) stepEvent(step, open ? 'started' : step.error === null ? 'completed' : 'failed')
      return step
    },
    closeStep(step, error, shown) {
      const end: StepEnd = { id: step.id, ordinal: step.ordinal, finishedAt: now, error: error ?? null }
      const fresh = steps.findIndex((each) => each.id === step.id)
      if (fresh >= 0) steps[fresh] = { ...steps[fresh]!, ...end }
      else closed.set(step.id, end)
      const what = error === undefined ? 'completed' : 'failed'
      if (!shown) return stepEvent(step, what)
      const item = toTimelineItem({ ...step, ...end }, runs.get(step.runId)!, shown) as unknown as JsonObject
      draft.event(step.runId, 'step', `engine.step.${what}`, { step: item })
    },
    event(id, kind, subject, data = {}) {
      const sessionId = session.id
      events.push({
        sessionId,
        runId: id,
        seq: ++lastSeq,
        ts: now,
        kind,
        subject,
        data: { sessionId, runId: id, ...data },
      })
    },
    openTask(given) {
      const task: TaskRecord = {
        ...given,
        id: world.ids.next(),
        sessionId: session.id,
        status: 'pending',
        votes: [],
        createdAt: now,
      }
      tasks.set(task.id, task)
      changedTasks.set(task.id, task)
      draft.step(task.runId, 'UserTaskReq', contentOf(task), { open: true })
      draft.event(task.runId, 'user_task', 'engine.user_task.created', { task: contentOf(task) })
      if (task.expiresAt !== undefined) draft.timer(task.runId, 'task_timeout', task.id, task.expiresAt)
      return task
    },
    changeTask(task, subject) {
      tasks.set(task.id, task)
      changedTasks.set(task.id, task)
      if (subject) draft.event(task.runId, 'user_task', `engine.user_task.${subject}`, { task: contentOf(task) })
    },
    closeTask(given, status) {
      const task: TaskRecord = { ...given, status, completedAt: now }
      tasks.delete(task.id)
      changedTasks.set(task.id, task)
      const asked = draft.lastStep(
        task.runId,
        (step) => step.type === 'UserTaskReq' && step.content['user_task_id'] === task.id,
      )
      if (asked) draft.closeStep(asked, undefined, contentOf(task))
      if (task.expiresAt !== undefined) draft.timer(task.runId, 'task_timeout', task.id, null)
      draft.event(task.runId, 'user_task', `engine.user_task.${status}`, { task: contentOf(task) })
    },
    calls: () => [...new Map([...world.calls, ...changedCalls]).values()],
    call(id, callId) {
      const key = callKey(id, callId)
      return changedCalls.get(key) ?? world.calls.get(key)
    },
    record(id, turn, call, state) {
      const row: CallRow = {
        sessionId: session.id,
        runId: id,
        callId: call.id,
        agentId: runs.get(id)!.agentId,
        ref: call.ref,
        argumentsDigest: call.argumentsDigest,
        arguments: call.arguments,
        state: state ?? (call.state.at === 'settled' ? call.state.outcome : call.state.at),
        attempt: call.attempt,
        idempotencyKey: idempotencyKeyOf(id, turn, call.index),
        at: now,
      }
      draft.book(row)
    },
    book: (row) => void changedCalls.set(callKey(row.runId, row.callId), row),
    timer(id, kind, ref, at) {
      timers.set(`${id} ${kind} ${ref}`, { key: { sessionId: session.id, runId: id, kind, ref }, at })
    },
    tell: (run, event) => void mail.push({ run, event }),
    told: () => mail.shift(),
    turn() {
      deriveStatuses()
      countWaits()
      for (const [id, lastSequence] of lastSequences) runs.set(id, changedRun(runs.get(id)!, { lastSequence }))
      const all = [...runs.values()]
      const alarms = [...timers.values()]
      const before = new Set(tree.runs)
      const changedRuns = all.filter((run) => !before.has(run))
      const changes = changedRuns.length + events.length + alarms.length + changedTasks.size + changedCalls.size
      if (changes === 0) return undefined
      const root = runs.get(session.rootRunId)!
      return {
        session: changedSession(session, {
          status: root.status,
          output: root.output,
          error: root.error,
          finishedAt: root.finishedAt,
          totalTokensUsed: all.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0),
          runCount: all.length,
          lastSeq,
          lastOrdinal,
        }),
        runs: changedRuns,
        steps,
        closedSteps: [...closed.values()],
        tasks: [...changedTasks.values()],
        calls: [...changedCalls.values()],
        events,
        setTimers: alarms.flatMap(({ key, at }): SessionTimer[] => (at === null ? [] : [{ ...key, at }])),
        clearTimers: alarms.flatMap(({ key, at }) => (at === null ? [key] : [])),
        busy: all.some(isBusy),
      }
    },
  }
  return draft

  function asClosed(step: RunStep): RunStep {
    const end = closed.get(step.id)
    return end ? { ...step, ...end } : step
  }

  function stepEvent({ runId, ordinal }: RunStep, what: 'started' | 'completed' | 'failed'): void {
    const subject = `engine.step.${what}`
    events.push({ sessionId: session.id, runId, seq: ++lastSeq, ts: now, kind: 'step', subject, ordinal })
  }

  /** Deepest first, so that a reader sees the run that waits before those that wait with it. */
  function deriveStatuses(): void {
    const statuses = statusesOf([...runs.values()])
    for (const { id } of [...runs.values()].sort((a, b) => b.depth - a.depth)) {
      const run = runs.get(id)!
      const status = statuses.get(id)!
      if (status === run.status || isTerminal(run.status)) continue
      runs.set(id, changedRun(run, { status }))
      if (isTerminal(status)) continue
      const subject =
        status === 'Running' || (status === 'WaitingForAITL' && run.status === 'WaitingForHITL') ? 'resumed' : 'paused'
      draft.event(id, 'run', `engine.run.${subject}`, { status, output: null, error: null })
      if (id === session.rootRunId)
        draft.event(id, 'session', `engine.session.${subject}`, { status, output: null, error: null })
    }
  }

  /** Waits that begin, end or change their kind: such time is no part of the wall clock, and may have a budget of its own. */
  function countWaits(): void {
    const waits = waitsOf([...runs.values()], [...tasks.values()])
    for (const run of runs.values()) {
      if (run.state.at === 'done' || waits.get(run.id) === waitOf(run.usage)) continue
      const wait = waits.get(run.id)
      const usage = {
        ...endedWait(run.usage, now),
        ...(wait && { waitingSince: now, ...(wait === 'limit' && { onLimit: true as const }) }),
      }
      runs.set(run.id, changedRun(run, { usage }))
      const { max_hitl_wait_minutes: hitlWait, max_wall_clock_seconds: wallClock } = world.snapshotOf(run).limits
      const { waitedMs, heldMs = 0, grants } = usage
      if (hitlWait !== undefined) {
        const budget = hitlWait * 60_000 * (1 + (grants.max_hitl_wait_minutes ?? 0))
        draft.timer(run.id, 'hitl_wait', '', wait === 'person' ? now + Math.max(0, budget - waitedMs) : null)
      }
      if (wallClock !== undefined) {
        const budget = wallClock * 1000 * (1 + (grants.max_wall_clock_seconds ?? 0))
        draft.timer(run.id, 'wall_clock', '', wait ? null : run.startedAt + waitedMs + heldMs + budget)
      }
    }
  }
}

/** Names one call among all of a session. */
export const callKey = (run: RunId, callId: string): string => `${run} ${callId}`

/** A task is shown by its own content alone, so that it reads the same in the timeline and in its events. */
const contentOf = (task: TaskRecord): JsonObject => ({ ...toTaskContent(task) }) as unknown as JsonObject

/** True while a restart has something to continue. A call that waits behind an unknown one waits for a person. */
function isBusy(run: Run): boolean {
  if (run.state.at === 'thinking') return true
  if (run.state.at !== 'calling') return false
  const at = run.state.calls.map((call) => call.state.at)
  return at.includes('sent') || (!at.includes('unknown') && (at.includes('proposed') || at.includes('ready')))
}
