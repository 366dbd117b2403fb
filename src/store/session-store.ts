/** What is stored of sessions: runs, steps, calls, effects, tasks and events, and what holds them. */
import type { Instant, StoreClock } from '../base/clock.ts'
import type { Digest } from '../base/digest.ts'
import type { AgentId, RunId, SessionId, TaskId, TriggerId, WorkspaceId } from '../base/ids.ts'
import type { EffectRecord } from '../spec/effect.ts'
import type { StoredEvent } from '../spec/event.ts'
import type { CallReference, Run } from '../spec/run/run.ts'
import type { StoreRestore } from '../spec/run/restore.ts'
import type { Session } from '../spec/run/session.ts'
import type { ChainedSession, SessionLink, SessionRows } from '../spec/chain/session-link.ts'
import type { CheckpointReport } from '../spec/steer/checkpoint-demand.ts'
import type { PauseAct } from '../spec/steer/pause.ts'
import type { RunStep } from '../spec/step.ts'
import type { TaskClaim, TaskRecord } from '../spec/task.ts'
import type { LeaseHolder, SessionLease } from './lease.ts'
import type { StoredTree, SessionTimer, CallRow, CallStateRow, SessionUpdate } from './session-update.ts'
import type { StartLimits, IdempotencyClaim, StartOutcome, RepeatedRequest } from './start-outcome.ts'
import type {
  ChainFilter,
  CostRow,
  DecisionMark,
  EffectFilter,
  StepSize,
  PageRange,
  SessionFilter,
  SessionLabels,
  SessionPosition,
  SessionPage,
  ListedSession,
  RunFilter,
  TaskFilter,
  TaskScope,
  TaskPage,
  TaskInSession,
  OpenTasks,
  WholeRelease,
  KnownEffects,
  RunCount,
  StepMark,
} from './queries.ts'

export interface SessionStore {
  /** Its time, by which everything is decided that its processes decide. */
  readonly clock: StoreClock

  /**
   * T1: counts the limits, claims the idempotency key, writes session, run and first events. Writes nothing when refused. A
   * session whose `version` is above 0 is stored and gets another root run.
   * @param holder gets the lease of a new session, of `FIRST_EPOCH`, if it is busy and no restore holds it
   * @throws Failure `run_moved_on`, `not_found` for a session that is stored, or that the start follows; `plan_spent`, `plan_reserved`
   */
  start(
    update: SessionUpdate,
    limits: StartLimits,
    idempotency?: IdempotencyClaim,
    holder?: LeaseHolder,
  ): Promise<StartOutcome>
  /** Outcome of an earlier start, or answer, with this idempotency key, unless it expired. */
  findEarlierStart(
    principal: string,
    route: string,
    key: string,
    bodyDigest: Digest,
    now: Instant,
  ): Promise<RepeatedRequest | undefined>
  /**
   * A session with the runs that may still change: the whole trees of its newest root run, of runs at work, of those with a pending
   * task, and of those in which something was undone. Runs that are over cost nothing, however many a session has.
   */
  load(sessionId: SessionId): Promise<StoredTree | undefined>
  /** Other runs of the session, each with its whole tree, in the order in which they were stored; unknown ids are ignored. */
  treesOf(sessionId: SessionId, runs: readonly RunId[]): Promise<readonly Run[]>
  /**
   * Stores all of the update, or nothing when it throws. An update that leaves nothing in flight gives the lease back.
   * @param holder holds the lease, or takes it if nobody does; absent where the writer performs no effects
   * @returns the lease that the holder has afterwards
   * @throws Failure `run_moved_on` when the session was saved since `update.session.version` was read, `lease_lost` when another
   *   process holds the session or the lease has expired, `effect_taken` when another call holds an effect key that the update
   *   takes, `history_moved_on` when calls were decided since `historySeen`, `plan_spent` and `plan_reserved` when a completion
   *   that begins has no room in the plan of the workspace, `state_not_saved` when the database refuses the
   *   content, so that a retry would fail too
   */
  save(update: SessionUpdate, holder?: LeaseHolder): Promise<SessionLease | undefined>

  /** Sets title, metadata, tags or legal hold. @throws Failure `not_found`, `session_erased` */
  labelSession(id: SessionId, labels: SessionLabels): Promise<void>
  /**
   * Erases the content of an ended session: ids, times, states, counts, costs and the records of calls stay. Idempotent.
   * @throws Failure `not_found`, `session_not_ended`, `session_on_hold`
   */
  eraseSession(id: SessionId, at: Instant): Promise<void>
  /**
   * Deletes sessions that ended before an instant, oldest first, at most `limit`; none that waits for a person or has a legal
   * hold. `more` is false once none is left.
   */
  deleteEndedSessions(before: Instant, limit: number): Promise<{ readonly deleted: number; readonly more: boolean }>
  /**
   * Deletes the records of calls that deleted sessions left before an instant; resolves with their number, at most `limit`.
   */
  deleteKeptCalls(before: Instant, limit: number): Promise<number>
  /** Deletes every session with its runs, timeline, tasks and events. Publications, triggers, keys and files stay. */
  deleteAllRuns(): Promise<void>

  /** Sessions with the ends of their chains, oldest first, after the session `after`; at most `limit`. */
  chainedSessions(filter: ChainFilter, limit: number): Promise<readonly ChainedSession[]>
  /** The chain of a session in order, after the save of the version `after`; at most `limit` links. */
  linksOf(sessionId: SessionId, after: number, limit: number): Promise<readonly SessionLink[]>
  /** The rows of a session that its chain covers, and its end at the same moment. */
  sessionRows(sessionId: SessionId): Promise<SessionRows | undefined>

  session(id: SessionId): Promise<Session | undefined>
  /** Newest start first. `next` is where the next page begins; null at the end. */
  sessions(
    filter: SessionFilter,
    page: SessionPage,
  ): Promise<{
    readonly items: readonly ListedSession[]
    readonly total: number
    readonly next: SessionPosition | null
  }>
  /** JSON text of a session's input or output; undefined where there is none. */
  sessionValue(id: SessionId, name: 'input' | 'output'): Promise<string | undefined>
  /** Sessions whose id, without dashes, ends with these hexadecimal digits; at most `limit`. */
  sessionsEndingWith(workspaceId: WorkspaceId, ending: string, limit: number): Promise<readonly Session[]>
  run(id: RunId): Promise<Run | undefined>
  /**
   * Newest start first. Text, tool, effect and approver look at the newest 2,000 runs that match them; `total` is exact up to
   * 10,000 where the filter has one of them, a version, trigger, person, metadata or `roots`.
   */
  runs(filter: RunFilter, page: PageRange): Promise<{ readonly items: readonly Run[]; readonly total: number }>
  runsOfSession(sessionId: SessionId): Promise<readonly Run[]>
  /** The newest runs of a session before a run, or of all, at most `limit`, in the order in which they were stored. */
  newestRuns(sessionId: SessionId, before: RunId | null, limit: number): Promise<readonly Run[]>
  /** Runs whose id, without dashes, ends with these hexadecimal digits; at most `limit`. */
  runsEndingWith(workspaceId: WorkspaceId, ending: string, limit: number): Promise<readonly Run[]>
  /** Of root runs since an instant, by hour and outcome; of the newest 20,000. */
  runCounts(workspaceId: WorkspaceId, since: Instant): Promise<readonly RunCount[]>
  /** Calls, completions and policy decisions since an instant in the newest 200 sessions, newest session first, at most `limit`. */
  stepMarks(workspaceId: WorkspaceId, since: Instant, limit: number): Promise<readonly StepMark[]>
  /** Steps of a run in order, for the model's transcript. */
  stepsOfRun(runId: RunId): Promise<readonly RunStep[]>
  /** Steps of a session from the first one of a run on, by `ordinal`; all where the run has none. */
  stepsSince(sessionId: SessionId, runId: RunId): Promise<readonly RunStep[]>
  /**
   * What was said in root runs before the ordinal `before`, in order: messages, completions whose question a message answers, outputs
   * and ends. Reads at most `limit` of them, the newest, and leaves out the oldest run where it does not have all of it.
   */
  saidBefore(sessionId: SessionId, before: number, limit: number): Promise<readonly RunStep[]>
  /** All steps of a session by `ordinal`. */
  stepsOfSession(sessionId: SessionId): Promise<readonly RunStep[]>
  /** Steps of a session after the ordinal `after`, in order, at most `limit`. */
  stepsAfter(sessionId: SessionId, after: number, limit: number): Promise<readonly RunStep[]>
  /** Steps of these runs after the ordinal `after`, in order, at most `limit`. */
  stepsOfRuns(sessionId: SessionId, runIds: readonly RunId[], after: number, limit: number): Promise<readonly RunStep[]>
  /** The steps of these ordinals, in order. */
  stepsAt(sessionId: SessionId, ordinals: readonly number[]): Promise<readonly RunStep[]>
  /** The policy decisions in these runs after the ordinal `after`, in order, at most `limit`, without what was decided. */
  decisionMarks(
    sessionId: SessionId,
    runIds: readonly RunId[],
    after: number,
    limit: number,
  ): Promise<readonly DecisionMark[]>
  /** Sizes of the steps after the ordinal `after`, in order, at most `limit`; reads none of their content. */
  stepSizes(sessionId: SessionId, after: number, limit: number): Promise<readonly StepSize[]>
  /** Calls for history conditions and backtests. */
  calls(filter: {
    readonly sessionId?: SessionId
    /** Of these runs; with `sessionId`. */
    readonly runIds?: readonly RunId[]
    readonly agentId?: AgentId
    readonly workspaceId?: WorkspaceId
    readonly since?: Instant
  }): Promise<readonly CallRow[]>
  /** These calls of a session, in no order; those that it does not have are left out. */
  callsNamed(sessionId: SessionId, names: readonly CallReference[]): Promise<readonly CallRow[]>
  /** Calls of runs of a session after `after`, in an order of their own that does not change, at most `limit`. */
  callStates(
    sessionId: SessionId,
    runIds: readonly RunId[],
    after: CallReference | null,
    limit: number,
  ): Promise<readonly CallStateRow[]>

  /** Calls that hold an effect key, or would if the one that does gave it back: the holder first. At most 16. */
  effectsOfKey(workspaceId: WorkspaceId, key: string, now: Instant): Promise<readonly EffectRecord[]>
  /** Newest first. */
  effects(filter: EffectFilter, page: PageRange): Promise<readonly EffectRecord[]>
  /**
   * Lets an effect happen again.
   * @returns the calls that held the key; empty when none did
   * @throws Failure `effect_in_flight`
   */
  releaseEffect(
    workspaceId: WorkspaceId,
    key: string,
    by: string,
    reason: string,
    at: Instant,
  ): Promise<readonly EffectRecord[]>

  /** Takes keys for effects that happened outside, where no call holds them. @returns how many were taken */
  recordKnownEffects(workspaceId: WorkspaceId, known: KnownEffects): Promise<number>

  /** The data that decisions beyond their session depend on; `version` changes with it. */
  workspaceHistory(workspaceId: WorkspaceId): Promise<{ readonly version: number; readonly revoked: readonly string[] }>
  /** Ends a standing authority, or restores it; recorded. */
  setStandingRevoked(
    workspaceId: WorkspaceId,
    act: {
      readonly name: string
      readonly isRevoked: boolean
      readonly at: Instant
      readonly by: string
      readonly reason: string
    },
  ): Promise<void>

  /** Present pauses, oldest first. */
  pauses(workspaceId: WorkspaceId): Promise<readonly PauseAct[]>
  /** Newest first. */
  pauseActs(workspaceId: WorkspaceId, limit: number): Promise<readonly PauseAct[]>
  /** Pauses something, or ends a pause; recorded. @returns false, and records nothing, if nothing changed */
  setPaused(workspaceId: WorkspaceId, act: PauseAct): Promise<boolean>
  /** The last checkpoint that somebody reported. */
  checkpointReport(workspaceId: WorkspaceId): Promise<CheckpointReport | undefined>
  /** Replaces the report before. */
  keepCheckpointReport(report: CheckpointReport): Promise<void>

  /** Kept sums of the days from one instant to another, both included, oldest first; at most `limit`. */
  costs(workspaceId: WorkspaceId, from: Instant, to: Instant, limit: number): Promise<readonly CostRow[]>

  task(id: TaskId): Promise<TaskRecord | undefined>
  tasks(filter: TaskFilter, page: PageRange): Promise<{ readonly items: readonly TaskRecord[]; readonly total: number }>
  /**
   * Newest first. A page ends early, but not before its first task, where the next would make it larger than `maxBytes`.
   * `next` is the `before` of the next page; null at the end.
   */
  tasksInScope(
    scope: TaskScope,
    page: TaskPage,
    maxBytes: number,
  ): Promise<{ readonly items: readonly TaskInSession[]; readonly next: number | null }>
  /** Of a workspace, by kind. */
  openTasks(workspaceId: WorkspaceId): Promise<readonly OpenTasks[]>
  pendingTasks(sessionId: SessionId): Promise<readonly TaskRecord[]>
  tasksOfSession(sessionId: SessionId): Promise<readonly TaskRecord[]>
  tasksEndingWith(workspaceId: WorkspaceId, ending: string, limit: number): Promise<readonly TaskRecord[]>

  /** Claims that have not expired, oldest first. */
  taskClaims(workspaceId: WorkspaceId, now: Instant): Promise<readonly TaskClaim[]>
  /** Extends the claim of a person who has one. Deletes claims that have run out. */
  putTaskClaim(claim: TaskClaim, task: Pick<TaskRecord, 'sessionId'>): Promise<void>
  endTaskClaim(task: Pick<TaskRecord, 'id' | 'sessionId'>, operator: string): Promise<void>

  /** Events after `after`, in order, at most `limit`. */
  events(sessionId: SessionId, after: number, limit: number): Promise<readonly StoredEvent[]>

  /** Timers due at `now` of sessions that are not held, earliest first. Firing is a `save` that clears them. */
  dueTimers(now: Instant, limit: number): Promise<readonly SessionTimer[]>
  nextTimerAt(): Promise<Instant | undefined>

  // Sessions and triggers that a restored backup holds until an operator releases them
  /** The restore that made this store from a backup; undefined for a store of its own. */
  lastRestore(): Promise<StoreRestore | undefined>
  /**
   * Since when a session or trigger is held; undefined when it is not. A restore holds ended sessions too, and until the whole store
   * is released every session that begins, but for those of triggers that were released by name.
   */
  restoredAt(id: SessionId | TriggerId): Promise<Instant | undefined>
  /** Held sessions that are still open, oldest first, and held triggers. */
  restored(
    workspaceId: WorkspaceId,
  ): Promise<{ readonly sessions: readonly SessionId[]; readonly triggers: readonly TriggerId[] }>
  /**
   * Releases these, and the ended sessions of these triggers; ids that are not held are ignored.
   * @param whole releases the store with everything in it, or changes how long calls ask after its release
   */
  releaseRestored(sessions: readonly SessionId[], triggers: readonly TriggerId[], whole?: WholeRelease): Promise<void>
}
