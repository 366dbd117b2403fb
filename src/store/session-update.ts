/** The content of a save of a session. */
import type { Instant } from '../base/clock.ts'
import type { Digest } from '../base/digest.ts'
import type { AgentId, RunId, SessionId, StepId } from '../base/ids.ts'
import type { JsonValue } from '../base/json/json.ts'
import type { NewAct } from '../spec/people/act.ts'
import type { EffectRecord } from '../spec/effect.ts'
import type { StoredEvent } from '../spec/event.ts'
import type { NewNotice } from '../spec/notice.ts'
import type { Money } from '../spec/price.ts'
import type { Run } from '../spec/run/run.ts'
import type { Session } from '../spec/run/session.ts'
import type { CompletionUsage, RunStep } from '../spec/step.ts'
import type { TaskRecord } from '../spec/task.ts'
import type { WorkerId } from './lease.ts'
import type { SessionLabels } from './queries.ts'
import type { IdempotencyClaim } from './start-outcome.ts'

/** A session with everything needed to advance it: its runs and its pending tasks. */
export interface SessionTree {
  readonly session: Session
  readonly runs: readonly Run[]
  readonly tasks: readonly TaskRecord[]
}

/** A session as it is stored. */
export interface StoredTree extends SessionTree {
  /** The holder of its lease; absent without one, or if the lease has expired. */
  readonly heldBy?: WorkerId
}

export type TimerKind = 'task_timeout' | 'retry' | 'wall_clock' | 'hitl_wait' | 'effect_wait' | 'call_wait' | 'idle'

/** A timer that fires at an instant unless it is cleared first. At most one per (session, run, kind, ref). */
export interface SessionTimer {
  readonly sessionId: SessionId
  readonly runId: RunId
  readonly kind: TimerKind
  /** Id of the task or call that the timer belongs to; empty for the run itself. */
  readonly ref: string
  readonly at: Instant
}

export type TimerKey = Omit<SessionTimer, 'at'>

/** A timer to be deleted; with `firedAt`, only if it has not been set to another time meanwhile. */
export type ClearedTimer = TimerKey & { readonly firedAt?: Instant }

/** One call of a tool or agent, for history conditions and audits. Writing the same key replaces the whole row. */
export interface CallRow {
  readonly sessionId: SessionId
  readonly runId: RunId
  readonly callId: string
  readonly agentId: AgentId
  /** Logical id of the tool or agent. */
  readonly ref: string
  readonly argumentsDigest: Digest
  readonly arguments: JsonValue
  readonly state: string
  readonly attempt: number
  readonly idempotencyKey: string
  /** Time of the last state change. A call that waited for a person thus counts in the time window in which it was done. */
  readonly at: Instant
}

/** A call without its arguments, which may be as large as all else. */
export type CallStateRow = Omit<CallRow, 'arguments'>

/** The end of a step that an earlier update stored. */
export interface StepEnd {
  readonly id: StepId
  readonly ordinal: number
  readonly finishedAt: Instant
  readonly error: string | null
}

/**
 * An event of an update: in full, or with only the `ordinal` of a step when its data is that step as stored. The store
 * rebuilds the data from the step on reading, so that the content is written once.
 */
export type SessionUpdateEvent = StoredEvent | (Omit<StoredEvent, 'data'> & { readonly ordinal: number })

/** The usage of one completion. `cost` is null if the price is unknown, and absent for a free model. */
export interface CompletionSpend {
  readonly runId: RunId
  readonly provider: string
  readonly model: string
  readonly usage: CompletionUsage
  readonly cost?: Money | null
}

/** A change of an effect key by a call. */
export type EffectChange =
  /** Takes the key, from the call that `replaces` names if that still holds it. */
  | { readonly take: Omit<EffectRecord, 'workspaceId' | 'state' | 'holds' | 'result' | 'released'> }
  /** The call is sent again: its key is in flight until `notAfter`. */
  | { readonly extend: { readonly id: string; readonly notAfter: Instant } }
  /** Outcome of the call; `not_made` gives the key back. Has no effect if the call holds no key. */
  | { readonly end: EffectEnd }

export interface EffectEnd {
  readonly runId: RunId
  readonly callId: string
  readonly state: 'done' | 'unknown' | 'not_made'
  /** Stored for repetitions that get the result. */
  readonly result?: JsonValue
}

/** Cap on a workspace's spending per day (UTC). An absent part has no limit. */
export interface SpendCap {
  readonly tokens?: number
  readonly cost?: Money
}

/** Maximum that a completion in flight may use of the cap. */
export interface PlanReservation {
  readonly runId: RunId
  readonly tokens: number
  /** In the currency of the cap; absent where the completion costs nothing in it. */
  readonly cost?: Money
}

/** Completions that begin, and those that have their outcome. */
export interface PlanChange {
  readonly cap: SpendCap
  readonly reserves: readonly PlanReservation[]
  readonly frees: readonly RunId[]
}

/** Everything that one save of a session writes. */
export interface SessionUpdate {
  /** The session after the update; `version` is the one that was read, the store adds one. */
  readonly session: Session
  /** New and changed runs. */
  readonly runs: readonly Run[]
  readonly steps: readonly RunStep[]
  /** Ends of steps that earlier updates stored. */
  readonly closedSteps: readonly StepEnd[]
  /** New and changed tasks. Their votes are stored as separate rows. */
  readonly tasks: readonly TaskRecord[]
  readonly calls: readonly CallRow[]
  /** Numbered by the writer without gaps; `session.lastSeq` is the number of the last one. */
  readonly events: readonly SessionUpdateEvent[]
  readonly setTimers: readonly SessionTimer[]
  readonly clearTimers: readonly ClearedTimer[]
  /** Completions that this update records, for the sums of the day. */
  readonly spends: readonly CompletionSpend[]
  /** Version of the workspace's history at which the calls were counted; absent where none of other sessions were. */
  readonly historySeen?: number
  /** In order. */
  readonly effects?: readonly EffectChange[]
  /** Absent where no completion of the update draws on the plan of the workspace. */
  readonly plan?: PlanChange
  /** Answers to be remembered by their idempotency key, from the moment at which they take effect. */
  readonly claims?: readonly IdempotencyClaim[]
  /** What channels are told of this update; absent where nothing is. */
  readonly notices?: readonly NewNotice[]
  /** Its spans can be exported from then on; absent where nobody exports them, or nothing paused or ended. */
  readonly isTraced?: true
  /** Acts of operators that this update carries out; absent where nobody acted. */
  readonly acts?: readonly NewAct[]
  /** New labels of a continued session. */
  readonly labels?: SessionLabels
  /**
   * Of a start: depends on the version of another session. It is refused if that session was saved since `version` was
   * read, and counts as a save of it, so that of a concurrent start and save one is refused.
   */
  readonly follows?: { readonly sessionId: SessionId; readonly version: number }
  /** True while the session has work in flight; a restart recovers these. A waiting session only occupies rows. */
  readonly busy: boolean
}
