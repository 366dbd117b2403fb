/**
 * Notices as webhooks, signed by the convention of Standard Webhooks: the id is the same for every try, so that a receiver knows a
 * repetition. Source: docs/design/notifications.md#webhooks
 */
import { createHmac } from 'node:crypto'
import type { ChannelConfig } from '../../spec/project/config.ts'
import { retryAfterMs } from '../../base/retry.ts'
import { failedTry, type ChannelParts, type NoticeChannel, type TryOutcome } from './channel.ts'

const KEY = /^whsec_([A-Za-z0-9+/]+={0,2})$/
/** Bytes of a key, as the convention asks for them. */
const KEY_BYTES = { least: 24, most: 64 }
const GONE = 410

export function openWebhookChannel(config: ChannelConfig, parts: ChannelParts): NoticeChannel {
  const { url, secrets } = config.webhook!
  return {
    mostAtOnce: 1,
    async send([message], signal) {
      const { notice, body } = message!
      const keys: Buffer[] = []
      for (const { fromEnv } of secrets) {
        const key = readKey(parts.env[fromEnv])
        if (!key)
          return failedTry(
            `the environment variable ${fromEnv} of the server has no key of the form whsec_BASE64 with 24 to 64 bytes`,
          )
        keys.push(key)
      }
      const timestamp = Math.floor(parts.clock.now() / 1000)
      const response = await parts.fetch(url, {
        method: 'POST',
        redirect: 'manual',
        signal,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'svc',
          'webhook-id': notice.id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': signWebhook(keys, notice.id, timestamp, body),
        },
        body,
      })
      // Only the status counts, so an answer of any length costs nothing.
      await response.body?.cancel()
      return toTryOutcome(response, parts)
    },
  }
}

function toTryOutcome({ status, headers }: Response, { clock }: ChannelParts): TryOutcome {
  if (status >= 200 && status < 300) return { at: 'delivered' }
  if (status === GONE) return { at: 'refused', why: 'it answered 410: the address takes no webhooks any more' }
  const redirect = status >= 300 && status < 400 ? ', a redirect, which is not followed' : ''
  return failedTry(`it answered ${status}${redirect}`, retryAfterMs(headers.get('retry-after'), clock.now()))
}

function readKey(text: string | undefined): Buffer | undefined {
  const key = Buffer.from(KEY.exec(text?.trim() ?? '')?.[1] ?? '', 'base64')
  return key.byteLength >= KEY_BYTES.least && key.byteLength <= KEY_BYTES.most ? key : undefined
}

/** A signature for each key, so that receivers with the old and with the new one accept it. */
export const signWebhook = (keys: readonly Buffer[], id: string, timestamp: number, body: string): string =>
  keys.map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`).join(' ')
