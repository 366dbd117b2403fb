/**
 * A change to a session while it is being made: what was read, what has changed, and the `SessionUpdate` that saves it.
 * `openTransaction` makes one. No method reads a clock, a store or the network, and a transaction that is dropped has no effect.
 */
import type { Instant } from '../../base/clock.ts'
import type { RunId, TaskId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json/json.ts'
import type { NewAct } from '../../spec/people/act.ts'
import type { EventKind } from '../../spec/event.ts'
import type { Run, RunState, RunUsage } from '../../spec/run/run.ts'
import type { Session } from '../../spec/run/session.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { RunStep, StepType } from '../../spec/step.ts'
import type { TaskStatus, TaskRecord } from '../../spec/task.ts'
import type { CallRow, CompletionSpend, SessionTimer, TimerKind, SessionUpdate } from '../../store/session-update.ts'
import type { IdempotencyClaim } from '../../store/start-outcome.ts'
import type { TransitionContext } from './context.ts'
import type { EffectLedger } from './effect-ledger.ts'
import type { RunTransitionEvent } from '../session/event.ts'

/** The state of a run that is `at` one of these. */
export type StateAt<A extends RunState['at']> = Extract<RunState, { at: A }>

/** Usage that transitions count. `derive.ts` alone starts and ends waits. */
type UsageChange = Omit<RunUsage, 'waitedMs' | 'waitingSince' | 'heldMs' | 'holdCountedTo' | 'onLimit'>

export type NewTask = Omit<TaskRecord, 'id' | 'sessionId' | 'runId' | 'status' | 'votes' | 'createdAt'>

export type SessionTotals = Pick<Session, 'runCount' | 'totalTokensUsed' | 'cost'>

export interface SessionTransaction {
  readonly context: TransitionContext
  readonly now: Instant
  /** As it was read: `toUpdate` derives its changes from the runs. */
  readonly session: Session
  readonly effects: EffectLedger
  /** A run of the session; always the same handle for the same id. */
  run(id: RunId): RunHandle
  /**
   * The runs that were read, and new ones, as they are now, in the order in which they were added. Runs that are over were not read:
   * what counts all runs of the session is in `totals`.
   */
  runs(): readonly Run[]
  /** Of all runs of the session, after the changes so far. */
  totals(): SessionTotals
  addRun(run: Run): RunHandle
  /** Tasks that nobody has decided, those opened in this transaction included. */
  pendingTasks(): readonly TaskRecord[]
  /** A task that this transaction has opened, changed or closed. */
  changedTask(id: TaskId): TaskRecord | undefined
  changeTask(task: TaskRecord, subject?: 'voted'): void
  /** Closes a task and the step that requested it. */
  closeTask(task: TaskRecord, status: Exclude<TaskStatus, 'pending'>): void
  /** Closes a task that nobody needs to decide any more. */
  cancelTask(task: TaskRecord): void
  /** Calls of the runs that were read, as they were last recorded; of all runs where a policy counts them. */
  callRows(): readonly CallRow[]
  recordCallRow(row: CallRow): void
  recordSpend(spend: CompletionSpend): void
  /** Stores how long a restore held each run, adjusts the timers of its limits, and adds events that it continues. */
  endHold(): void
  /** Takes the oldest event that `RunHandle.queueEvent` has queued. */
  nextEvent(): { readonly run: RunHandle; readonly event: RunTransitionEvent } | undefined
  /** Stores an answer under its idempotency key, together with this update. */
  recordClaim(claim: IdempotencyClaim): void
  /** Records what an operator did, together with this update. */
  recordAct(act: NewAct | undefined): void
  /** Derives statuses and waits, and collects the changes; undefined when there are none. */
  toUpdate(): SessionUpdate | undefined
}

/** One run in a transaction. Its properties are those of the run as it is now, after the changes so far. */
export interface RunHandle {
  readonly tx: SessionTransaction
  readonly id: RunId
  readonly record: Run
  readonly state: RunState
  readonly usage: RunUsage
  /** The version of the agent that the run executes. */
  readonly snapshot: AgentSnapshot
  /** The run that delegated to this one; undefined for the root. */
  parent(): RunHandle | undefined
  /** The parent first, the root last. */
  ancestors(): readonly RunHandle[]
  children(): readonly RunHandle[]
  /** Status after the changes so far, waits of descendants included. */
  statusNow(): Run['status']
  update(change: Partial<Run>): void
  setState(state: RunState): void
  updateUsage(change: Partial<UsageChange>): void
  steps(): readonly RunStep[]
  /** The newest step that matches. */
  lastStep(matches: (step: RunStep) => boolean): RunStep | undefined
  /** Adds a step and its event; `open` steps are closed later, `silent` ones have an event of another kind. */
  addStep(type: StepType, content: JsonObject, options?: StepOptions): RunStep
  /** @param shown replaces the step's own content in the event */
  closeStep(step: RunStep, error?: string, shown?: JsonObject): void
  addEvent(kind: EventKind, subject: string, data?: JsonObject): void
  openTask(task: NewTask): TaskRecord
  /** Closes the task about a call, since the call needs nobody any more. @returns the task, if there is one */
  cancelTaskOf(callId: string): TaskRecord | undefined
  /** A call of the run as it was last recorded. */
  callRow(callId: string): CallRow | undefined
  /** Sets a timer, or clears it with `null`. */
  setTimer(kind: TimerKind, ref: string, at: Instant | null): void
  /** Clears a timer that fired, unless it has been set to another time since. */
  clearFired(timer: SessionTimer): void
  /** Queues an event for the run; it is applied in the same transaction. */
  queueEvent(event: RunTransitionEvent): void
}

export interface StepOptions {
  readonly open?: boolean
  readonly silent?: boolean
  readonly tokens?: number
  readonly error?: string
  readonly hidden?: JsonObject
  /** When what the step tells began; now where absent. */
  readonly startedAt?: Instant
}
