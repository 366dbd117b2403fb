/**
 * Cuts text to a length. Text that is stored, sent or logged is cut here only: `slice` alone can split a pair of UTF-16 code units,
 * and databases, vendors and JSON parsers refuse the half that is left.
 */

export interface CutText {
  /** Well-formed Unicode, at most as long as was asked. */
  readonly text: string
  /** How many UTF-16 code units were left out; 0 where nothing was. */
  readonly cut: number
}

/**
 * The start or the end of a text, of at most `most` UTF-16 code units. A pair that the limit would split is left out; a half that
 * the text already had becomes U+FFFD. Redact a text before you cut it: half a secret is not recognized.
 */
export function cutText(text: string, most: number, keep: 'start' | 'end' = 'start'): CutText {
  if (text.length <= most) return { text: text.toWellFormed(), cut: 0 }
  const at = keep === 'start' ? Math.max(0, most) : text.length - Math.max(0, most)
  // The pair around the limit belongs to neither side.
  const isPair = isHighHalf(text.charCodeAt(at - 1)) && isLowHalf(text.charCodeAt(at))
  const kept = keep === 'start' ? text.slice(0, isPair ? at - 1 : at) : text.slice(isPair ? at + 1 : at)
  return { text: kept.toWellFormed(), cut: text.length - kept.length }
}

/**
 * The start of a text, and a mark where something was left out.
 * @param mark is added to the `most` code units; as a function, it says how many were left out
 */
export function shortenText(text: string, most: number, mark: string | ((cut: number) => string) = '…'): string {
  const { text: kept, cut } = cutText(text, most)
  return cut === 0 ? kept : kept + (typeof mark === 'string' ? mark : mark(cut))
}

/** Whether a UTF-16 code unit is the first half of a pair. */
export const isHighHalf = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

const isLowHalf = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff
