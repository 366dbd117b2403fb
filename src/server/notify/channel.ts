/** What a kind of channel has to be able to do. Source: docs/design/notifications.md#channels */
import type { Clock } from '../../base/clock.ts'
import type { FetchFunction } from '../../base/net/transport.ts'
import type { Redactor } from '../../base/secret.ts'
import type { ChannelConfig } from '../../spec/config.ts'
import type { StoredNotice } from '../../spec/notice.ts'
import type { ShownTask } from '../../spec/task.ts'

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
  | { readonly at: 'delivered' }
  /** Another try may succeed. */
  | { readonly at: 'failed'; readonly why: string; readonly retryAfterMs?: number }
  /** The receiver wants no more of them. */
  | { readonly at: 'refused'; readonly why: string }

export interface NoticeChannel {
  /** Notices of one try: 1 where each is sent alone. */
  readonly mostAtOnce: number
  /** Never rejects for what a receiver does; a rejection counts as a failed try. */
  send(messages: readonly NoticeMessage[], signal: AbortSignal): Promise<TryOutcome>
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
}

/** Opens a channel whose configuration has its key. */
export type OpenChannel = (config: ChannelConfig, parts: ChannelParts) => NoticeChannel

export const failedTry = (why: string, retryAfterMs?: number): TryOutcome => ({
  at: 'failed',
  why,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
})
