// Written by scripts/openapi.js from schemas/openapi.yaml.

import type { JsonObject, JsonValue } from '../../base/json/json.ts'

export type Timestamp = string

export type NullableTimestamp = string | null

/** Running; WaitingForHITL, WaitingForAITL, WaitingForResponse; terminal Completed, Failed, Cancelled. Further words may be added: what is neither terminal nor begins with WaitingFor means that the work goes on. */
export type RunStatusWord =
  | 'Running'
  | 'WaitingForHITL'
  | 'WaitingForAITL'
  | 'WaitingForResponse'
  | 'Completed'
  | 'Failed'
  | 'Cancelled'
  | (string & {})

export interface Error {
  /** A sentence for people. */
  readonly error: string
  readonly code: string
  readonly details?: readonly {
    /** JSON pointer into the request. */
    readonly path: string
    readonly message: string
  }[]
  readonly requestId: string
}

export interface StartRunBody {
  /** Must match the input contract of the deployed version; {} when absent. A file of the workspace is a FileReference, wherever the contract has one. */
  readonly input?: JsonObject
  readonly metadata?: Metadata
  readonly tags?: Tags
}

export interface FileReference {
  readonly svcFile: true
  /** The segment after the last slash of the finalized objectKey. */
  readonly filename: string
  readonly mediaType?: string
}

export interface StartRunResponse {
  readonly sessionId: string
  readonly runId: string
  readonly status: RunStatusWord
  readonly totalTokensUsed: number
  readonly output: JsonValue
  readonly error?: string
  readonly agentId?: string
  readonly triggerId?: string | null
  readonly duplicateDelivery?: boolean
  readonly pending?: PendingAnswers
}

/** What the run and its descendants wait for; empty when nothing does. While the trigger does not expose its step timeline, only the question of a run that waits for a reply. */
export type PendingAnswers = readonly PendingAnswer[]

export interface PendingAnswer {
  /** reply is answered with text, everything else with its userTaskId. */
  readonly kind:
    | 'approval'
    | 'multi_option'
    | 'text'
    | 'number'
    | 'escalation'
    | 'aitl_escalation'
    | 'anomaly_review'
    | 'reply'
    | (string & {})
  /** The run that waits. */
  readonly runId: string
  readonly userTaskId?: string
  readonly prompt: string
  /** JSON Schema of textValue or numberValue. */
  readonly schema?: JsonObject
  readonly options?: readonly {
    readonly id: string
    readonly label: string
  }[]
  /** The call that waits for an approval. */
  readonly call?: {
    readonly name: string
    readonly arguments: JsonValue
    /** Of the arguments, as svc/arguments_digest takes it. */
    readonly digest: string
  }
  readonly expiresAt: NullableTimestamp
  /** What happens at expiresAt: deny, allow or escalate. */
  readonly onTimeout: string | null
  readonly votes?: {
    readonly have: number
    readonly need: number
  }
}

/** A user task, as the content of its UserTaskReq; what does not apply is absent. */
export interface TaskItem {
  readonly user_task_id: string
  readonly kind: string
  readonly title: string
  readonly prompt?: string
  readonly reason?: string
  readonly status: 'pending' | 'completed' | 'expired' | 'cancelled' | (string & {})
  readonly tool?: {
    readonly name: string
    readonly ref: string
    readonly version: string
    readonly side_effect_class: string | null
  }
  readonly arguments?: JsonValue
  readonly arguments_digest?: string
  readonly policies?: readonly JsonObject[]
  readonly authority_ref?: string
  readonly approvals_required?: number
  readonly approvals_received?: number
  readonly edits?: readonly JsonObject[]
  readonly comprehension_required?: boolean
  readonly context?: JsonObject
  readonly options?: readonly JsonObject[]
  readonly min?: number
  readonly max?: number
  readonly on_reject?: string
  readonly on_modify?: string
  readonly expires_at?: Timestamp
  readonly on_timeout?: string
  readonly completable_via: readonly string[]
  /** The run that asks. */
  readonly run_id: string
  /** The root run of its session. */
  readonly root_run_id: string
}

export interface TaskList {
  readonly items: readonly TaskItem[]
  /** Where the next page begins; null at the end. */
  readonly nextCursor: string | null
}

export interface RunStatus {
  readonly runId: string
  readonly status: RunStatusWord
  readonly output: JsonValue
  readonly error?: string
  /** Why the run failed, for programs. */
  readonly errorCode?:
    | 'limit_exceeded'
    | 'output_invalid'
    | 'model_error'
    | 'outage'
    | 'completion_truncated'
    | 'completion_filtered'
    | 'tool_failed'
    | 'rejected'
    | 'repeated_denial'
    | 'policy_error'
    | 'state_not_saved'
    | 'cancelled'
    | 'internal'
    | (string & {})
  readonly sessionId: string
  readonly agentId: string
  readonly agentVersionId: string
  readonly versionLabel: string
  readonly totalTokensUsed: number
  readonly startedAt: Timestamp
  readonly finishedAt: NullableTimestamp
  readonly hold?: Hold
  readonly cost?: Cost
  readonly pending?: PendingAnswers
}

/** What completions cost, for operators alone; absent where nothing was billed. */
export interface Cost {
  /** Exact decimal text by currency. */
  readonly amounts: Readonly<Record<string, string>>
  /** Completions whose price is not known. */
  readonly unpriced: number
}

/** Why a run that has not ended does nothing for now. Keep polling. */
export interface Hold {
  /** `restored`: it came from a backup, and an operator has yet to release it. The others: a model, tool, MCP server or secret that the run needs cannot be reached or used; the run goes on by itself when it can. */
  readonly reason:
    | 'restored'
    | 'provider_unreachable'
    | 'tool_unreachable'
    | 'mcp_unreachable'
    | 'secret_missing'
    | 'quota_spent'
    | (string & {})
  readonly since: Timestamp
  readonly nextAttemptAt?: Timestamp
}

/** Stands for a value that would make its answer larger than 8 MiB, wherever a value of any shape is allowed; the largest values give way first. GET the url for the value. */
export interface ValueReference {
  /** sha256: and the digest of the body that url answers. */
  readonly svcValue: string
  readonly bytes: number
  /** Path on this server; needs the same key. */
  readonly url: string
}

/** Texts of the caller's own, never shown to the model: at most 16, names of at most 64 bytes, values of at most 512, 10 KiB in all. */
export type Metadata = Readonly<Record<string, string>>

/** At most 10 different texts of at most 64 bytes, by which sessions are listed. */
export type Tags = readonly string[]

export interface Session {
  readonly id: string
  /** Workspace. */
  readonly tenantId: string
  readonly agentId: string
  readonly agentVersionId: string
  readonly llmModel: string | null
  readonly triggerType: 'api' | 'scheduled' | 'operator' | (string & {})
  readonly triggeredBy: string | null
  readonly triggerId: string | null
  readonly triggerName: string | null
  readonly status: RunStatusWord
  readonly totalTokensUsed: number
  readonly output: JsonValue
  readonly error: string | null
  readonly startedAt: Timestamp
  readonly finishedAt: NullableTimestamp
  readonly input: JsonValue
  readonly startContext: JsonObject | null
  readonly metadata?: Metadata
  readonly tags?: Tags
}

export interface SessionListItem extends Session {
  readonly rootRunId: string | null
  readonly runCount: number
  readonly entryRunId: string | null
  readonly cost?: Cost
}

export interface SessionList {
  readonly items: readonly SessionListItem[]
  readonly total: number
  /** Where the next page begins; null at the end. */
  readonly nextCursor?: string | null
}

export interface RunSummary {
  readonly id: string
  readonly sessionId: string
  readonly agentId: string
  readonly agentVersionId: string
  readonly parentRunId: string | null
  readonly depth: number
  readonly status: RunStatusWord
  readonly totalTokensUsed: number
  readonly output: JsonValue
  readonly error: string | null
  readonly startedAt: NullableTimestamp
  readonly finishedAt: NullableTimestamp
  readonly triggerType: 'api' | 'scheduled' | 'operator' | (string & {})
  readonly triggeredBy: string | null
  readonly triggerId: string | null
  readonly triggerName: string | null
  readonly input: JsonValue
  readonly llmModel: string | null
  readonly agentName: string | null
  readonly versionLabel: string | null
}

export interface TimelineItem {
  readonly runId: string
  readonly id: string
  /** Monotonic per run. */
  readonly sequence: number
  /** 1-based position in the whole session. */
  readonly ordinal: number
  readonly type:
    | 'UserMessage'
    | 'Reasoning'
    | 'PolicyDecision'
    | 'ToolCall'
    | 'ToolResult'
    | 'UserTaskReq'
    | 'UserTaskRes'
    | 'SubAgentCall'
    | 'SubAgentResult'
    | 'AitlRequest'
    | 'AitlResponse'
    | 'LimitReached'
    | 'OutputValidation'
    | 'Output'
    | 'RunCompleted'
    | 'SessionCompleted'
    | (string & {})
  /** Shape by type; user_task_id names the task of a UserTaskReq. */
  readonly content: JsonValue
  readonly tokensUsed: number | null
  readonly error: string | null
  readonly startedAt: NullableTimestamp
  readonly finishedAt: NullableTimestamp
}

export interface Conversation {
  readonly session: Session
  readonly runs: readonly RunSummary[]
  readonly items: readonly TimelineItem[]
  /** Where the next page begins; null at the end. */
  readonly nextCursor?: string | null
}

export interface StreamEvent {
  readonly ts: Timestamp
  readonly kind: 'step' | 'session' | 'run' | 'user_task' | 'aitl' | (string & {})
  readonly subject: string
  readonly data: JsonObject
}

/** Needs userTaskId, or a non-empty text or message, or at least one file. */
export interface MessageBody {
  /** Equals the path's. */
  readonly runId: string
  readonly userTaskId?: string
  /** True when absent, for tasks of kind approval. */
  readonly approved?: boolean
  readonly selectedOptionId?: string
  readonly textValue?: string
  readonly numberValue?: number
  readonly metadata?: JsonObject
  readonly text?: string
  /** Alias of text. */
  readonly message?: string
  readonly files?: readonly FileItem[]
  /** An email address; kept as a claim, never used as an identity. */
  readonly completedByEmail?: string
}

export interface FileItem {
  readonly svcFile: true
  readonly objectKey: string
  readonly filename?: string
  readonly mediaType?: string
}

export interface MessageAccepted {
  readonly status: RunStatusWord
  /** The follow-up was rejected and changed nothing. */
  readonly error?: string
  readonly userTaskId?: string
  /** Why the follow-up was rejected, for programs. */
  readonly code?:
    | 'task_not_found'
    | 'task_already_completed'
    | 'operator_only'
    | 'invalid_value'
    | 'acknowledgement_required'
    | 'run_not_waiting'
    | 'arguments_changed'
    | 'digest_required'
    | 'not_an_approver'
    | (string & {})
  readonly duplicate?: boolean
  /** The answer to an earlier request with this Idempotency-Key. */
  readonly duplicateDelivery?: boolean
  readonly pending?: PendingAnswers
}

export interface CancelBody {
  readonly reason?: string
}

export interface Cancelled {
  readonly runId: string
  readonly status: RunStatusWord
}

export interface PresignBody {
  readonly filename: string
  readonly mediaType: string
  /** Upper bound of the upload in bytes. */
  readonly maxContentLength: number
}

export interface Presigned {
  readonly objectKey: string
  readonly uploadUrl: string
  readonly httpMethod: 'PUT'
  readonly requiredHeaders: Readonly<Record<string, string>>
  readonly expiresInSeconds: number
}

export interface FinalizeBody {
  readonly objectKey: string
  readonly maxContentLength: number
  readonly filename?: string
  readonly mediaType?: string
}

export interface Finalized {
  readonly objectKey: string
  /** The last segment of objectKey; what a FileReference names. */
  readonly filename: string
  readonly mediaType: string
  readonly sizeBytes: number
  readonly alreadyFinalized: boolean
}

export interface Health {
  readonly status: 'ready'
}
