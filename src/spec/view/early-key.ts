/** When a key can be meant for a card, and what is said about one that came too early: the same in a terminal and in a browser. */
import { safeText } from '../../base/escape-text.ts'

/** Milliseconds that a card is shown before its keys decide. */
export const READING_MS = 400

/** A held key repeats for the first time within so many milliseconds, on nearly all systems. */
export const HELD_MS = 1000

const MOST_KEYS = 4

export function describeEarlyKeys(keys: readonly string[]): string {
  const names = [...new Set(keys)].slice(0, MOST_KEYS).map((key) => `"${safeText(key)}"`)
  return describeEarlyPress(names.join(', '))
}

/** @param what that was pressed */
export const describeEarlyPress = (what: string): string =>
  `Not taken: ${what} came before this could be read. Nothing was decided. Read it, then press again.`
