/** When a notice is tried again. Source: docs/design/notifications.md#tries */
import type { StoredNotice } from '../../spec/notice.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** Pauses after the first to the seventh try: 20 h 57 min together, with the jitter less than 23 h. */
const PAUSES_MS = [30_000, 2 * MINUTE, 10 * MINUTE, 45 * MINUTE, 2 * HOUR, 6 * HOUR, 12 * HOUR] as const
export const MAX_TRIES = PAUSES_MS.length + 1
/** What is added to a pause at most, so that what failed together is not tried again together. */
const JITTER = 0.09
/** A receiver that asks for more is tried earlier than it asks for. */
const MAX_ASKED_MS = HOUR

/**
 * The pause after a failed try; undefined where no try is left.
 * @param random 0 to 1
 * @param askedMs what the receiver asked for (`Retry-After`)
 */
export function pauseAfterTry(
  { attempts }: Pick<StoredNotice, 'attempts'>,
  random: number,
  askedMs = 0,
): number | undefined {
  const pause = PAUSES_MS[attempts]
  return pause === undefined
    ? undefined
    : Math.max(Math.round(pause * (1 + random * JITTER)), Math.min(askedMs, MAX_ASKED_MS))
}
