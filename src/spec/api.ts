/**
 * Bodies of every route, as they travel: the types that `scripts/openapi.js` writes from `schemas/openapi.yaml`, under the
 * names that the code has for them. Statuses are open unions, so that a client compiled today reads what is added tomorrow.
 * Source: HTTP API, "Resources and their fields" and "Endpoints".
 */
import type { JsonObject, JsonValue } from '../base/json/json.ts'

export type {
  CancelBody,
  Conversation,
  Error as ErrorBody,
  FileItem,
  Finalized,
  FinalizeBody,
  MessageAccepted,
  MessageBody,
  PendingAnswer,
  PresignBody,
  Presigned,
  RunStatus as RunStatusBody,
  RunSummary,
  Session as SessionBody,
  SessionList,
  SessionListItem,
  StartRunBody,
  StartRunResponse,
  StreamEvent,
  TaskItem,
  TaskList,
  TimelineItem,
  ValueReference,
} from './generated/api.ts'

/** Body of `UserTaskReq.content` and of `task` in user_task events. Source: decisions, section 8. */
export type TaskContent = {
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
  readonly policies?: JsonObject[]
  readonly authority_ref?: string
  /** The effect key of the call, and the earlier call with it: `tool`, `run_id`, `agent`, `version`, `at`, `outcome` and others. */
  readonly effect?: { readonly key: string; readonly previous?: JsonObject }
  /** Who handed over the arguments that a policy asked about, by path: `input`, `person`, `tool:acme.crm.lookup` and others. */
  readonly sources?: { readonly [path: string]: string[] }
  readonly approvals_required?: number
  readonly approvals_received?: number
  /** Who edited the arguments, and the decision if the policies decided again. The last edit is `arguments`. */
  readonly edits?: {
    readonly edited_by: string
    readonly edited_at: string
    readonly arguments_digest: string
    readonly decision?: string
  }[]
  readonly comprehension_required?: boolean
  readonly context?: JsonObject
  readonly options?: { readonly id: string; readonly label: string }[]
  readonly min?: number
  readonly max?: number
  readonly on_reject?: string
  readonly on_modify?: string
  readonly expires_at?: string
  /** What happens when nobody answers until then: `deny`, `allow` or `escalate`. */
  readonly on_timeout?: string
  readonly completable_via: string[]
}
