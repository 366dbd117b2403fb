/**
 * Bodies of every route, as they travel. Source: HTTP API, "Resources and their fields" and "Endpoints".
 * Statuses are open unions, so that a client compiled today reads what is added tomorrow.
 */
import type { JsonObject, JsonValue } from '../base/json.ts'
import type { RunStatus } from './run.ts'

type Open<T extends string> = T | (string & {})

export interface StartRunBody {
  readonly input?: JsonObject
}

export interface StartRunResponse {
  readonly sessionId: string
  readonly runId: string
  readonly status: Open<RunStatus>
  readonly totalTokensUsed: number
  readonly output: JsonValue
  readonly error?: string
  readonly agentId?: string
  readonly triggerId?: string | null
  readonly duplicateDelivery?: boolean
}

export interface RunStatusBody {
  readonly runId: string
  readonly status: Open<RunStatus>
  readonly output: JsonValue
  readonly error?: string
  readonly errorCode?: string
  readonly sessionId: string
  readonly agentId: string
  readonly agentVersionId: string
  readonly versionLabel: string
  readonly totalTokensUsed: number
  readonly startedAt: string
  readonly finishedAt: string | null
}

export interface SessionBody {
  readonly id: string
  readonly tenantId: string
  readonly agentId: string
  readonly agentVersionId: string
  readonly llmModel: string | null
  readonly triggerType: string
  readonly triggeredBy: string | null
  readonly triggerId: string | null
  readonly triggerName: string | null
  readonly status: Open<RunStatus>
  readonly totalTokensUsed: number
  readonly output: JsonValue
  readonly error: string | null
  readonly startedAt: string
  readonly finishedAt: string | null
  readonly input: JsonValue
  readonly startContext: JsonObject | null
}

export interface SessionListItem extends SessionBody {
  readonly rootRunId: string | null
  readonly runCount: number
  readonly entryRunId: string | null
}

export interface SessionList {
  readonly items: readonly SessionListItem[]
  readonly total: number
}

export interface RunSummary {
  readonly id: string
  readonly sessionId: string
  readonly agentId: string
  readonly agentVersionId: string
  readonly parentRunId: string | null
  readonly depth: number
  readonly status: Open<RunStatus>
  readonly totalTokensUsed: number
  readonly output: JsonValue
  readonly error: string | null
  readonly startedAt: string | null
  readonly finishedAt: string | null
  readonly triggerType: string
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
  readonly sequence: number
  readonly ordinal: number
  readonly type: string
  readonly content: JsonValue
  readonly tokensUsed: number | null
  readonly error: string | null
  readonly startedAt: string | null
  readonly finishedAt: string | null
}

export interface Conversation {
  readonly session: SessionBody
  readonly runs: readonly RunSummary[]
  readonly items: readonly TimelineItem[]
}

export interface StreamEvent {
  readonly ts: string
  readonly kind: Open<'step' | 'session' | 'run' | 'user_task' | 'aitl'>
  readonly subject: string
  readonly data: JsonObject
}

export interface FileItem {
  readonly svcFile: true
  readonly objectKey: string
  readonly filename?: string
  readonly mediaType?: string
}

export interface MessageBody {
  readonly runId: string
  readonly userTaskId?: string
  readonly approved?: boolean
  readonly selectedOptionId?: string
  readonly textValue?: string
  readonly numberValue?: number
  readonly metadata?: JsonObject
  readonly text?: string
  readonly message?: string
  readonly files?: readonly FileItem[]
  readonly completedByEmail?: string
}

export interface MessageAccepted {
  readonly status: Open<RunStatus>
  readonly userTaskId?: string
  readonly error?: string
  readonly code?: string
  readonly duplicate?: boolean
}

export interface PresignBody {
  readonly filename: string
  readonly mediaType: string
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
  readonly filename: string
  readonly mediaType: string
  readonly sizeBytes: number
  readonly alreadyFinalized: boolean
}

export interface ErrorBody {
  readonly error: string
  readonly code: string
  readonly details?: readonly { readonly path: string; readonly message: string }[]
  readonly requestId: string
}

/** Body of `UserTaskReq.content` and of `task` in user_task events. Source: decisions, section 8. */
export interface TaskContent {
  readonly user_task_id: string
  readonly kind: string
  readonly title: string
  readonly prompt?: string
  readonly reason?: string
  readonly status: string
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
  readonly comprehension_required?: boolean
  readonly context?: JsonObject
  readonly options?: readonly { readonly id: string; readonly label: string }[]
  readonly min?: number
  readonly max?: number
  readonly on_reject?: string
  readonly on_modify?: string
  readonly expires_at?: string
  /** What happens when nobody answers until then: `deny`, `allow` or `escalate`. */
  readonly on_timeout?: string
  readonly completable_via: readonly string[]
}
