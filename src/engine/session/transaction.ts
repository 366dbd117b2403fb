/**
 * A change to a session while it is being made: what was read, what has changed, and the `SessionUpdate` that saves it. Nothing
 * here reads a clock, a store or the network; a transaction that is dropped has no effect.
 */
import type { Instant } from '../../base/clock.ts'
import type { IdSource, RunId, StepId, TaskId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import type { ModelCompletion } from '../../providers/provider.ts'
import type { EventKind } from '../../spec/event.ts'
import { isTerminal, type ToolCall, type Run, type RunState, type RunUsage } from '../../spec/run.ts'
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
  SessionUpdateEvent,
  AgentVersion,
} from '../../store/store.ts'
import type { RunTransitionEvent } from './event.ts'
import { statusesOf } from './status.ts'
import { toTaskContent } from './timeline.ts'
import { withHoldCounted, withWaitEnded, countedWait, waitsOf } from './waits.ts'

/** All that a transition may know beside the session itself; gathered before it is applied. */
export interface TransitionContext {
  /** Never before any time that the session already records. */
  readonly now: Instant
  /** Since when a restore holds the session; undefined where none does. */
  readonly heldSince?: Instant | undefined
  readonly ids: IdSource
  snapshotOf(run: Run): AgentSnapshot
  /** The version a delegation would run; undefined when none is published or deployed. */
  childOf(bound: BoundAgent): AgentVersion | undefined
  /** Where a tool runs, and its timeout; undefined when this server has no handler for it. */
  routeOf(
    agent: AgentSnapshot,
    tool: BoundTool,
  ): { readonly route: string; readonly timeoutMs: number; readonly concurrency?: number } | undefined
  /** Input schema of a tool that only its server describes, as the model was shown it. */
  describedBy(tool: BoundTool): JsonSchema | undefined
  /** Stored steps of a run, in order. */
  stepsOf(run: RunId): readonly RunStep[]
  /** Calls of this session so far, by `callKey`. */
  readonly calls: ReadonlyMap<string, CallRow>
  /** Calls of the agent in other sessions; read only where a policy looks back over a window. */
  readonly callsElsewhere: readonly CallRow[]
  /** Identifies the process that sends calls. */
  readonly worker?: string | undefined
  /** False while the process is stopping: calls are decided and recorded, but not sent. */
  readonly maySend: boolean
  /** Calls of one completion that may be in flight at once. */
  readonly callsAtOnce: number
  /** True if the call may leave now, and takes the slot. Otherwise the run gets `admitted` once one is free. */
  takeSlot(
    run: RunId,
    key: string,
    tool: string,
    route: { readonly route: string; readonly concurrency?: number },
  ): boolean
  /** The most tokens that one answer of an agent's model can have. */
  mostOutput(agent: AgentSnapshot): number
  /** Usage so far of a completion in flight in this process, by its `completionKey`. */
  spentOn(completion: string): ModelCompletion['usage'] | undefined
  /** Maximum of iterations where the agent sets no limit. */
  readonly maxIterations: number
  /** 0 to 1. */
  readonly jitter: number
}

/** Usage that transitions count. Waits are started and ended by `waits.ts` alone. */
type UsageChange = Omit<RunUsage, 'waitedMs' | 'waitingSince' | 'heldMs' | 'holdCountedTo' | 'onLimit'>

export type NewTask = Omit<TaskRecord, 'id' | 'sessionId' | 'status' | 'votes' | 'createdAt'>

export interface SessionTransaction {
  readonly context: TransitionContext
  readonly now: Instant
  /** As it was read: `toUpdate` derives its changes from the runs. */
  readonly session: Session
  run(id: RunId): Run
  runs(): readonly Run[]
  childrenOf(id: RunId): readonly Run[]
  snapshot(id: RunId): AgentSnapshot
  putRun(run: Run): void
  setState(id: RunId, state: RunState): void
  updateUsage(id: RunId, change: Partial<UsageChange>): void
  /** Tasks that nobody has decided, those opened in this transaction included. */
  pendingTasks(): readonly TaskRecord[]
  /** A task that this transaction has opened, changed or closed. */
  changedTask(id: TaskId): TaskRecord | undefined
  /** Status of a run after the changes so far, waits of descendants included. */
  statusNow(id: RunId): Run['status']
  stepsOf(id: RunId): readonly RunStep[]
  /** The newest step of a run that matches. */
  lastStep(id: RunId, matches: (step: RunStep) => boolean): RunStep | undefined
  /** Adds a step and its event; `open` steps are closed later, `silent` ones have an event of another kind. */
  addStep(id: RunId, type: StepType, content: JsonObject, options?: StepOptions): RunStep
  /** @param shown replaces the step's own content in the event */
  closeStep(step: RunStep, error?: string, shown?: JsonObject): void
  addEvent(id: RunId, kind: EventKind, subject: string, data?: JsonObject): void
  openTask(task: NewTask): TaskRecord
  changeTask(task: TaskRecord, subject?: 'voted'): void
  /** Closes a task and the step that requested it. */
  closeTask(task: TaskRecord, status: Exclude<TaskStatus, 'pending'>): void
  callRows(): readonly CallRow[]
  /** A call of a run as it was last recorded. */
  callRow(id: RunId, callId: string): CallRow | undefined
  recordCall(id: RunId, turn: number, call: ToolCall, state?: string): void
  /** Records a call whose run may have ended. */
  recordCallRow(row: CallRow): void
  /** Sets a timer, or clears it with `null`. */
  setTimer(id: RunId, kind: TimerKind, ref: string, at: Instant | null): void
  /** Stores how long a restore held each run, and sets the timers of its limits to match. */
  endHold(): void
  /** Queues an event for this or another run of the tree; it is applied in the same transaction. */
  queueEvent(id: RunId, event: RunTransitionEvent): void
  /** Takes the oldest queued event. */
  nextEvent(): { readonly run: RunId; readonly event: RunTransitionEvent } | undefined
  /** Derives statuses and waits, and collects the changes; undefined when there are none. */
  toUpdate(): SessionUpdate | undefined
}

export interface StepOptions {
  readonly open?: boolean
  readonly silent?: boolean
  readonly tokens?: number
  readonly error?: string
  readonly hidden?: JsonObject
}

/** The same for every attempt of a call. Source: reliability, "Records and protocol". */
export const idempotencyKeyOf = (run: RunId, turn: number, index: number): string => `svc:${run}:${turn}:${index}`

export function openTransaction(tree: SessionTree, context: TransitionContext): SessionTransaction {
  const { now, heldSince } = context
  // What a hold has taken is counted before anything asks for the time; it is stored with what else changes.
  const found = tree.runs.map((run) =>
    heldSince === undefined || run.state.at === 'done'
      ? run
      : { ...run, usage: withHoldCounted(run.usage, heldSince, now) },
  )
  const runs = new Map(found.map((run) => [run.id, run]))
  const tasks = new Map<TaskId, TaskRecord>(tree.tasks.map((task) => [task.id, task]))
  const changedTasks = new Map<TaskId, TaskRecord>()
  const changedCalls = new Map<string, CallRow>()
  const steps: RunStep[] = []
  const closed = new Map<StepId, StepEnd>()
  const events: SessionUpdateEvent[] = []
  const timers = new Map<string, { key: TimerKey; at: Instant | null }>()
  const queuedEvents: { run: RunId; event: RunTransitionEvent }[] = []
  const { session } = tree
  // Steps and events are numbered as they are added; `toUpdate` writes the counters back once.
  let { lastSeq, lastOrdinal } = session
  const lastSequences = new Map<RunId, number>()

  const tx: SessionTransaction = {
    context,
    now,
    session,
    run: (id) => runs.get(id)!,
    runs: () => [...runs.values()],
    childrenOf: (id) => [...runs.values()].filter((run) => run.parentRunId === id),
    snapshot: (id) => context.snapshotOf(runs.get(id)!),
    putRun: (run) => void runs.set(run.id, run),
    setState: (id, state) => void runs.set(id, { ...runs.get(id)!, state }),
    updateUsage: (id, change) => {
      const run = runs.get(id)!
      runs.set(id, { ...run, usage: { ...run.usage, ...change } })
    },
    pendingTasks: () => [...tasks.values()],
    changedTask: (id) => changedTasks.get(id),
    statusNow: (id) => statusesOf([...runs.values()]).get(id)!,
    stepsOf: (id) => [...context.stepsOf(id).map(asClosed), ...steps.filter((step) => step.runId === id)],
    lastStep(id, matches) {
      const fresh = steps.findLast((step) => step.runId === id && matches(step))
      if (fresh) return fresh
      const stored = context.stepsOf(id).findLast((step) => matches(asClosed(step)))
      return stored && asClosed(stored)
    },
    addStep(id, type, content, { open = false, silent = false, tokens, error, hidden } = {}) {
      const sequence = (lastSequences.get(id) ?? runs.get(id)!.lastSequence) + 1
      lastSequences.set(id, sequence)
      const step: RunStep = {
        id: context.ids.next(),
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
      if (!silent) addStepEvent(step, open ? 'started' : step.error === null ? 'completed' : 'failed')
      return step
    },
    closeStep(step, error, shown) {
      const end: StepEnd = { id: step.id, ordinal: step.ordinal, finishedAt: now, error: error ?? null }
      const fresh = steps.findIndex((each) => each.id === step.id)
      if (fresh >= 0) steps[fresh] = { ...steps[fresh]!, ...end }
      else closed.set(step.id, end)
      const what = error === undefined ? 'completed' : 'failed'
      if (!shown) return addStepEvent(step, what)
      const item = toTimelineItem({ ...step, ...end }, runs.get(step.runId)!, shown) as unknown as JsonObject
      tx.addEvent(step.runId, 'step', `engine.step.${what}`, { step: item })
    },
    addEvent(id, kind, subject, data = {}) {
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
    openTask(request) {
      const task: TaskRecord = {
        ...request,
        id: context.ids.next(),
        sessionId: session.id,
        status: 'pending',
        votes: [],
        createdAt: now,
      }
      tasks.set(task.id, task)
      changedTasks.set(task.id, task)
      tx.addStep(task.runId, 'UserTaskReq', taskContentOf(task), { open: true })
      tx.addEvent(task.runId, 'user_task', 'engine.user_task.created', { task: taskContentOf(task) })
      if (task.expiresAt !== undefined) tx.setTimer(task.runId, 'task_timeout', task.id, task.expiresAt)
      return task
    },
    changeTask(task, subject) {
      tasks.set(task.id, task)
      changedTasks.set(task.id, task)
      if (subject) tx.addEvent(task.runId, 'user_task', `engine.user_task.${subject}`, { task: taskContentOf(task) })
    },
    closeTask(pending, status) {
      const task: TaskRecord = { ...pending, status, completedAt: now }
      tasks.delete(task.id)
      changedTasks.set(task.id, task)
      const request = tx.lastStep(
        task.runId,
        (step) => step.type === 'UserTaskReq' && step.content['user_task_id'] === task.id,
      )
      if (request) tx.closeStep(request, undefined, taskContentOf(task))
      if (task.expiresAt !== undefined) tx.setTimer(task.runId, 'task_timeout', task.id, null)
      tx.addEvent(task.runId, 'user_task', `engine.user_task.${status}`, { task: taskContentOf(task) })
    },
    callRows: () => [...new Map([...context.calls, ...changedCalls]).values()],
    callRow(id, callId) {
      const key = callKey(id, callId)
      return changedCalls.get(key) ?? context.calls.get(key)
    },
    recordCall(id, turn, call, state) {
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
      tx.recordCallRow(row)
    },
    recordCallRow: (row) => void changedCalls.set(callKey(row.runId, row.callId), row),
    setTimer(id, kind, ref, at) {
      timers.set(`${id} ${kind} ${ref}`, { key: { sessionId: session.id, runId: id, kind, ref }, at })
    },
    endHold() {
      for (const run of [...runs.values()]) {
        if (run.state.at === 'done') continue
        runs.set(run.id, { ...run })
        setBudgetTimers(run)
      }
    },
    queueEvent: (run, event) => void queuedEvents.push({ run, event }),
    nextEvent: () => queuedEvents.shift(),
    toUpdate() {
      deriveStatuses()
      countWaits()
      for (const [id, lastSequence] of lastSequences) runs.set(id, { ...runs.get(id)!, lastSequence })
      const all = [...runs.values()]
      const timerChanges = [...timers.values()]
      const before = new Set(found)
      const changedRuns = all.filter((run) => !before.has(run))
      const changes = changedRuns.length + events.length + timerChanges.length + changedTasks.size + changedCalls.size
      if (changes === 0) return undefined
      const root = runs.get(session.rootRunId)!
      return {
        session: {
          ...session,

          status: root.status,
          output: root.output,
          error: root.error,
          finishedAt: root.finishedAt,
          totalTokensUsed: all.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0),
          runCount: all.length,
          lastSeq,
          lastOrdinal,
        },
        runs: changedRuns,
        steps,
        closedSteps: [...closed.values()],
        tasks: [...changedTasks.values()],
        calls: [...changedCalls.values()],
        events,
        setTimers: timerChanges.flatMap(({ key, at }): SessionTimer[] => (at === null ? [] : [{ ...key, at }])),
        clearTimers: timerChanges.flatMap(({ key, at }) => (at === null ? [key] : [])),
        busy: all.some(isBusy),
      }
    },
  }
  return tx

  function asClosed(step: RunStep): RunStep {
    const end = closed.get(step.id)
    return end ? { ...step, ...end } : step
  }

  function addStepEvent({ runId, ordinal }: RunStep, what: 'started' | 'completed' | 'failed'): void {
    const subject = `engine.step.${what}`
    events.push({ sessionId: session.id, runId, seq: ++lastSeq, ts: now, kind: 'step', subject, ordinal })
  }

  /** Deepest first, so that readers see the event of the waiting run before those of its ancestors. */
  function deriveStatuses(): void {
    const statuses = statusesOf([...runs.values()])
    for (const { id } of [...runs.values()].sort((a, b) => b.depth - a.depth)) {
      const run = runs.get(id)!
      const status = statuses.get(id)!
      if (status === run.status || isTerminal(run.status)) continue
      runs.set(id, { ...run, status })
      if (isTerminal(status)) continue
      const subject =
        status === 'Running' || (status === 'WaitingForAITL' && run.status === 'WaitingForHITL') ? 'resumed' : 'paused'
      tx.addEvent(id, 'run', `engine.run.${subject}`, { status, output: null, error: null })
      if (id === session.rootRunId)
        tx.addEvent(id, 'session', `engine.session.${subject}`, { status, output: null, error: null })
    }
  }

  /** Starts, ends and reclassifies waits: time spent waiting is not wall clock time, and may have a budget of its own. */
  function countWaits(): void {
    const waits = waitsOf([...runs.values()], [...tasks.values()])
    for (const run of runs.values()) {
      if (run.state.at === 'done' || waits.get(run.id) === countedWait(run.usage)) continue
      const wait = waits.get(run.id)
      const usage = {
        ...withWaitEnded(run.usage, now),
        ...(wait && { waitingSince: now, ...(wait === 'limit' && { onLimit: true as const }) }),
      }
      const counted = { ...run, usage }
      runs.set(run.id, counted)
      setBudgetTimers(counted)
    }
  }

  /** Sets the timers of the limits on time, by the wait that the run's usage counts. */
  function setBudgetTimers(run: Run): void {
    const { max_hitl_wait_minutes: hitlWait, max_wall_clock_seconds: wallClock } = context.snapshotOf(run).limits
    const { waitedMs, heldMs = 0, waitingSince, grants } = run.usage
    const wait = countedWait(run.usage)
    if (hitlWait !== undefined) {
      const budget = hitlWait * 60_000 * (1 + (grants.max_hitl_wait_minutes ?? 0))
      const from = waitingSince ?? now
      tx.setTimer(run.id, 'hitl_wait', '', wait === 'person' ? from + Math.max(0, budget - waitedMs) : null)
    }
    if (wallClock !== undefined) {
      const budget = wallClock * 1000 * (1 + (grants.max_wall_clock_seconds ?? 0))
      tx.setTimer(run.id, 'wall_clock', '', wait ? null : run.startedAt + waitedMs + heldMs + budget)
    }
  }
}

/** Identifies a call within its session. */
export const callKey = (run: RunId, callId: string): string => `${run} ${callId}`

/** Shown in the timeline and in events alike. */
const taskContentOf = (task: TaskRecord): JsonObject => ({ ...toTaskContent(task) }) as unknown as JsonObject

/** True while a restart has something to continue. A call behind one of unknown outcome waits for a person. */
function isBusy(run: Run): boolean {
  if (run.state.at === 'thinking') return true
  if (run.state.at !== 'calling') return false
  const at = run.state.calls.map((call) => call.state.at)
  return at.includes('sent') || (!at.includes('unknown') && (at.includes('proposed') || at.includes('ready')))
}
