/** The entry of the package: the HTTP interface for programs, in any runtime that has fetch. */
export { SvcClient } from './client.ts'
export type {
  ConversationQuery,
  MessageOptions,
  RunMessage,
  SessionsQuery,
  StartOptions,
  SvcClientOptions,
  WaitingOptions,
} from './client.ts'
export { isConflict, isNotFound, isRateLimited, SvcConnectionError, SvcError, SvcTimeoutError } from './error.ts'
export { followRun, runToEnd, type FollowRunOptions, type RunToEndOptions } from './follow-run.ts'
export { completeCall, sendSignal } from './steer.ts'
export { cancelRun, continueSession, getValue, isValueReference } from './runs.ts'
export { deleteSession, getSession, iterateSessions, updateSession } from './sessions.ts'
export { stepOf } from './step-of.ts'
export type * from './generated/api.ts'
export type * from './shapes.ts'
export type { StreamOptions } from './stream.ts'
export { answerTask, getTask, listTasks, pendingTasks, type TaskDecision, type TasksQuery } from './tasks.ts'
export type { ClientFetch, RequestInfo, RequestOptions, ResponseInfo } from './transport.ts'
export { fileItem, fileRef, type UploadedFile, type UploadOptions, type UploadSource } from './upload.ts'
export { waitForRun, type WaitOptions } from './wait.ts'
export { SvcWebhookError, verifyWebhook, type WebhookHeaders } from './webhook.ts'
export { isTerminal, isWaiting } from './run-status.ts'
