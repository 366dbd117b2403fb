/**
 * Parses conditions on one line, `args.amount > 100 and args.country != "DE"`, into the mapping that they stand for. The
 * text form lacks `each`, `window`, `if_missing` and `within`: those need a written-out comparison.
 * Source: docs/design/policies.md#conditions
 */
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import { onlyItem } from '../../base/values/collections.ts'
import { ownMember } from '../../base/json/own-member.ts'
import { firstCodePoint } from '../../base/text/text-parts.ts'

/** A part of the text: from `start` up to, not including, `end`. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

/** A comparison, with the places of its parts. */
export interface WhenTest {
  readonly leaf: JsonObject
  readonly range: TextRange
  readonly field: TextRange
  readonly op: TextRange
  readonly value: TextRange
}

export type WhenNode =
  | { readonly all: readonly WhenNode[] }
  | { readonly any: readonly WhenNode[] }
  | { readonly not: WhenNode }
  | { readonly test: WhenTest }

/** The range of a node with everything below it. */
export function whenRange(node: WhenNode): TextRange {
  if ('test' in node) return node.test.range
  if ('not' in node) return whenRange(node.not)
  const ranges = ('all' in node ? node.all : node.any).map(whenRange)
  return { start: Math.min(...ranges.map(({ start }) => start)), end: Math.max(...ranges.map(({ end }) => end)) }
}

/** The mapping that a node stands for. */
export function whenMapping(node: WhenNode): JsonObject {
  if ('test' in node) return node.test.leaf
  if ('not' in node) return { not: whenMapping(node.not) }
  return 'all' in node ? { all: node.all.map(whenMapping) } : { any: node.any.map(whenMapping) }
}

/** JSON pointer of a part of the text below the pointer of the text itself; `partOfText` reads it. */
export const textPointer = (pointer: string, { start, end }: TextRange): string => `${pointer}@${start}:${end}`

/**
 * Resolves a pointer made by `textPointer` to the text and the range in it. A last segment `field`, `op` or `value` selects
 * that part of a comparison. Undefined for any other pointer.
 */
export function partOfText(
  pointer: string,
  textAt: (pointer: string) => string | undefined,
): { readonly pointer: string; readonly range: TextRange } | undefined {
  const [, base, start, end, name] = /^(.*\/when)@(\d+):(\d+)(?:\/(\w+))?$/s.exec(pointer) ?? []
  const text = base === undefined ? undefined : textAt(base)
  if (base === undefined || text === undefined) return undefined
  const range = { start: Number(start), end: Number(end) }
  if (name !== 'field' && name !== 'op' && name !== 'value') return { pointer: base, range }
  const read = readWhen(text)
  const test = 'node' in read ? whenTests(read.node).find(({ range: { start: at } }) => at === range.start) : undefined
  return { pointer: base, range: test?.[name] ?? range }
}

/** The comparisons from left to right. */
export function whenTests(node: WhenNode): readonly WhenTest[] {
  if ('test' in node) return [node.test]
  if ('not' in node) return whenTests(node.not)
  return ('all' in node ? node.all : node.any).flatMap(whenTests)
}

export type ReadWhen = { readonly node: WhenNode } | { readonly problem: string; readonly range: TextRange }

/** Longer texts are refused before they are parsed. */
const MAX_TEXT = 8192
/** Nested parentheses and `not`; conditions themselves are at most eight deep. */
const MAX_NESTING = 32

export function readWhen(text: string): ReadWhen {
  if (text.length > MAX_TEXT)
    return {
      problem: `A condition on one line has at most ${MAX_TEXT} characters.`,
      range: { start: 0, end: MAX_TEXT },
    }
  try {
    return { node: new WhenParser(text).parse() }
  } catch (error) {
    if (error instanceof WhenFault) return { problem: error.message, range: error.range }
    throw error
  }
}

class WhenFault extends Error {
  readonly range: TextRange
  constructor(message: string, range: TextRange) {
    super(message)
    this.range = range
  }
}

interface Token extends TextRange {
  readonly kind: 'word' | 'text' | 'number' | 'sign' | 'end'
  readonly text: string
}

/** The operators as they are written; longer signs first, so that `>=` is not read as `>`. */
const WORD_OPERATORS = ['in', 'contains', 'starts_with', 'ends_with', 'matches', 'type', 'cidr', 'semver', 'exists']
const SIGN_OPERATORS = ['==', '!=', '>=', '<=', '>', '<']
const SIGN = /^(?:==|!=|>=|<=|>|<|[()[\],])/
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/
const TEXT = /^"(?:[^"\\\n]|\\.)*"/
/** A path, up to the first sign, space or parenthesis that does not belong to it. */
const WORD = /^[A-Za-z_][\w-]*(?:\.[\w-]+|\[(?:\d+|\*|"(?:[^"\\]|\\.)*"|'[^']*')\])*/

class WhenParser {
  readonly #text: string
  #at = 0
  #token: Token
  #nesting = 0

  constructor(text: string) {
    this.#text = text
    this.#token = this.#readToken()
  }

  parse(): WhenNode {
    const node = this.#parseOr()
    if (this.#token.kind !== 'end') throw this.#expectedError('`and`, `or` or the end')
    return node
  }

  #parseOr(): WhenNode {
    const parts = [this.#parseAnd()]
    while (this.#takeWord('or')) parts.push(this.#parseAnd())
    return onlyItem(parts) ?? { any: parts }
  }

  #parseAnd(): WhenNode {
    const parts = [this.#parseNot()]
    while (this.#takeWord('and')) parts.push(this.#parseNot())
    return onlyItem(parts) ?? { all: parts }
  }

  #parseNot(): WhenNode {
    if (this.#nesting >= MAX_NESTING)
      throw new WhenFault(`Conditions are nested at most ${MAX_NESTING} deep.`, this.#token)
    this.#nesting++
    try {
      if (this.#takeWord('not')) return { not: this.#parseNot() }
      if (!this.#takeSign('(')) return { test: this.#parseComparison() }
      const inner = this.#parseOr()
      if (!this.#takeSign(')')) throw this.#expectedError('`)`')
      return inner
    } finally {
      this.#nesting--
    }
  }

  #parseComparison(): WhenTest {
    const field = this.#parsePath()
    const op = this.#parseOperator()
    const value = op.text === 'exists' ? undefined : this.#parseLiteral()
    const end = value?.range ?? op.range
    return {
      leaf: {
        field: this.#text.slice(field.start, field.end),
        op: op.text,
        ...(value !== undefined && { value: value.value }),
      },
      range: { start: field.start, end: end.end },
      field,
      op: op.range,
      value: end,
    }
  }

  /** A path, or a function of one. */
  #parsePath(): TextRange {
    const { kind, text, start } = this.#token
    if (kind !== 'word' || RESERVED.includes(text)) throw this.#expectedError('a path such as args.amount')
    this.#advance()
    let { end } = this.#last
    if (this.#token.text === '(' && this.#token.start === end) {
      this.#advance()
      // `total()` of a history path and the functions take one path.
      if (this.#token.kind !== 'word') throw this.#expectedError('a path such as args.amount')
      this.#advance()
      if (!this.#takeSign(')')) throw this.#expectedError('`)`')
      end = this.#last.end
    }
    return { start, end }
  }

  #parseOperator(): { readonly text: string; readonly range: TextRange } {
    const { kind, text, start, end } = this.#token
    const next = (): TextRange => {
      this.#advance()
      return { start, end: this.#last.end }
    }
    if (kind === 'sign' && SIGN_OPERATORS.includes(text)) return { text, range: next() }
    if (kind === 'word' && WORD_OPERATORS.includes(text)) return { text, range: next() }
    if (kind === 'word' && text === 'not') {
      this.#advance()
      if (!this.#takeWord('in')) throw this.#expectedError('`in`')
      return { text: 'not_in', range: { start, end: this.#last.end } }
    }
    if (text === '=') throw new WhenFault('Write `==` to compare.', { start, end })
    throw this.#expectedError(`an operator (${[...SIGN_OPERATORS, ...WORD_OPERATORS, 'not in'].join(', ')})`)
  }

  #parseLiteral(): { readonly value: JsonValue; readonly range: TextRange } {
    const { start } = this.#token
    if (!this.#takeSign('[')) return this.#parseScalar()
    const values: JsonValue[] = []
    if (!this.#takeSign(']')) {
      do values.push(this.#parseScalar().value)
      while (this.#takeSign(','))
      if (!this.#takeSign(']')) throw this.#expectedError('`,` or `]`')
    }
    return { value: values, range: { start, end: this.#last.end } }
  }

  #parseScalar(): { readonly value: JsonValue; readonly range: TextRange } {
    const { kind, text, start, end } = this.#token
    const range = { start, end }
    const constant = kind === 'word' ? ownMember(CONSTANTS, text) : undefined
    if (constant !== undefined) {
      this.#advance()
      return { value: constant, range }
    }
    if (kind === 'word') throw new WhenFault(`Put text in double quotes: "${text}".`, range)
    if (kind !== 'text' && kind !== 'number')
      throw this.#expectedError('a number, a text in double quotes, true, false, null or a list')
    this.#advance()
    try {
      return { value: JSON.parse(text) as JsonValue, range }
    } catch {
      throw new WhenFault(`${text} is not a ${kind === 'text' ? 'JSON string' : 'number'}.`, range)
    }
  }

  #takeWord(word: string): boolean {
    return this.#take('word', word)
  }

  #takeSign(sign: string): boolean {
    return this.#take('sign', sign)
  }

  #take(kind: Token['kind'], text: string): boolean {
    if (this.#token.kind !== kind || this.#token.text !== text) return false
    this.#advance()
    return true
  }

  #last: TextRange = { start: 0, end: 0 }

  #advance(): void {
    this.#last = this.#token
    this.#token = this.#readToken()
  }

  #readToken(): Token {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++
    const rest = this.#text.slice(this.#at)
    const start = this.#at
    const [kind, match] =
      rest === ''
        ? (['end', ''] as const)
        : (PATTERNS.flatMap(([each, pattern]) => {
            const text = pattern.exec(rest)?.[0]
            return text === undefined ? [] : [[each, text] as const]
          })[0] ?? (['sign', String.fromCodePoint(firstCodePoint(rest))] as const))
    this.#at += match.length
    return { kind, text: match, start, end: this.#at }
  }

  #expectedError(what: string): WhenFault {
    const { kind, text, start, end } = this.#token
    const seen = kind === 'end' ? 'the text ends here' : `there is ${JSON.stringify(text)}`
    return new WhenFault(`Expected ${what}; ${seen}.`, { start, end })
  }
}

const PATTERNS = [
  ['text', TEXT],
  ['number', NUMBER],
  ['word', WORD],
  ['sign', SIGN],
] as const

/** Words that cannot be paths. */
const RESERVED = ['and', 'or', 'not', 'in', 'true', 'false', 'null']

const CONSTANTS: Readonly<Record<string, JsonValue>> = { true: true, false: false, null: null }
