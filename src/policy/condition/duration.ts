/** Durations of conditions, such as `10m`. */
import { parseDuration } from '../../base/duration.ts'

const DAY_MS = 86_400_000
/** The longest first. */
const UNITS = [
  ['d', DAY_MS],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const
/** A leap year: history is not kept for longer. */
const LONGEST_MS = 366 * DAY_MS

/** Milliseconds, or undefined when the text is not a duration between 1 ms and 366 days. */
export function readDuration(text: string): number | undefined {
  const milliseconds = text.length > 32 ? undefined : parseDuration(text)
  return milliseconds !== undefined && milliseconds >= 1 && milliseconds <= LONGEST_MS ? milliseconds : undefined
}

/** The shortest text of the same duration in one unit. */
export function writeDuration(milliseconds: number): string {
  const [unit, length] = UNITS.find(([, length]) => milliseconds % length === 0) ?? ['ms', 1]
  return `${milliseconds / length}${unit}`
}
