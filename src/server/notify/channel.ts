/** What a kind of channel has to be able to do. Source: docs/design/notifications.md#channels */
import type { Clock, Instant } from '../../base/clock.ts'
import type { FetchFunction } from '../../base/net/transport.ts'
import type { TaskId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json/json.ts'
import type { Redactor } from '../../base/secret.ts'
import type { OperatorKey } from '../../spec/people/key.ts'
import type { ChannelConfig } from '../../spec/project/config.ts'
import type { StoredNotice } from '../../spec/notice.ts'
import type { ShownTask, TaskRecord } from '../../spec/task.ts'
import type { RouteHandler } from '../http/route.ts'

/** A notice as it leaves. */
export interface NoticeMessage {
  readonly notice: StoredNotice
  /** The JSON of webhooks and commands: `type`, `timestamp` and `data`; the same for every try, unless what it tells of has changed. */
  readonly body: string
  /** The console's page of what it tells of; absent without a console. */
  readonly link?: string
  /** The task, where the channel may see its content. */
  readonly task?: ShownTask
}

export type TryOutcome =
  | { readonly at: 'delivered'; readonly receipt?: JsonObject }
  /** Another try may succeed. */
  | { readonly at: 'failed'; readonly why: string; readonly retryAfterMs?: number; readonly receipt?: JsonObject }
  /** No further try can succeed before somebody does something. */
  | { readonly at: 'refused'; readonly why: string; readonly receipt?: JsonObject }
  /** Another notice has to have an outcome first. It counts as no try. */
  | { readonly at: 'later'; readonly afterMs: number }
  /** It says nothing any more. */
  | { readonly at: 'moot' }

export interface NoticeChannel {
  /** Notices of one try: 1 where each is sent alone. */
  readonly mostAtOnce: number
  /**
   * Never rejects for what a receiver does; a rejection counts as a failed try.
   * @returns one outcome for all, or one for each in their order
   */
  send(messages: readonly NoticeMessage[], signal: AbortSignal): Promise<TryOutcome | readonly TryOutcome[]>
  /** Requests of the receiver, at `POST /notify/KIND/CHANNEL`; absent where nothing comes back. */
  readonly receive?: RouteHandler
}

export interface ChannelParts {
  readonly name: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Directory of the config file. */
  readonly configDirectory: string
  readonly fetch: FetchFunction
  readonly clock: Clock
  readonly redactor: Redactor
  readonly timeoutMs: number
  /** The name of the workspace, for subjects. */
  readonly workspace: string
  readonly desk: NoticeDesk
}

export type DeskTask = ShownTask & Pick<TaskRecord, 'separationOfDuties' | 'approverRole'>

/** What a person clicked, and who that is. */
export interface DecidingClick {
  readonly taskId: TaskId
  /** Digest of what the person was shown. */
  readonly seen: string
  readonly approved: boolean
  readonly comment?: string
  readonly email: string
  /** Of this person; not empty. */
  readonly credentials: readonly OperatorKey[]
  readonly channel: 'slack' | 'email'
  /** Of the client, where it is the person's. */
  readonly address?: string | null
  /** Uses up what may decide once, when nothing else stands against the decision. @returns false where it was used before */
  readonly useUp?: () => Promise<boolean>
}

/** A page on which one person decides one task once. */
export interface DecisionLink {
  readonly url: string
  readonly expiresAt: Instant
}

/** What channels read of tasks and people, and decide for people. */
export interface NoticeDesk {
  /** The task as it is now, redacted, with its people; undefined where it was deleted. */
  readTask(id: TaskId): Promise<DeskTask | undefined>
  /** @returns why nothing was decided, in words; undefined where it was */
  decide(click: DecidingClick): Promise<string | undefined>
  /** What channels were told of a task, in order. */
  noticesOf(id: TaskId): Promise<readonly StoredNotice[]>
  /** Credentials of people that are valid now. */
  listPeople(): Promise<readonly OperatorKey[]>
  /** The page of a task; undefined without a console. */
  linkOf(id: TaskId): string | undefined
  /** A link for one person, for what the task shows now; undefined without a console. */
  createDecisionLink(task: DeskTask, email: string, withinMs: number): Promise<DecisionLink | undefined>
}

/** Opens a channel whose configuration has its key. */
export type OpenChannel = (config: ChannelConfig, parts: ChannelParts) => NoticeChannel

export const failedTry = (why: string, retryAfterMs?: number): Extract<TryOutcome, { at: 'failed' }> => ({
  at: 'failed',
  why,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
})

export const refusedTry = (why: string): Extract<TryOutcome, { at: 'refused' }> => ({ at: 'refused', why })
