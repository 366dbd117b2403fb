/** Notices: what is told outside of svc, to whom, and how far it has come. Source: docs/design/notifications.md#the-outbox */
import type { Instant } from '../base/clock.ts'
import type { RunId, SessionId, TaskId, WorkspaceId } from '../base/ids.ts'
import type { JsonObject } from '../base/json/json.ts'

export const NOTICE_EVENTS = [
  'task.created',
  'task.expiring',
  'task.decided',
  'run.failed',
  'run.held',
  'run.reviewed',
  'deployment.changed',
  'budget.reached',
] as const
/**
 * Events that no route names. `notify.test` is sent by an operator, to see that a channel works; `task.changed` lets a channel that
 * was told of a task draw its message anew.
 */
export const UNROUTED_EVENTS = ['notify.test', 'task.changed'] as const
export type RoutedEvent = (typeof NOTICE_EVENTS)[number]
export type NoticeEvent = RoutedEvent | (typeof UNROUTED_EVENTS)[number]

/** `waiting`: to be sent, or sent again; `moot`: the task that it announced had been decided; `dead`: no try is left. */
export const NOTICE_STATES = ['waiting', 'delivered', 'moot', 'dead'] as const
export type NoticeState = (typeof NOTICE_STATES)[number]

/** A notice for one channel, as the transaction of the change itself stores it. */
export interface NewNotice {
  /** Derived from channel and thing, so that a channel is told once of a thing; `webhook-id` of every try. */
  readonly id: string
  readonly workspaceId: WorkspaceId
  readonly channel: string
  readonly event: NoticeEvent
  /** When it happened. */
  readonly at: Instant
  /** When it is sent first. */
  readonly dueAt: Instant
  /** Ids, names and classes; nothing that a person, a model or a tool wrote. */
  readonly data: JsonObject
  readonly sessionId: SessionId | null
  readonly runId: RunId | null
  readonly taskId: TaskId | null
  /** It says nothing any more once its task is decided. */
  readonly whilePending: boolean
}

export interface StoredNotice extends NewNotice {
  readonly state: NoticeState
  /** Tries that have an outcome. */
  readonly attempts: number
  /** How often a process took it, which tells the outcome of a slow process from that of the next one. */
  readonly claims: number
  readonly endedAt: Instant | null
  /** Why the last try failed; null where none did. */
  readonly error: string | null
  /** What the channel has to know to change later what it sent: ids of messages. Null where it knows nothing. */
  readonly receipt: JsonObject | null
}

/** How a try ended. A notice that waits is due again at `dueAt`. */
export interface NoticeOutcome {
  readonly id: string
  readonly claims: number
  readonly state: NoticeState
  readonly dueAt: Instant
  readonly error: string | null
  /** False for a try that was cut off before it had an outcome. */
  readonly isCounted: boolean
  /** Absent: what is stored stays. */
  readonly receipt?: JsonObject
}
