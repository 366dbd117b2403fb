/** Types of requests and responses, named as in the HTTP API document. */
import type { JsonObject, JsonValue } from '../base/json/json.ts'
import type {
  Conversation,
  RunStatusBody,
  RunSummary,
  SessionBody,
  SessionListItem,
  TaskContent,
  TimelineItem,
} from '../spec/api.ts'
import type { CompletionUsage } from '../spec/step.ts'

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
export type { JsonObject, JsonValue } from '../base/json/json.ts'

export type ConversationResponse = Omit<Conversation, 'items'> & { readonly items: readonly ConversationTimelineItem[] }
export type ConversationSession = SessionBody
export type ConversationRunSummary = RunSummary
/**
 * An item of the timeline; `type` determines the type of `content`. A newer server may send other types, so a switch needs a
 * default.
 */
export type ConversationTimelineItem = {
  [T in keyof StepContents]: Omit<TimelineItem, 'type' | 'content'> & {
    readonly type: T
    readonly content: StepContents[T]
  }
}[keyof StepContents]
export type SessionItem = SessionListItem
/** Answer of `getRun`. */
export type RunStatus = RunStatusBody

interface EventData {
  readonly sessionId: string
  readonly runId: string
  readonly [field: string]: unknown
}

interface StreamEventOf<K extends string, D> {
  readonly ts: string
  readonly kind: K
  /** `engine.session.started`, `engine.step.completed`, … */
  readonly subject: string
  readonly data: EventData & D
}

interface TerminalFields {
  readonly status?: string
  readonly output?: JsonValue
  readonly error?: string | null
}

export type SessionEvent = StreamEventOf<'session', TerminalFields>
/** The last three are those of `engine.subagent.*`. */
export type RunEvent = StreamEventOf<
  'run',
  TerminalFields & { readonly childRunId?: string; readonly agentName?: string; readonly depth?: number }
>
export type StepEvent = StreamEventOf<'step', { readonly step?: ConversationTimelineItem }>
export type UserTaskEvent = StreamEventOf<'user_task', { readonly task?: UserTaskReqContent }>
export type AitlEvent = StreamEventOf<
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
export type StepCommon = {
  readonly session_id?: string
  readonly run_id?: string
  readonly tenant_id?: string
  readonly agent_id?: string
  readonly agent_version_id?: string
  readonly event_id?: string
  readonly step_kind?: string
}

export type ReasoningContent = StepCommon & {
  readonly text: string
  readonly model: string
  readonly finish_reason: string
  readonly usage: CompletionUsage
  /** Models that failed before the one that answered (`svc/model-fallback`). */
  readonly fallback_after?: { readonly model: string; readonly error: string }[]
  readonly tool_calls: { readonly id: string; readonly name: string; readonly arguments: JsonValue }[]
}

export type ToolCallContent = StepCommon & {
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

export type ToolResultContent = StepCommon & {
  readonly tool_call_id: string
  readonly name: string
  readonly result: JsonValue
  readonly is_error: boolean
  readonly duration_ms: number
}

export type PolicyDecisionContent = StepCommon & {
  readonly tool_call_id: string
  readonly name: string
  readonly decision: string
  readonly policies: {
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

export type UserTaskResContent = StepCommon & {
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

export type SubAgentCallContent = StepCommon & {
  readonly tool_call_id: string
  readonly name: string
  readonly child_run_id: string
  readonly agent: string
  readonly version: string
  readonly input: JsonValue
}

export type SubAgentResultContent = StepCommon & {
  readonly tool_call_id: string
  readonly child_run_id: string
  readonly status: string
  readonly output: JsonValue
  readonly steps?: JsonValue
}

export type LimitReachedContent = StepCommon & {
  readonly limit: string
  readonly value: number
  readonly used: number
  readonly action: string
}

export type OutputContent = StepCommon & {
  readonly output: JsonValue
}

export type UserMessageContent = StepCommon & {
  readonly text: string
  readonly files?: JsonObject[]
}

export type AitlRequestContent = StepCommon & {
  readonly request_id: string
  readonly question: string
  readonly context?: JsonValue
}

export type AitlResponseContent = StepCommon & {
  readonly request_id: string
  readonly answer: string
  /** `parent` or `person`. */
  readonly answered_by: string
}

export type OutputValidationContent = StepCommon & {
  readonly valid: boolean
  readonly errors: JsonValue
  readonly action: string
}

/** Of the rows that end a run and a session. */
export type CompletedContent = StepCommon & {
  readonly status: string
  readonly output: JsonValue
  readonly error: string | null
}

/** The content of each type of step. */
export interface StepContents {
  readonly UserMessage: UserMessageContent
  readonly Reasoning: ReasoningContent
  readonly PolicyDecision: PolicyDecisionContent
  readonly ToolCall: ToolCallContent
  readonly ToolResult: ToolResultContent
  readonly UserTaskReq: UserTaskReqContent
  readonly UserTaskRes: UserTaskResContent
  readonly SubAgentCall: SubAgentCallContent
  readonly SubAgentResult: SubAgentResultContent
  readonly AitlRequest: AitlRequestContent
  readonly AitlResponse: AitlResponseContent
  readonly LimitReached: LimitReachedContent
  readonly OutputValidation: OutputValidationContent
  readonly Output: OutputContent
  readonly RunCompleted: CompletedContent
  readonly SessionCompleted: CompletedContent
}
