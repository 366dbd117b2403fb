/** Parts of texts around a separator, and words in a row. */
import { expectDefined } from '../values/expect-defined.ts'

/** The text before the first separator; the whole text where there is none. */
export function textBefore(text: string, separator: string): string {
  const at = text.indexOf(separator)
  return at < 0 ? text : text.slice(0, at)
}

/** The text after the last separator; the whole text where there is none. */
export function textAfterLast(text: string, separator: string): string {
  const at = text.lastIndexOf(separator)
  return at < 0 ? text : text.slice(at + separator.length)
}

/** `a`, `a or b`, `a, b or c`. */
export function joinWords(words: readonly string[], word: 'and' | 'or'): string {
  const last = words.at(-1) ?? ''
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} ${word} ${last}`
}

/** The code point of the first character of a text that is not empty. */
export const firstCodePoint = (text: string): number =>
  expectDefined(text.codePointAt(0), 'a text that is not empty has a first character')

/** The first character of a text that is not empty, as `U+200B`. */
export const codePointName = (text: string): string =>
  `U+${firstCodePoint(text).toString(16).toUpperCase().padStart(4, '0')}`
