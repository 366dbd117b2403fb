/**
 * Whether a request comes from Slack: an HMAC over its time and its body, as it came. Checked before anything of it is read.
 * Source: docs/design/notifications.md#clicks
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Instant } from '../../../base/clock.ts'

/** Older or newer requests are repetitions, or the clocks differ too much to tell. */
const MOST_APART_S = 300

export interface SlackRequest {
  readonly timestamp: string | null
  readonly signature: string | null
  readonly body: Uint8Array
}

export function isSignedBySlack({ timestamp, signature, body }: SlackRequest, secret: string, now: Instant): boolean {
  if (timestamp === null || signature === null || !/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(now / 1000 - Number(timestamp)) > MOST_APART_S) return false
  const expected = Buffer.from(signForSlack(timestamp, body, secret))
  const given = Buffer.from(signature)
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected)
}

/** `v0=` and 64 hexadecimal digits. */
export const signForSlack = (timestamp: string, body: Uint8Array, secret: string): string =>
  `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex')}`
