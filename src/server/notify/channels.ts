/** The kinds of channels. Another kind is a file, a line here, and a key of `channel` in `schemas/config.schema.json`. */
import { parseDuration } from '../../base/duration.ts'
import type { ChannelConfig } from '../../spec/project/config.ts'
import type { ChannelParts, NoticeChannel, OpenChannel } from './channel.ts'
import { openCommandChannel } from './command.ts'
import { openEmailChannel } from './email.ts'
import { openSlackChannel } from './slack/slack.ts'
import { openTeamsChannel } from './teams.ts'
import { openWebhookChannel } from './webhook.ts'

const CHANNEL_KINDS = {
  webhook: { open: openWebhookChannel },
  command: { open: openCommandChannel },
  email: { open: openEmailChannel },
  slack: { open: openSlackChannel, followsTasks: true },
  teams: { open: openTeamsChannel },
} satisfies Readonly<Partial<Record<keyof ChannelConfig, KindOfChannel>>>

interface KindOfChannel {
  readonly open: OpenChannel
  /** It changes what it sent of a task when the task changes. */
  readonly followsTasks?: boolean
}

type ChannelKind = keyof typeof CHANNEL_KINDS

const DEFAULT_TIMEOUT = '10s'

/** The schema allows exactly one kind. */
export const kindOfChannel = (config: ChannelConfig): ChannelKind =>
  (Object.keys(CHANNEL_KINDS) as ChannelKind[]).find((kind) => config[kind] !== undefined)!

export const followsTasks = (config: ChannelConfig): boolean => {
  const kind: KindOfChannel = CHANNEL_KINDS[kindOfChannel(config)]
  return kind.followsTasks === true
}

export const timeoutOfChannel = ({ timeout = DEFAULT_TIMEOUT }: ChannelConfig): number => parseDuration(timeout)!

export const openChannel = (config: ChannelConfig, parts: Omit<ChannelParts, 'timeoutMs'>): NoticeChannel =>
  CHANNEL_KINDS[kindOfChannel(config)].open(config, { ...parts, timeoutMs: timeoutOfChannel(config) })
