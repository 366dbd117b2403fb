/** Events that move a run from one state to the next. */
import type { Instant } from '../../base/clock.ts'
import type { RunId } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json/json.ts'
import type { ModelCall, ModelCompletion, ModelUsage } from '../../providers/provider.ts'
import type { OutageReason } from '../../spec/run/outage.ts'
import type { LimitName } from '../../spec/run/run.ts'
import type { ServerQuestion } from '../../spec/server-question.ts'
import type { SnapshotModel } from '../../spec/snapshot.ts'
import type { SteeringMessage } from '../../spec/steer/wait.ts'
import type { TaskRecord } from '../../spec/task.ts'
import type { AgentVersion } from '../../store/version-rows.ts'
import type { ToolOutcome } from '../../tools/tool.ts'

export type RunTransitionEvent =
  /** The run was created, here or by a start. */
  | { readonly type: 'started' }
  | {
      readonly type: 'model.answered'
      readonly turn: number
      readonly attempt: number
      readonly completion: ModelCompletion
      /** When the completion was requested: the wait for a slot, retries and fallbacks count. */
      readonly askedAt?: Instant
      /** Set where a model of `svc/model-fallback` answered. */
      readonly fallback?: FallbackAnswer
    }
  | {
      readonly type: 'model.failed'
      readonly turn: number
      readonly attempt: number
      readonly error: string
      readonly retryable: boolean
      /** Set where nothing was wrong with the request. */
      readonly outage?: OutageReport
      /** Set where a filter of the provider refused what was asked. */
      readonly filtered?: true
      /** Estimated usage; absent where the model had not begun to answer. */
      readonly spent?: SpentTokens
    }
  /** A completion was held back before it left this process: another may have taken the session over. */
  | { readonly type: 'model.held_back'; readonly turn: number; readonly attempt: number }
  /** A wait in line is over: tokens are free for a completion, or a slot for a call. */
  | { readonly type: 'admitted' }
  /** The outcome of one dispatch. */
  | { readonly type: 'call.ended'; readonly callId: string; readonly attempt: number; readonly outcome: ToolOutcome }
  /** The server of a call under way asks a person; its request ends at `until`. */
  | {
      readonly type: 'call.asked'
      readonly callId: string
      readonly attempt: number
      readonly question: ServerQuestion
      readonly until: Instant
    }
  | { readonly type: 'child.ended'; readonly callId: string; readonly child: RunId }
  /** A child asks its parent's model. */
  | {
      readonly type: 'child.asked'
      readonly child: RunId
      readonly requestId: string
      readonly question: string
      readonly context: JsonValue
    }
  /** The answer to a question to the parent. */
  | {
      readonly type: 'question.answered'
      readonly callId: string
      readonly requestId: string
      readonly answer: string
      readonly by: 'parent' | 'person'
    }
  /** A task of the run was decided; it carries its answer. */
  | { readonly type: 'task.closed'; readonly task: TaskRecord }
  /** A reply to `svc.ask_user`. */
  | { readonly type: 'message'; readonly text: string; readonly files: readonly MessageFile[] }
  | { readonly type: 'retry.due' }
  /** A call that waits for an earlier one with its effect key looks again. */
  | { readonly type: 'effect_wait.due' }
  /** The time of a call that waits has come. */
  | { readonly type: 'call_wait.due' }
  /** A signal for a call that waits for it; its data passes the schema. */
  | { readonly type: 'signal'; readonly callId: string; readonly name: string; readonly data: JsonValue }
  /** Work outside reports the end of a call. */
  | {
      readonly type: 'call.reported'
      readonly callId: string
      readonly result: JsonValue
      readonly isError: boolean
    }
  /** A message to a run that works; `interrupts` drops the completion under way. */
  | { readonly type: 'steered'; readonly message: SteeringMessage; readonly interrupts: boolean }
  /** The cause of an outage that held the run is over. */
  | { readonly type: 'outage.over'; readonly cause: string }
  /** A call of the client for which the agent stands: it is the completion of the run, or joins the calls under way. */
  | { readonly type: 'called'; readonly call: ModelCall }
  /** The client has called nothing for a while. */
  | { readonly type: 'idle.due' }
  /** Its client calls again, and another version was deployed since the run began. */
  | { readonly type: 'outdated' }
  | { readonly type: 'wall_clock.due' }
  | { readonly type: 'hitl_wait.due' }
  /** The session was loaded; `inFlight` has the keys of completions and calls that this process sent itself. */
  | { readonly type: 'woken'; readonly inFlight: ReadonlySet<string> }
  /** `by` is the person or key that cancelled it, as `approverOf` formats them. */
  | { readonly type: 'cancelled'; readonly reason: string | null; readonly by: string }
  /** An operator resumes a run that has failed, was cancelled or is held, or the parent that it ended with. */
  | {
      readonly type: 'resumed'
      /** As `approverOf` formats them. */
      readonly by: string
      readonly reason: string | null
      /** The version that the run goes on with, where it is another one. */
      readonly version?: AgentVersion
      /** True where the limit that ended the run is granted again. */
      readonly grants?: boolean
    }
  /** An operator moves the run to another version of its agent. */
  | { readonly type: 'migrated'; readonly version: AgentVersion; readonly by: string; readonly reason: string | null }
  /** A run that undoes a call has ended; the next call of the same request may be undone. */
  | { readonly type: 'undo.ended' }
  /** The descendants have used up a budget of this run, which halts at once. */
  | { readonly type: 'exhausted'; readonly breach: LimitBreach }
  /** An internal error: an event could not be applied, or its result can never be saved. */
  | { readonly type: 'broken'; readonly errorCode?: 'state_not_saved' }
  /** The process stops before recorded effects were sent; the next process sends them. Those in `inFlight` were sent. */
  | { readonly type: 'stopped'; readonly inFlight: ReadonlySet<string> }

/** Usage of a completion that has no answer, and the model that was asked. */
export interface SpentTokens {
  readonly model: SnapshotModel
  readonly usage: ModelUsage
}

/** A failed attempt that may succeed later. `cause` names what is missing, equally for all runs. */
export interface OutageReport {
  readonly reason: OutageReason
  readonly cause: string
  readonly retryAfterMs?: number
  /** When it is over, where that is known. */
  readonly endsAt?: Instant
}

/** The model that answered, and what those before it failed with. */
export interface FallbackAnswer {
  readonly model: SnapshotModel
  readonly after: readonly { readonly model: string; readonly error: string }[]
}

export type RunEventType = RunTransitionEvent['type']
export type TransitionEventOf<T extends RunEventType> = Extract<RunTransitionEvent, { type: T }>

/** A limit that is reached: its value including grants, and the amount used; money as text, `5 EUR`. */
export interface LimitBreach {
  readonly limit: LimitName
  readonly value: number | string
  readonly used: number | string
}

export interface MessageFile {
  readonly filename: string
  readonly mediaType: string
  readonly objectKey: string
}
