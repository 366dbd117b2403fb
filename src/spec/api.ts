/**
 * Bodies of every route, as they travel: the types that `scripts/openapi.js` writes from `schemas/openapi.yaml` for the client
 * library, which imports nothing from here, under the names that the code has for them. Statuses are open unions, so that a client
 * compiled today reads what is added tomorrow.
 * Source: docs/design/http.md#what-is-demanded
 */
import type { JsonObject } from '../base/json/json.ts'
import type {
  Conversation as ApiConversation,
  StreamEventBase,
  TimelineItemBase,
} from '../../clients/typescript/src/generated/api.ts'

export type {
  CancelBody,
  CompletionAccepted,
  CompletionBody,
  ErrorBody,
  FileItem,
  FileReference,
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
  SessionPatch,
  SignalBody,
  StepProgressEvent,
  StartRunBody,
  StartRunResponse,
  TaskContent,
  TaskItem,
  TaskList,
  ValueReference,
} from '../../clients/typescript/src/generated/api.ts'

/** An item as the engine writes it and the screens read it; the document types its content by its type. */
export type TimelineItem = TimelineItemBase & { readonly content: unknown }
export type Conversation = Omit<ApiConversation, 'items'> & { readonly items: readonly TimelineItem[] }
/** An event as the server sends it; the document types its data by its subject. */
export type StreamEvent = StreamEventBase & { readonly data: JsonObject }
