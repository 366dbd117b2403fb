/** Cursors of lists: the start of the next page, as an opaque text. */
import { digestOf } from '../../base/digest.ts'
import { queryFailure } from './refuse.ts'

/**
 * @param list what is listed, with the id of its owner: the cursor of one list is refused by every other
 * @param position whole numbers that order the list
 */
export function toListCursor(list: string, position: readonly number[]): string {
  const text = position.join('.')
  return Buffer.from(`${text}.${checkOf(list, text)}`).toString('base64url')
}

/** @throws Failure `validation_failed` for a cursor that this list did not give */
export function readListCursor(list: string, cursor: string): readonly number[] {
  const whole = Buffer.from(cursor, 'base64url').toString()
  const at = whole.lastIndexOf('.')
  const text = whole.slice(0, at)
  const isOurs = at > 0 && whole.slice(at + 1) === checkOf(list, text) && toListCursor(list, numbersIn(text)) === cursor
  if (!isOurs) throw queryFailure('/cursor', 'must be the nextCursor of an earlier page of this list')
  return numbersIn(text)
}

const numbersIn = (text: string): readonly number[] => text.split('.').map(Number)

/** Detects altered cursors. The query checks access, so a forged cursor reveals nothing. */
const checkOf = (list: string, text: string): string => digestOf(`${list} ${text}`).slice(7, 19)
