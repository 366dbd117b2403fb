/** Types of requests and responses, named as in the HTTP API document; they are written from the OpenAPI document. */
import type {
  Conversation,
  FileReference,
  RunSummary,
  Session,
  SessionListItem,
  TaskContent,
  TimelineItem,
} from './generated/api.ts'

export type ConversationResponse = Conversation
export type ConversationSession = Session
export type ConversationRunSummary = RunSummary
/**
 * An item of the timeline; `type` determines the type of `content`. A newer server may send other types, so a switch needs a
 * default.
 */
export type ConversationTimelineItem = TimelineItem
export type FileRef = FileReference
export type SessionItem = SessionListItem

/** The content of each type of step. */
export type StepContents = {
  readonly [T in TimelineItem['type']]: Extract<TimelineItem, { readonly type: T }>['content']
}

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
  readonly content: TaskContent
}
