/** The interface of the engine, used by the server, the operator application and the demo. */
import type { AttemptLookup } from '../../spec/run/hold.ts'
import type { Instant, StoreClock } from '../../base/clock.ts'
import type { AgentId, IdSource, RunId, SessionId, TaskId, TriggerId, VersionId, WorkspaceId } from '../../base/ids.ts'
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import type { Log } from '../../base/log.ts'
import type { Redactor } from '../../base/secret.ts'
import type { TraceContext } from '../../base/trace-context.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import type { ModelProviders } from '../../providers/provider.ts'
import type { QueueTimers } from '../../queue/timers.ts'
import type { NewAct } from '../../spec/people/act.ts'
import type { MessageAccepted, StartRunResponse } from '../../spec/api.ts'
import type { LiveText, StoredEvent } from '../../spec/event.ts'
import type { Principal } from '../../spec/people/key.ts'
import type { CallReference, RepeatedRun, Run, RunStatusName } from '../../spec/run/run.ts'
import type { Session } from '../../spec/run/session.ts'
import type { RunStep } from '../../spec/step.ts'
import type { CheckpointDemand, CheckpointReport } from '../../spec/steer/checkpoint-demand.ts'
import type { PauseAct } from '../../spec/steer/pause.ts'
import type { GivenAnswer } from '../../spec/task.ts'
import type { TriggerType } from '../../spec/run/starter.ts'
import type { StartLimits } from '../../store/start-outcome.ts'
import type { LeaseTimes, WorkerId } from '../../store/lease.ts'
import type { CallRow, SessionUpdate, SpendCap } from '../../store/session-update.ts'
import type { WholeRelease } from '../../store/queries.ts'
import type { Store } from '../../store/store.ts'
import type { TextExchange } from './text-exchange.ts'
import type { AgentVersion } from '../../store/version-rows.ts'
import type { Toolbox } from '../../tools/tool.ts'
import type { PolicyDecision } from '../../policy/condition/decision.ts'
import type { EarlierMessage } from '../prompt/earlier.ts'
import type { ProbeResult } from '../review/probe.ts'
import type { ClientGate } from './client-call.ts'
import type { RequestKey } from './repeated-request.ts'
import type { ConcurrencyBounds } from '../capacity/slots.ts'
import type { ResolvedUndo } from '../calls/steer/undo-arguments.ts'
import type { UndoneNote } from '../session/undone.ts'
import type { ConversationPart, PagedConversation } from './timeline.ts'

export interface StartRequest {
  readonly workspaceId: WorkspaceId
  readonly agentId: AgentId
  readonly principal: Principal
  readonly triggerType: TriggerType
  readonly triggerId: string | null
  readonly triggerName: string | null
  readonly input: JsonObject
  readonly limits: StartLimits
  /** Kept with the session, never shown to the model. */
  readonly metadata?: Readonly<Record<string, string>>
  readonly tags?: readonly string[]
  /** Given where the caller must know the id before the run starts. */
  readonly sessionId?: SessionId
  /** The session that goes on. */
  readonly continued?: { readonly sessionId: SessionId }
  /** The version that the run executes; the deployed one where absent. */
  readonly versionId?: VersionId
  /** The run that the new one repeats. */
  readonly origin?: RepeatedRun
  /** True for the run of a client's conversation, whose agent stands for the client. */
  readonly byClient?: true
  /** Another session, refused with `run_moved_on` where it was saved since this version of it was read. */
  readonly follows?: SessionUpdate['follows']
  readonly idempotency?: RequestKey
  /** Recorded with the start; absent where no operator started it. */
  readonly act?: NewAct
  /** The trace that the run continues. */
  readonly trace?: TraceContext
}

export interface ResumeRequest {
  /** Never a key or a schedule. */
  readonly by: Extract<Principal, { type: 'operator' }>
  readonly reason?: string
  /** The run continues with this version of its agent; the caller has compared the two. */
  readonly version?: AgentVersion
  /** Grants the limit that ended the run once more. */
  readonly grants?: boolean
  /** Version of the session that the caller has read; refused with `run_moved_on` if it has changed. */
  readonly seen?: number
  readonly act?: NewAct
}

/** The calls of an ended run and its descendants, and how each would be undone. */
export interface UndoPlan {
  readonly run: Run
  /** Newest first. */
  readonly items: readonly PlannedUndo[]
}

export type PlannedUndo = {
  readonly call: CallReference
  readonly agent: string
  /** Logical id. */
  readonly tool: string
  /** When it was made. */
  readonly madeAt: Instant
  readonly arguments: JsonValue
} & (
  | {
      readonly at: 'open'
      readonly undo: ResolvedUndo
      readonly decision: {
        readonly verdict: PolicyDecision['decision']
        readonly explanation: string
        /** How many people must approve. */
        readonly approvals?: number
      }
      /** The newest run that tried to undo it, and did not. */
      readonly failed?: Run
    }
  | { readonly at: 'undone' | 'under_way'; readonly by: Run }
  /** It cannot be undone; `why` is a sentence. */
  | { readonly at: 'final'; readonly why: string }
)

export interface UndoRequest {
  /** Never a key or a schedule. */
  readonly by: Extract<Principal, { type: 'operator' }>
  readonly reason?: string
  /** Absent = all that can be undone. */
  readonly calls?: readonly CallReference[]
  readonly act?: NewAct
}

/** The parts of a run that a fork takes over. */
export interface ForkSource {
  readonly run: Run
  readonly session: Session
  /** Messages and outputs of its session before it. */
  readonly before: readonly EarlierMessage[]
  readonly steps: readonly RunStep[]
  readonly calls: readonly CallRow[]
  /** A note on the calls of its session that were undone since. */
  readonly undone: readonly UndoneNote[]
}

/** Replaces what a step says: the text of a message or an answer, the result of a call. */
export interface StepEdit {
  readonly ordinal: number
  readonly value: JsonValue
}

export interface ForkRequest {
  /** Never a key or a schedule. */
  readonly by: Extract<Principal, { type: 'operator' }>
  /** Ordinal of the last step that is taken over. */
  readonly at: number
  readonly edits: readonly StepEdit[]
  readonly version: AgentVersion
  readonly limits: StartLimits
  readonly idempotency?: RequestKey
  readonly act?: NewAct
  /** True where its calls are played from a recording. */
  readonly isDry?: boolean
}

export interface StartedFork {
  readonly runId: RunId
  readonly sessionId: SessionId
  /** How many steps it took over; they are its first. */
  readonly taken: number
}

export interface ResumedRun {
  readonly runId: RunId
  readonly status: RunStatusName
}

/** Stored events, model text as it arrives, and one mark where the replay ends. */
export type FollowedEvent = StoredEvent | LiveText | 'live'

/** A run as its reader's request found it. */
export type FollowedRun = Pick<
  Run,
  'id' | 'sessionId' | 'parentRunId' | 'status' | 'starter' | 'startedAt' | 'finishedAt'
>

export interface EngineParts {
  readonly store: Store
  readonly providers: ModelProviders
  readonly tools: Toolbox
  /** Absent where no file can be read (tests). */
  readonly blobs?: Blobs
  /** By which the engine decides; that of its store, wherever it may differ from the clock of the process. */
  readonly clock: StoreClock
  readonly ids: IdSource
  /** 0 to 1; jitter of retries. */
  readonly random: () => number
  readonly log: Log
  readonly redactor: Redactor
  /** Identifies this start of the process as the holder of leases, and in records of sent calls. */
  readonly worker: WorkerId
  /** `DEFAULT_LEASE_TIMES` where absent. */
  readonly leaseTimes?: LeaseTimes
  /** Sessions that this process may hold before it leaves what is free to others; any number where absent. */
  readonly maxClaimed?: number
  /** True while this process cannot keep up with its own work and should claim none; never where absent. */
  readonly isBehind?: () => boolean
  /** The system's where absent. */
  readonly timers?: QueueTimers
  /** False where work is only recorded: no effect starts, and the next serving process continues it. True when absent. */
  readonly sends?: boolean
  /** Calls and completions in flight at once; `DEFAULT_CONCURRENCY` where absent. */
  readonly concurrency?: Partial<ConcurrencyBounds>
  /** Cap on the workspace's spending per day; absent = unlimited. */
  readonly plan?: SpendCap
  /** Checkpoints of the audit without which everything is paused; none are asked for where absent. */
  readonly checkpoints?: CheckpointDemand
  /** Maximum of iterations where `limits.max_loop_iterations` is absent; 100 by default. */
  readonly maxIterations?: number
}

/** A tool's report on a call that it accepted. */
export type OutsideReport = { readonly result: JsonValue } | { readonly error: JsonValue }

export interface MigrationRequest {
  readonly by: Principal
  readonly reason?: string
  readonly version: AgentVersion
  readonly act?: NewAct
}

export interface Engine {
  /**
   * Starts a run of the agent's deployed version, in a new session or as the next root run of one. Resolves once session, run and
   * first work item are durable.
   * @throws Failure `session_not_ended`, `session_erased`, `session_limit_reached`, `version_not_deployable` for a session that goes on
   * @throws Failure `no_deployed_version`, `input_contract_violation`, `file_not_found`, `provider_not_configured`,
   *   `secret_not_set`, `price_unknown`, `rate_limited`, `concurrency_limited`, `plan_limit_exceeded`, `idempotency_key_reused`
   *
   * Source: docs/design/http.md#start
   */
  start(request: StartRequest): Promise<StartRunResponse>
  /**
   * Completes a task of the run or of a descendant, or replies to a question of the run. An answer that cannot be accepted
   * changes nothing; `error` and `code` say why.
   * @param hidden true while the trigger hides the timeline: a key's `userTaskId` is then `task_not_found`
   * @param act recorded with an answer that is accepted
   * @param idempotency a repetition gets the first response; one that arrives meanwhile waits for it
   * @throws Failure `idempotency_key_reused`
   */
  answer(
    runId: RunId,
    answer: GivenAnswer,
    hidden?: boolean,
    idempotency?: RequestKey,
    act?: NewAct,
  ): Promise<MessageAccepted>
  /** Gives a signal to the run, or the descendant, that waits for it. A refused signal changes nothing, as with `answer`. */
  signal(runId: RunId, name: string, data: JsonValue): Promise<MessageAccepted>
  /**
   * Ends the call to which a token was given.
   * @throws Failure `completion_not_found`, `completion_used`
   */
  complete(token: string, report: OutsideReport): Promise<MessageAccepted & { readonly runId: RunId }>
  /**
   * Checks whether the call of an `anomaly_review` happened, with the probe tool that the author named for it.
   * @throws Failure `not_found` where no such review is pending, `validation_failed` where there is no such tool
   *
   * Source: docs/design/approvals.md#unknown-outcomes
   */
  probe(taskId: TaskId, principal: Principal, signal: AbortSignal): Promise<ProbeResult>
  /** Calls of clients for which agents stand. */
  readonly gate: ClientGate
  /** Ends the run and its descendants; a terminal run keeps its status. */
  cancel(
    runId: RunId,
    principal: Principal,
    reason?: string,
    act?: NewAct,
  ): Promise<{ readonly runId: RunId; readonly status: RunStatusName }>
  /**
   * Continues a run that failed, was cancelled or is held, at the step at which it stopped. Calls that were made are not
   * made again; a person is asked about calls of unknown outcome. Does not check a change of version.
   * @throws Failure `not_found`, `not_a_root_run`, `session_went_on`, `session_erased`, `run_not_ended`, `run_completed`,
   *   `run_not_resumable`, `limit_reached`; nothing has changed then
   *
   * Source: docs/design/steering.md#resume
   */
  resume(runId: RunId, request: ResumeRequest): Promise<ResumedRun>
  /**
   * The calls of an ended run and its descendants, and how each would be undone; changes nothing.
   * @throws Failure `not_found`, `session_erased`, `run_not_ended`, `run_undoes`, `version_gone`
   *
   * Source: docs/design/steering.md#undo
   */
  planUndo(runId: RunId): Promise<UndoPlan>
  /**
   * Undoes calls of an ended run, one after another, the newest first; stops at the first that fails. Resolves with the run that
   * undoes the first once it is durable.
   * @throws Failure as `planUndo`; `nothing_to_undo`, `call_not_undoable`
   */
  undo(runId: RunId, request: UndoRequest): Promise<{ readonly runId: RunId }>
  /**
   * Moves a run that waits, or is held, to another version of its agent; its open calls are decided again. The caller
   * checks whether the version may do more.
   * @throws Failure `not_found`, `not_a_root_run`, `run_not_movable`
   *
   * Source: docs/design/steering.md#migrate
   */
  migrate(runId: RunId, request: MigrationRequest): Promise<void>
  /**
   * Starts a run, in a session of its own, that has the first steps of another one as they were.
   * @throws Failure `step_not_found`, `step_not_forkable`, `step_not_editable`, `plan_limit_exceeded`
   *
   * Source: docs/design/steering.md#fork
   */
  fork(source: ForkSource, request: ForkRequest): Promise<StartedFork>
  /**
   * Erases the content of an ended session, here and in the store.
   * @throws Failure `not_found`, `session_not_ended`, `session_on_hold`
   */
  erase(sessionId: SessionId, act?: NewAct): Promise<void>
  /**
   * Events of the run, its descendants and its session after `after`, without a gap and without a repeat, then live; ends
   * after the terminal event of the run (for the root: of the session). Events that arrive together are yielded together.
   */
  follow(run: RunId | FollowedRun, after: number, signal: AbortSignal): AsyncIterable<readonly FollowedEvent[]>
  /** Model text between this process and others. */
  readonly text: TextExchange
  /** Reports every session that changes, without details, until the returned function is called. */
  watch(listener: (sessionId: SessionId) => void): () => void
  /** Since when this process cannot store what happens to a session, because the disk is full; undefined where it can. */
  fullSince(sessionId: SessionId): Instant | undefined
  /** When a run of this process next tries what an outage keeps out of reach. */
  readonly nextAttempt: AttemptLookup
  /**
   * Resolves when the run has ended or waits for somebody, or when the signal aborts, with the run as it is then where it was
   * looked at.
   */
  waitForPause(
    run: { readonly id: RunId; readonly sessionId: SessionId },
    signal: AbortSignal,
  ): Promise<Run | undefined>
  /** The conversation as it is now, unredacted: the caller redacts what it sends. */
  conversation(sessionId: SessionId, part?: ConversationPart): Promise<PagedConversation>
  /** Takes over sessions with work in flight that no process holds, now and from time to time; resolves with their number. */
  recover(): Promise<number>
  /**
   * Releases sessions and triggers that a restore holds: the sessions continue, the triggers start runs again. Others are not affected.
   * @param whole releases everything else that the restore holds, too: ended sessions, and those that began since
   * Source: docs/design/runs-and-recovery.md#restoring
   */
  release(
    sessions: readonly SessionId[],
    triggers: readonly TriggerId[],
    whole?: WholeRelease,
    act?: NewAct,
  ): Promise<void>
  /**
   * Pauses something, or lets it go on. Once it resolves no effect of what is paused leaves this process, and none leaves another
   * one a second later. @returns false, and nothing has changed, where it was so already
   *
   * Source: docs/design/steering.md#pauses
   */
  setPaused(workspaceId: WorkspaceId, pause: PauseAct, act?: NewAct): Promise<boolean>
  /** What is paused now: by operators, oldest first, then for want of a checkpoint. */
  pauses(workspaceId: WorkspaceId): Promise<readonly PauseAct[]>
  /** Takes note of a checkpoint. What waited for one goes on. Source: docs/design/audit.md#checkpoints-that-are-required */
  reportCheckpoint(report: CheckpointReport): Promise<void>
  /** How many sessions this process holds. */
  leasesHeld(): number
  /** Accepts no more work; resolves when outcomes in flight are stored, or after `graceMs`. Runs continue at the next start. */
  close(graceMs?: number): Promise<void>
  readonly store: Store
}
