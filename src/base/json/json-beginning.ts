import { EXTERNAL_JSON } from './json.ts'

const CLOSER: Readonly<Record<string, string>> = { '{': '}', '[': ']' }

/**
 * Completes the beginning of a JSON text, where the rest is missing, to a JSON text: it closes what is open, keeps what an
 * unfinished text value has so far, and drops a last key or number that may be unfinished. Reads at most `EXTERNAL_JSON.maxLevels`
 * levels. Undefined where nothing can be kept. A text that is no JSON gives a text that is none either.
 */
export function completeJson(beginning: string): string | undefined {
  let closers = ''
  /** Up to here the text can be kept, if what was open there is closed. */
  let kept: { readonly end: number; readonly closers: string } | undefined
  /** The next text is a key. */
  let isKey = false
  for (let at = 0; at < beginning.length; at++) {
    const char = beginning.charAt(at)
    if (char === '"') {
      const end = endOfText(beginning, at)
      if (end === undefined) {
        if (!isKey) return `${withoutPartialEscape(beginning.slice(0, at), beginning.slice(at))}"${closers}`
        break
      }
      at = end
      if (!isKey) kept = { end: at + 1, closers }
    } else if (char === '{' || char === '[') {
      if (closers.length === EXTERNAL_JSON.maxLevels) break
      closers = CLOSER[char] + closers
      isKey = char === '{'
      kept = { end: at + 1, closers }
    } else if (char === '}' || char === ']') {
      closers = closers.slice(1)
      kept = { end: at + 1, closers }
      isKey = false
      if (closers === '') break
    } else if (char === ',') {
      kept = { end: at, closers }
      isKey = closers.startsWith('}')
    } else if (char === ':') isKey = false
  }
  return kept && beginning.slice(0, kept.end) + kept.closers
}

/** Offset of the quote that ends the text which starts at `from`; undefined where it does not end. */
function endOfText(text: string, from: number): number | undefined {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '"') return at
    if (text[at] === '\\') at++
  }
  return undefined
}

/** Drops an escape at the end that is not complete, or half of a pair of escapes. */
const withoutPartialEscape = (before: string, open: string): string =>
  before + open.slice(0, endOfWholeEscapes(open)).replace(/[\uD800-\uDBFF]$/, '')

/** By a loop: a regular expression that repeats over megabytes can run out of stack. */
function endOfWholeEscapes(open: string): number {
  let at = 1
  /** Where half of a pair of escapes begins that ends at `at`. */
  let half: number | undefined
  while (at < open.length) {
    const isEscape = open[at] === '\\'
    const end = isEscape ? at + (open[at + 1] === 'u' ? 6 : 2) : at + 1
    if (end > open.length) break
    half = isEscape && /^\\u[dD][89abAB]/.test(open.slice(at, end)) ? at : undefined
    at = end
  }
  return half ?? at
}
