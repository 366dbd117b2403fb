/**
 * Sends what a receiver refuses as a whole in halves: it may be too much for one request, or one of it may be bad, which takes no other
 * one away. Source: docs/design/telemetry.md#when-a-receiver-is-away
 */
import type { ExportOutcome } from './exporters.ts'

/** Requests for what was to be one. Who refuses everything gets no flood of them. */
const MOST_REQUESTS = 24

export interface PartsOutcome<T> {
  /** Of the last request that was not taken, else of the whole. */
  readonly outcome: ExportOutcome
  /** What the receiver will never take. */
  readonly refused: readonly T[]
  /** How many from the beginning on need not be sent again. */
  readonly settled: number
}

/** @param withinMs in which parts are begun; the last one may end later */
export async function sendInParts<T>(
  items: readonly T[],
  send: (part: readonly T[]) => Promise<ExportOutcome>,
  withinMs: number,
): Promise<PartsOutcome<T>> {
  const begun = performance.now()
  const refused: T[] = []
  let last: ExportOutcome = { at: 'sent' }
  let [settled, requests] = [0, 0]
  const parts: (readonly T[])[] = [items]
  for (let part = parts.shift(); part; part = parts.shift()) {
    const outcome = await send(part)
    requests++
    if (outcome.at !== 'sent') last = outcome
    if (outcome.at === 'away') break
    const isLeft = requests + parts.length + 2 <= MOST_REQUESTS && performance.now() - begun < withinMs
    if (outcome.at === 'refused' && outcome.isOfContent && part.length > 1 && isLeft) {
      const half = Math.ceil(part.length / 2)
      parts.unshift(part.slice(0, half), part.slice(half))
      continue
    }
    if (outcome.at === 'refused') refused.push(...part)
    settled += part.length
  }
  return { outcome: last, refused, settled }
}
