/** Durations of conditions, such as `10m`. */
import { parseDuration } from '../../base/duration.ts'

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** A leap year: history is not kept for longer. */
const LONGEST_MS = 366 * UNITS.d

/** Milliseconds, or undefined when the text is not a duration between 1 ms and 366 days. */
export function readDuration(text: string): number | undefined {
  const milliseconds = text.length > 32 ? undefined : parseDuration(text)
  return milliseconds !== undefined && milliseconds >= 1 && milliseconds <= LONGEST_MS ? milliseconds : undefined
}

/** The shortest text of the same duration in one unit. */
export function writeDuration(milliseconds: number): string {
  const [unit, length] = Object.entries(UNITS)
    .toReversed()
    .find(([, length]) => milliseconds % length === 0)!
  return `${milliseconds / length}${unit}`
}
