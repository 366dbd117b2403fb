/** Opens the channels of the configuration, and what sends to them. */
import { randomInt } from 'node:crypto'
import { createEgress } from '../../../base/net/egress.ts'
import type { OwnListeners } from '../../../base/net/own-listeners.ts'
import type { NotifyConfig } from '../../../spec/project/config.ts'
import type { RuntimeOptions } from '../options.ts'
import type { ServerServices } from '../services.ts'
import { openChannel, timeoutOfChannel } from '../../notify/channels.ts'
import type { RouteHandler } from '../../http/route.ts'
import type { NoticeDesk } from '../../notify/channel.ts'
import { createNoticeDelivery, type NoticeDelivery } from '../../notify/delivery.ts'

export interface OpenNotify {
  readonly delivery: NoticeDelivery
  /** By name: the channels to which receivers send requests. */
  readonly receivers: ReadonlyMap<string, RouteHandler>
}

export function openNotify(
  notify: NotifyConfig,
  services: ServerServices,
  { config: { network }, configDirectory, env }: Pick<RuntimeOptions, 'config' | 'configDirectory' | 'env'>,
  ownListeners: OwnListeners,
  desk: NoticeDesk,
): OpenNotify {
  const { store, workspace, redactor, log, serverState, clock } = services
  // As for an `http` tool of the configuration: no redirect is followed, and no listener of ours is reached.
  const fetch = createEgress({ from: 'config', allowedHosts: network?.allowed_hosts ?? [], ownListeners })
  const parts = { env, configDirectory, fetch, clock, redactor, workspace: workspace.name, desk }
  const channels = Object.entries(notify.channels).map(([name, channel]) => ({
    name,
    config: channel,
    timeoutMs: timeoutOfChannel(channel),
    channel: openChannel(channel, { ...parts, name }),
  }))
  const delivery = createNoticeDelivery({
    store,
    workspaceId: workspace.id,
    redactor,
    consoleUrl: () => serverState.consoleUrl,
    log,
    random: () => randomInt(2 ** 32) / 2 ** 32,
    channels,
  })
  const receivers = channels.flatMap(({ name, channel: { receive } }) => (receive ? [[name, receive] as const] : []))
  return { delivery, receivers: new Map(receivers) }
}
