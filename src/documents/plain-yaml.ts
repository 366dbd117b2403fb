/**
 * Reads YAML as nearly all documents are written: a key and its value on a line, blocks by indentation, quotes and brackets
 * that end on their line. A text in which anything is written in another way is left to the parser of js-yaml (`yaml.ts`).
 * That parser would say the same of what is read here; it takes twice as long, which is a tenth of a lint.
 */
import { CHOMPING_MODE, EVENT_ID, SCALAR_STYLE, getScalarValue, type ScalarEvent } from 'js-yaml'
import { isExactNumber } from '../base/exact-number.ts'
import type { JsonObject, JsonValue } from '../base/json.ts'
import { mappingAt, plainValue, scalarAt, sequenceAt, type Member, type Node } from './node.ts'

/** Roots of the documents of a text, in order; undefined where it is not read here. */
export function readPlainly(text: string): readonly Node[] | undefined {
  if (UNUSUAL.test(text)) return undefined
  try {
    return new PlainReader(text).documents()
  } catch (error) {
    if (error === LEFT) return undefined
    throw error
  }
}

/** What is thrown where a text is left. It is none of an author's errors, so nobody asks where. */
const LEFT = Symbol('left')

function leave(): never {
  throw LEFT
}

/** Tabs, controls, halves of letters, and all that other programs take for space or a line break. */
const UNUSUAL =
  /[^\n -~\u00A1-\u167F\u1681-\u1FFF\u2010-\u2027\u2030-\u205E\u2060-\u2FFF\u3001-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD]/

// Of a text whose letters are usual. Each is tried at one place, and none tries a letter in two ways.

/** Before a line's first word: empty lines, comments, indentation. */
const BLANK = /(?: *(?:#[^\n]*)?\n)* */y
/** From the last word of a line to the first of another. */
const REST = / *(?: #[^\n]*)?(?:\n(?: *(?:#[^\n]*)?\n)* *|$)/y
const KEY = /[A-Za-z][\w./-]*(?=:[ \n])/y
/** Most values of keys: words without `:` or `#`, and the indentation of the next line, which has words, too. */
const LINE = / [\w./$][ -"$-9;-~]*(?<! )\n *(?![\s#])/y
const WORDS = /(?:[^\s\-?:,[\]{}#&*!|>'"%@`]|-(?=\S))(?:[^\s:]|:(?=\S)| +(?=[^\s#]))*/y
const WORDS_IN_BRACKETS =
  /(?:[^\s\-?:,[\]{}#&*!|>'"%@`]|-(?=[^\s,[\]{}]))(?:[^\s:,[\]{}]|:(?=[^\s,[\]{}])| +(?=[^\s#,[\]{}]))*/y
const DOUBLE_QUOTED = /"(?:[^"\\\n]|\\["\\/bfnrt])*"/y
const SINGLE_QUOTED = /'(?:[^'\n]|'')*'/y
const BLOCK_HEADER = /[|>][+-]?\n\n*( *)(?=[^ \n])/y

/** Far less than what is refused. */
const MAX_DEPTH = 30
const MAX_KEYS = 1000

class PlainReader {
  readonly #text: string
  /** Where the next word begins. */
  #at = 0
  /** Its column, from 0; -1 at the end of the text. */
  #column = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  documents(): readonly Node[] {
    const roots: Node[] = []
    this.#goOn(BLANK, 0)
    if (this.#isMark()) this.#goOn(BLANK, this.#at + MARK.length)
    for (;;) {
      roots.push(this.#collection())
      if (this.#column < 0) return roots
      // So it is, too, where a word is indented further than what it should go on with: no mapping and no list is open there.
      if (!this.#isMark()) leave()
      this.#goOn(BLANK, this.#at + MARK.length)
    }
  }

  #isMark(): boolean {
    return this.#column === 0 && this.#text.startsWith(MARK, this.#at)
  }

  /** Moves to the next word. */
  #goOn(pattern: RegExp, from: number): void {
    const at = this.#end(pattern, from)
    this.#at = at
    this.#column = at === this.#text.length ? -1 : at - this.#text.lastIndexOf('\n', at - 1) - 1
  }

  /** Moves from the end of a value to the next word. */
  #finish(node: Node): Node {
    this.#goOn(REST, node.end)
    return node
  }

  /** Where that ends which begins here. */
  #end(pattern: RegExp, from: number): number {
    pattern.lastIndex = from
    if (!pattern.test(this.#text)) leave()
    return pattern.lastIndex
  }

  #collection(): Node {
    return this.#text.charCodeAt(this.#at) === DASH ? this.#sequence() : this.#mapping()
  }

  #mapping(): Node {
    const text = this.#text
    const column = this.#column
    const start = this.#at
    const value: JsonObject = {}
    const members: Member[] = []
    let last: Node
    this.#deepen()
    do {
      const from = this.#at
      const to = this.#end(KEY, from)
      const key = text.slice(from, to)
      last = this.#value(to + 1, to, column, column)
      value[key] = last.value
      members.push({ key, start: from, end: to, node: last })
    } while (this.#column === column && text.charCodeAt(this.#at) !== DASH)
    this.#depth--
    return mappingAt(start, last.end, value, distinct(value, members))
  }

  #sequence(): Node {
    const text = this.#text
    const column = this.#column
    const start = this.#at
    const value: JsonValue[] = []
    const items: Node[] = []
    let end = start + 1
    this.#deepen()
    do {
      const after = this.#at + 1
      const item = this.#item(after, end, column)
      value.push(item.value)
      items.push(item)
      end = item.end
    } while (this.#column === column && text.charCodeAt(this.#at) === DASH)
    this.#depth--
    return sequenceAt(start, end, value, items)
  }

  /** @param after where the dash ends */
  #item(after: number, empty: number, column: number): Node {
    const text = this.#text
    const code = text.charCodeAt(after)
    if (code !== SPACE && code !== LINE_FEED) leave()
    KEY.lastIndex = after + 1
    if (code !== SPACE || !KEY.test(text)) return this.#value(after, empty, column, column + 1)
    this.#at = after + 1
    this.#column = column + 2
    return this.#mapping()
  }

  /**
   * @param from where the space or the line feed stands after which a value may come
   * @param empty where that stands which is left empty
   * @param column of the mapping or sequence to which it belongs
   * @param dashes the least column of dashes that belong to it
   */
  #value(from: number, empty: number, column: number, dashes: number): Node {
    const text = this.#text
    LINE.lastIndex = from
    if (LINE.test(text)) {
      const end = text.indexOf('\n', from)
      const next = LINE.lastIndex
      if (next - end - 1 <= column) {
        this.#at = next
        this.#column = next === text.length ? -1 : next - end - 1
        return this.#words(from + 1, end, text.slice(from + 1, end))
      }
    }
    let at = from
    while (text.charCodeAt(at) === SPACE) at++
    switch (text.charCodeAt(at)) {
      case LINE_FEED:
      case HASH:
        this.#goOn(REST, from)
        if (this.#column > column || (this.#column >= dashes && text.charCodeAt(this.#at) === DASH))
          return this.#collection()
        return scalarAt(empty, empty, null, true)
      case DOUBLE_QUOTE:
      case SINGLE_QUOTE:
      case BRACKET:
      case BRACE:
        return this.#finish(this.#inBrackets(at))
      case BAR:
      case GREATER:
        return this.#block(at, column)
      default:
        return this.#lines(at, column)
    }
  }

  /** Words that may go on in further lines. */
  #lines(start: number, column: number): Node {
    const text = this.#text
    let end = this.#end(WORDS, start)
    let written = text.slice(start, end)
    for (this.#goOn(REST, end); this.#column > column; this.#goOn(REST, end)) {
      if (!/^ *\n *$/.test(text.slice(end, this.#at))) leave()
      end = this.#end(WORDS, this.#at)
      written += ` ${text.slice(this.#at, end)}`
    }
    return this.#words(start, end, written)
  }

  #words(start: number, end: number, written: string): Node {
    const value = plainValue(written)
    if (typeof value === 'number' && !isExactNumber(written)) leave()
    return scalarAt(start, end, value, true)
  }

  /** What may stand in brackets, to its end. */
  #inBrackets(start: number): Node {
    const text = this.#text
    switch (text.charCodeAt(start)) {
      case DOUBLE_QUOTE: {
        const end = this.#end(DOUBLE_QUOTED, start)
        const written = text.slice(start + 1, end - 1)
        return scalarAt(start, end, written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written, false)
      }
      case SINGLE_QUOTE: {
        const end = this.#end(SINGLE_QUOTED, start)
        return scalarAt(start, end, text.slice(start + 1, end - 1).replaceAll("''", "'"), false)
      }
      case BRACKET:
        return this.#list(start)
      case BRACE:
        return this.#pairs(start)
      default: {
        const end = this.#end(WORDS_IN_BRACKETS, start)
        return this.#words(start, end, text.slice(start, end))
      }
    }
  }

  #list(start: number): Node {
    const value: JsonValue[] = []
    const items: Node[] = []
    let at = this.#skip(start + 1)
    this.#deepen()
    for (let more = this.#text.charCodeAt(at) !== CLOSING_BRACKET; more; more = this.#hasMore(at, CLOSING_BRACKET)) {
      if (items.length > 0) at = this.#skip(at + 1)
      const item = this.#inBrackets(at)
      value.push(item.value)
      items.push(item)
      at = this.#skip(item.end)
    }
    this.#depth--
    return sequenceAt(start, at + 1, value, items)
  }

  #pairs(start: number): Node {
    const value: JsonObject = {}
    const members: Member[] = []
    let at = this.#skip(start + 1)
    this.#deepen()
    for (let more = this.#text.charCodeAt(at) !== CLOSING_BRACE; more; more = this.#hasMore(at, CLOSING_BRACE)) {
      if (members.length > 0) at = this.#skip(at + 1)
      const end = this.#end(KEY, at)
      const key = this.#text.slice(at, end)
      const node = this.#inBrackets(this.#skip(end + 1))
      value[key] = node.value
      members.push({ key, start: at, end, node })
      at = this.#skip(node.end)
    }
    this.#depth--
    return mappingAt(start, at + 1, value, distinct(value, members))
  }

  /** True where a comma stands, false where the brackets close. */
  #hasMore(at: number, closing: number): boolean {
    const code = this.#text.charCodeAt(at)
    if (code !== COMMA && code !== closing) leave()
    return code === COMMA
  }

  /** Where the next word of the line begins. */
  #skip(from: number): number {
    let at = from
    while (this.#text.charCodeAt(at) === SPACE) at++
    return at
  }

  /** `|` and `>`. */
  #block(start: number, column: number): Node {
    const text = this.#text
    BLOCK_HEADER.lastIndex = start
    const indent = BLOCK_HEADER.exec(text)?.[1]!.length ?? 0
    if (indent <= column) leave()
    const from = text.indexOf('\n', start) + 1
    const end = this.#end(indented(indent), from)
    this.#goOn(BLANK, end)
    // What is on the last line belongs to the text where it is indented further, even if it is only space.
    if (this.#column < 0 && text.endsWith(' ')) leave()
    const written = getScalarValue(text, {
      type: EVENT_ID.SCALAR,
      valueStart: from,
      valueEnd: end,
      anchorStart: -1,
      anchorEnd: -1,
      tagStart: -1,
      tagEnd: -1,
      style: text[start] === '|' ? SCALAR_STYLE.LITERAL_BLOCK : SCALAR_STYLE.FOLDED_BLOCK,
      chomping: CHOMPING[text[start + 1]!] ?? CHOMPING_MODE.CLIP,
      indent,
      fast: false,
    })
    return scalarAt(from, from + text.slice(from, end).trimEnd().length, written, false)
  }

  #deepen(): void {
    if (++this.#depth > MAX_DEPTH) leave()
  }
}

/** No key twice. */
function distinct(value: JsonObject, members: readonly Member[]): readonly Member[] {
  if (members.length > MAX_KEYS || Object.keys(value).length < members.length) leave()
  return members
}

const MARK = '---\n'

const LINE_FEED = 0x0a
const SPACE = 0x20
const DOUBLE_QUOTE = 0x22
const HASH = 0x23
const SINGLE_QUOTE = 0x27
const COMMA = 0x2c
const DASH = 0x2d
const GREATER = 0x3e
const BRACKET = 0x5b
const CLOSING_BRACKET = 0x5d
const BRACE = 0x7b
const BAR = 0x7c
const CLOSING_BRACE = 0x7d

const CHOMPING: Readonly<Record<string, ScalarEvent['chomping']>> = {
  '-': CHOMPING_MODE.STRIP,
  '+': CHOMPING_MODE.KEEP,
}

const patterns: RegExp[] = []

/** Lines that are indented so far, or empty. */
const indented = (indent: number): RegExp =>
  (patterns[indent] ??= new RegExp(`(?:(?: {${indent}}[^\\n]*| *)\\n)*`, 'y'))
