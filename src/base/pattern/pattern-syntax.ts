/** Parses regular expressions of JSON Schema (ECMAScript with the `u` flag) into trees. */
import { onlyItem } from '../values/collections.ts'
import { expectDefined } from '../values/expect-defined.ts'

export type PatternNode =
  /** Takes one code point; `source` is its text in the pattern. */
  | { readonly at: 'atom'; readonly source: string }
  | { readonly at: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly at: 'choice'; readonly parts: readonly PatternNode[] }
  | { readonly at: 'repeat'; readonly part: PatternNode; readonly min: number; readonly max: number }
  | { readonly at: 'start' }
  | { readonly at: 'end' }
  /** A lookahead or lookbehind: matches without consuming text. */
  | { readonly at: 'look'; readonly part: PatternNode }

/** Longer or deeper patterns are not parsed. */
const MAX_LENGTH = 4096
const MAX_DEPTH = 64

/** The tree of a pattern; undefined for one that is not valid, is too large, or has a back-reference. */
export function parsePattern(pattern: string): PatternNode | undefined {
  if (pattern.length > MAX_LENGTH) return undefined
  try {
    // The engine decides what is valid, so the parser below may assume it.
    void new RegExp(pattern, 'u')
    return new PatternParser(pattern).choice(0)
  } catch {
    return undefined
  }
}

const NOTHING: PatternNode = { at: 'sequence', parts: [] }
const GROUP = /\((?:\?(?:(<?[=!])|:|<[^>]*>))?/y
const QUANTIFIER = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y
const ESCAPE = /\\(?:u\{[\da-fA-F]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]*\}|.)/suy
const CLASS = /\[(?:[^\]\\]|\\.)*\]/suy
const ANY = /./suy

class PatternParser {
  readonly #pattern: string
  #at = 0

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  choice(depth: number): PatternNode {
    if (depth > MAX_DEPTH) throw new RangeError('The pattern is nested too deep.')
    const parts = [this.#sequence(depth)]
    while (this.#pattern[this.#at] === '|') {
      this.#at++
      parts.push(this.#sequence(depth))
    }
    return onlyItem(parts) ?? { at: 'choice', parts }
  }

  #sequence(depth: number): PatternNode {
    const parts: PatternNode[] = []
    while (this.#at < this.#pattern.length && !'|)'.includes(this.#pattern.charAt(this.#at)))
      parts.push(this.#quantified(this.#term(depth)))
    return { at: 'sequence', parts }
  }

  #term(depth: number): PatternNode {
    const group = this.#take(GROUP)
    if (group) {
      const part = this.choice(depth + 1)
      this.#at++ // the closing bracket
      return group[1] === undefined ? part : { at: 'look', part }
    }
    const [source] = expectDefined(
      this.#take(ESCAPE) ?? this.#take(CLASS) ?? this.#take(ANY),
      'any character stands for itself, and the pattern goes on',
    )
    if (source === '^') return { at: 'start' }
    if (source === '$') return { at: 'end' }
    if (source === String.raw`\b` || source === String.raw`\B`) return NOTHING
    if (/^\\[1-9k]/.test(source)) throw new RangeError('The pattern refers back to a group.')
    return { at: 'atom', source }
  }

  #quantified(part: PatternNode): PatternNode {
    const quantifier = this.#take(QUANTIFIER)
    if (!quantifier) return part
    const [text, least, comma, most] = quantifier
    if (least !== undefined) {
      const unbounded = comma ? Infinity : Number(least)
      return { at: 'repeat', part, min: Number(least), max: most ? Number(most) : unbounded }
    }
    return { at: 'repeat', part, min: text.startsWith('+') ? 1 : 0, max: text.startsWith('?') ? 1 : Infinity }
  }

  #take(what: RegExp): RegExpExecArray | undefined {
    what.lastIndex = this.#at
    const found = what.exec(this.#pattern)
    if (found) this.#at = what.lastIndex
    return found ?? undefined
  }
}
