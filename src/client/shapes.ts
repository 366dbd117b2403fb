/** Types of what travels, under the names that the source document gives them. */
import type { JsonValue } from '../base/json.ts'
import type {
  Conversation,
  RunStatusBody,
  RunSummary,
  SessionBody,
  SessionListItem,
  TaskContent,
  TimelineItem,
} from '../spec/api.ts'

export type {
  Finalized,
  FileItem,
  FinalizeBody,
  MessageAccepted,
  PresignBody,
  Presigned,
  SessionList,
  StartRunBody,
  StartRunResponse,
} from '../spec/api.ts'
export type { FileRef } from '../spec/file.ts'
export type { JsonObject, JsonValue } from '../base/json.ts'

export type ConversationResponse = Conversation
export type ConversationSession = SessionBody
export type ConversationRunSummary = RunSummary
export type ConversationTimelineItem = TimelineItem
export type SessionItem = SessionListItem
/** Answer of `getRun`. */
export type RunStatus = RunStatusBody

interface EventData {
  readonly sessionId: string
  readonly runId: string
  readonly [field: string]: unknown
}

interface EventOf<K extends string, D> {
  readonly ts: string
  readonly kind: K
  /** `engine.session.started`, `engine.step.completed`, … */
  readonly subject: string
  readonly data: EventData & D
}

interface Outcome {
  readonly status?: string
  readonly output?: JsonValue
  readonly error?: string | null
}

export type SessionEvent = EventOf<'session', Outcome>
/** The last three are those of `engine.subagent.*`. */
export type RunEvent = EventOf<
  'run',
  Outcome & { readonly childRunId?: string; readonly agentName?: string; readonly depth?: number }
>
export type StepEvent = EventOf<'step', { readonly step?: ConversationTimelineItem }>
export type UserTaskEvent = EventOf<'user_task', { readonly task?: UserTaskReqContent }>
export type AitlEvent = EventOf<
  'aitl',
  { readonly requestId?: string; readonly question?: string; readonly answer?: string }
>
/** One JSON object of a run's stream. Source: HTTP API, "Stream event object". */
export type StreamEvent = SessionEvent | RunEvent | StepEvent | UserTaskEvent | AitlEvent

/** A task that waits for an answer. */
export interface UserTask {
  readonly userTaskId: string
  /** Run to which the task belongs; the root's id answers it as well. */
  readonly runId: string
  /** `approval`, `multi_option`, `text`, `number`, or a kind that only an operator can complete. */
  readonly kind: string
  readonly title: string
  /** False: an API key cannot complete it. */
  readonly apiCompletable: boolean
  readonly content: UserTaskReqContent
}

/** Part of every step's content; absent with `stepContent: 'slim'`. */
export interface StepCommon {
  readonly session_id?: string
  readonly run_id?: string
  readonly tenant_id?: string
  readonly agent_id?: string
  readonly agent_version_id?: string
  readonly event_id?: string
  readonly step_kind?: string
}

export interface ReasoningContent extends StepCommon {
  readonly text: string
  readonly model: string
  readonly finish_reason: string
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number }
  readonly tool_calls: readonly { readonly id: string; readonly name: string; readonly arguments: JsonValue }[]
}

export interface ToolCallContent extends StepCommon {
  readonly tool_call_id: string
  readonly name: string
  readonly ref: string
  readonly version: string
  readonly arguments: JsonValue
  readonly side_effect_class: string | null
  readonly attempt: number
  readonly idempotency_key: string
  readonly route: string
}

export interface ToolResultContent extends StepCommon {
  readonly tool_call_id: string
  readonly name: string
  readonly result: JsonValue
  readonly is_error: boolean
  readonly duration_ms: number
}

export interface PolicyDecisionContent extends StepCommon {
  readonly tool_call_id: string
  readonly name: string
  readonly decision: string
  readonly policies: readonly {
    readonly id: string
    readonly version: string
    readonly decision: string
    readonly matched: string
    readonly reason: string | null
    readonly authority_ref: string | null
  }[]
  readonly explanation: string
}

export type UserTaskReqContent = TaskContent & StepCommon

export interface UserTaskResContent extends StepCommon {
  readonly user_task_id: string
  readonly outcome: string
  readonly approved?: boolean | null
  readonly selected_option_id?: string | null
  readonly text_value?: string | null
  readonly number_value?: number | null
  readonly completed_by?: string | null
  readonly comment?: string | null
  readonly metadata?: JsonValue
}

export interface SubAgentCallContent extends StepCommon {
  readonly tool_call_id: string
  readonly name: string
  readonly child_run_id: string
  readonly agent: string
  readonly version: string
  readonly input: JsonValue
}

export interface SubAgentResultContent extends StepCommon {
  readonly tool_call_id: string
  readonly child_run_id: string
  readonly status: string
  readonly output: JsonValue
  readonly steps?: JsonValue
}

export interface LimitReachedContent extends StepCommon {
  readonly limit: string
  readonly value: number
  readonly used: number
  readonly action: string
}

export interface OutputContent extends StepCommon {
  readonly output: JsonValue
}
