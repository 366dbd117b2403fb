/** When a card counts as read: one rule and one wording for a terminal and a browser. Source: docs/design/approvals.md#keys-that-decide */
import type { ShownTask } from '../../spec/task.ts'
import type { TaskCard } from './task-card.ts'

/** Time that a card is shown before its keys decide. */
const READING_MS = 400

/** A held key repeats for the first time within this time, on nearly all systems. */
const HELD_MS = 1000

/**
 * Milliseconds until a key can be meant for the card; zero or less once it can. The second key of a double press decides
 * nothing, nor does a key that is still held.
 * @param shownAt when the card was drawn, by the same clock as the others
 * @param typedAt when a deciding key was last typed; `-Infinity` for never
 */
export const untilKeysDecide = (shownAt: number, typedAt: number, now: number): number =>
  Math.max(shownAt + READING_MS, typedAt + HELD_MS) - now

/** Said beside the keys where some came earlier than that. Not escaped. */
export const describeEarlyKeys = (keys: readonly string[]): string =>
  describeEarlyPress(keys.map((key) => `"${key}"`).join(', '))

/** @param what was pressed */
export const describeEarlyPress = (what: string): string =>
  `Too early: ${what} decided nothing. Read it, then press again.`

/** True where an approval needs every folded value opened, and shown to its end: nobody approves what was not shown whole. */
export const mustBeOpened = (
  { needsSecondAct }: Pick<TaskCard, 'needsSecondAct'>,
  { comprehensionRequired }: Pick<ShownTask, 'comprehensionRequired'>,
): boolean => needsSecondAct || comprehensionRequired === true

/** Long values of a card that nobody can have read whole. */
export interface UnreadValues {
  /** How many are folded. */
  readonly folded: number
  /** How many were opened, and not yet shown to their end. */
  readonly opened: number
}

/** Said in place of an approval while there are any. */
export const describeUnread = ({ folded, opened }: UnreadValues): string =>
  folded > 0 ? `Open ${nameValues(folded, 'folded')} first.` : `Read ${nameValues(opened, 'opened')} to the end first.`

const nameValues = (count: number, state: string): string =>
  count === 1 ? `the ${state} value` : `the ${count} ${state} values`
