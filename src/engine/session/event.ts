/** What can happen to a run. Everything that moves a session is one of these, whoever brings it. */
import type { RunId } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json.ts'
import type { ModelCompletion } from '../../providers/provider.ts'
import type { LimitName } from '../../spec/run.ts'
import type { TaskRecord } from '../../spec/task.ts'
import type { ToolOutcome } from '../../tools/tool.ts'

export type RunTransitionEvent =
  /** The run was created, here or by a start. */
  | { readonly type: 'started' }
  | {
      readonly type: 'model.answered'
      readonly turn: number
      readonly attempt: number
      readonly completion: ModelCompletion
    }
  | {
      readonly type: 'model.failed'
      readonly turn: number
      readonly attempt: number
      readonly error: string
      readonly retryable: boolean
      readonly retryAfterMs?: number
      /** What it had used; absent where the model had not begun to answer. */
      readonly usage?: ModelCompletion['usage']
    }
  /** What waited may go: a completion for which tokens are free again, or a call for which the server has room. */
  | { readonly type: 'admitted' }
  /** The outcome of one dispatch. */
  | { readonly type: 'call.ended'; readonly callId: string; readonly attempt: number; readonly outcome: ToolOutcome }
  | { readonly type: 'child.ended'; readonly callId: string; readonly child: RunId }
  /** A child asks its parent's model. */
  | {
      readonly type: 'child.asked'
      readonly child: RunId
      readonly requestId: string
      readonly question: string
      readonly context: JsonValue
    }
  /** The answer to a question that was put to the parent. */
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
  | { readonly type: 'wall_clock.due' }
  | { readonly type: 'hitl_wait.due' }
  /** The session was loaded; `inFlight` names the completions and calls that this process has asked for itself. */
  | { readonly type: 'woken'; readonly inFlight: ReadonlySet<string> }
  /** `by` is who asked for it, as `approverOf` names them. */
  | { readonly type: 'cancelled'; readonly reason: string | null; readonly by: string }
  /** The tree below has used up a budget of this run, which halts at once. */
  | { readonly type: 'exhausted'; readonly breach: LimitBreach }
  /** Moving the run failed for a reason of our own, or what came of it can never be saved. */
  | { readonly type: 'broken'; readonly errorCode?: 'state_not_saved' }
  /** The process stops before what was to leave has left: it waits for the next one. `inFlight` did leave. */
  | { readonly type: 'stopped'; readonly inFlight: ReadonlySet<string> }

export type RunEventType = RunTransitionEvent['type']
export type TransitionEventOf<T extends RunEventType> = Extract<RunTransitionEvent, { type: T }>

/** A limit that is reached: its value with what was granted on top, and what was used. */
export interface LimitBreach {
  readonly limit: LimitName
  readonly value: number
  readonly used: number
}

export interface MessageFile {
  readonly filename: string
  readonly mediaType: string
  readonly objectKey: string
}

/** Names one dispatch among all of a session. */
export const dispatchKey = (runId: RunId, callId: string, attempt: number): string => `${runId} ${callId} ${attempt}`

/** Names one try of one completion among all of a session. */
export const completionKey = (runId: RunId, turn: number, attempt: number): string => `${runId} ${turn} ${attempt}`
