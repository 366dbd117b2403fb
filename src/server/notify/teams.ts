/**
 * Notices as cards in Microsoft Teams, by a workflow that takes webhooks. Nothing that comes back would prove who clicked, so a card
 * only leads to the console. Source: docs/design/notifications.md#teams
 */
import { retryAfterMs } from '../../base/retry.ts'
import type { ChannelConfig } from '../../spec/project/config.ts'
import { failedTry, refusedTry, type ChannelParts, type NoticeChannel, type TryOutcome } from './channel.ts'
import { drawTeamsCard } from './chat/draw-teams-card.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

/** Notices of one card. */
const MOST_IN_CARD = 20

export function openTeamsChannel(config: ChannelConfig, parts: ChannelParts): NoticeChannel {
  const { fromEnv } = config.teams!.url
  return {
    mostAtOnce: MOST_IN_CARD,
    async send(messages, signal) {
      const address = parts.env[fromEnv]?.trim() ?? ''
      if (!/^https?:$/.test(parseUrl(address)?.protocol ?? ''))
        return refusedTry(`the environment variable ${fromEnv} of the server has no address of a workflow`)
      const content = await drawTeamsCard(messages, config, parts.desk)
      const response = await parts.fetch(address, {
        method: 'POST',
        redirect: 'manual',
        signal,
        headers: { 'content-type': 'application/json', 'user-agent': 'svc' },
        body: JSON.stringify({
          type: 'message',
          attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
        }),
      })
      await response.body?.cancel()
      return toTryOutcome(response, fromEnv, parts)
    },
  }
}

/** What the address of a workflow answers that was deleted, switched off or given another address. */
const GONE: ReadonlySet<number> = new Set([401, 403, 404, 410])

function toTryOutcome({ status, headers }: Response, variable: string, { clock }: ChannelParts): TryOutcome {
  if (status >= 200 && status < 300) return { at: 'delivered' }
  if (GONE.has(status))
    return {
      at: 'refused',
      why: `the workflow answered ${status}: it was deleted, or switched off, or its address in ${variable} is not whole`,
    }
  const redirect = status >= 300 && status < 400 ? ', a redirect, which is not followed' : ''
  return failedTry(`the workflow answered ${status}${redirect}`, retryAfterMs(headers.get('retry-after'), clock.now()))
}
