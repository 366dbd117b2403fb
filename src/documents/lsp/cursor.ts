/**
 * The position of a cursor in a half-written text, from lines and indentation alone: a parser fails until a line is complete.
 */
import type { DocumentKind } from '../../spec/document.ts'
import { isKind } from './field.ts'
import { readFlow, type FlowCursor } from './flow.ts'

export interface DocumentCursor {
  /** Kind of the document around the cursor. */
  readonly kind: DocumentKind | undefined
  /** Path of the mapping or list to which the line belongs; `*` stands for an item of a list. */
  readonly path: readonly string[]
  /** The key of the line, where it has one. */
  readonly key: string | undefined
  /** At a key, at the value after one, or after the dash of an item, where either may follow. */
  readonly at: 'key' | 'value' | 'item'
  /** True between brackets. */
  readonly isFlow: boolean
  /** Offsets of the word around the cursor. */
  readonly start: number
  readonly end: number
  /** Other keys of the same mapping. */
  readonly siblings: ReadonlySet<string>
  /** Lines of the document around the cursor. */
  readonly lines: readonly string[]
}

/** The dash of an item or a key, with its column. */
interface Opener {
  readonly column: number
  readonly name: string
}

interface CursorLine {
  readonly openers: readonly Opener[]
  /** What follows the last opener. */
  readonly rest: string
  /** Column where the rest begins. */
  readonly column: number
}

const KEY = /^("[^"]*"|'[^']*'|[^\s#:"'{}[\],&*!|>%@`-][^:#{}[\],]*?)\s*:(?=\s|$)/

export function cursorAt(text: string, offset: number): DocumentCursor {
  const before = text.slice(0, offset).split('\n')
  const all = text.split(/\r?\n/)
  const number = before.length - 1
  const column = before.at(-1)?.length ?? 0
  const first = all.findLastIndex((line, at) => at < number && isBreak(line)) + 1
  const next = all.findIndex((line, at) => at >= number && at >= first && isBreak(line))
  const lines = all.slice(first, next < 0 ? undefined : next)
  const here = number - first
  const flow = flowIn(text, lines, first, offset)
  if (flow !== undefined) return { ...flow, kind: kindIn(lines), isFlow: true, lines }
  const line = lines[here] ?? ''
  const lineStart = offset - column
  const owner = textOwner(lines, here, column)
  if (owner !== undefined) {
    const {
      at: ownerAt,
      openers,
      key: { column: own, name },
    } = owner
    const dashes = openers.filter((each) => each.name === ITEM)
    const [start, end] = wordAround(line, column, Math.max(0, line.search(/\S|$/)))
    return {
      kind: kindIn(lines),
      path: pathTo(lines, ownerAt, own, dashes),
      key: name,
      at: 'value',
      isFlow: false,
      start: lineStart + start,
      end: lineStart + end,
      siblings: siblingsOf(lines, ownerAt, own),
      lines,
    }
  }
  const parsed = readLine(line)
  const key = parsed.openers.at(-1)
  const named = key !== undefined && key.name !== ITEM ? key : undefined
  const dashes = parsed.openers.filter(({ name }) => name === ITEM)
  const behind = named !== undefined && column > line.indexOf(':', named.column)
  const begun = dashes.length > 0 && named === undefined ? 'item' : 'key'
  const at = behind ? 'value' : begun
  // An empty line belongs to the mapping whose indentation the cursor has.
  const own = named?.column ?? (line.trim() === '' ? column : parsed.column)
  const path = pathTo(lines, here, own, dashes)
  const [start, end] = wordAround(line, column, behind ? parsed.column : own)
  return {
    kind: kindIn(lines),
    path,
    key: named?.name,
    at,
    isFlow: false,
    start: lineStart + start,
    end: lineStart + end,
    siblings: siblingsOf(lines, here, own),
    lines,
  }
}

/**
 * The line of the key whose text, of several lines, goes on in the line of the cursor: a block behind `|` or `>`, or a plain
 * or quoted text. Undefined where the cursor is in no such text.
 */
function textOwner(lines: readonly string[], here: number, column: number): TextOwner | undefined {
  let blockEnd = -1
  for (const [at, line] of lines.slice(0, here).entries()) {
    // A block text has no keys.
    if (at <= blockEnd) continue
    const { openers, rest } = readLine(line)
    const key = openers.at(-1)
    if (key === undefined || key.name === ITEM || !/^[^[{#&*!]/.test(rest)) continue
    const isBlock = /^[|>]/.test(rest)
    const last = lastLineOf(lines, at, key.column)
    const isEmpty = lines[here]?.trim() === ''
    if (here <= last && (!isEmpty || (isBlock && column > key.column))) return { at, openers, key }
    if (isBlock) blockEnd = last
  }
  return undefined
}

interface TextOwner {
  readonly at: number
  readonly openers: readonly Opener[]
  readonly key: Opener
}

/** The last line of the text that begins in a line, below a key at this column. */
function lastLineOf(lines: readonly string[], at: number, column: number): number {
  const end = lines.findIndex((line, other) => other > at && !goesOn(line, column))
  return (end < 0 ? lines.length : end) - 1
}

const goesOn = (line: string, above: number): boolean => line.trim() === '' || line.search(/\S/) > above

/** The cursor inside brackets that are open at its offset; undefined outside of brackets. */
function flowIn(text: string, lines: readonly string[], first: number, offset: number): FlowCursor | undefined {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)].slice(first)
  /** Lines before this offset belong to a block text or to brackets that are closed. */
  let readTo = 0
  for (const [at, line] of lines.entries()) {
    const start = starts[at] ?? text.length
    if (start >= offset) break
    if (start < readTo) continue
    const { openers, rest, column } = readLine(line)
    const named = openers.at(-1)
    // Skips block texts: a bracket in them opens nothing.
    if (/^[|>]/.test(rest)) readTo = starts[lastLineOf(lines, at, named?.column ?? -1) + 1] ?? text.length
    const begin = start + column
    if (!/^[[{]/.test(rest) || begin >= offset) continue
    const flow = readFlow(text, begin, offset)
    if (typeof flow !== 'number') {
      const own = named === undefined ? column : named.column
      const dashes = openers.filter(({ name }) => name === ITEM)
      const key = named === undefined || named.name === ITEM ? [] : [named.name]
      return {
        ...flow,
        path: [...pathTo(lines, at, named?.name === ITEM ? column : own, dashes), ...key, ...flow.path],
      }
    }
    readTo = flow
  }
  return undefined
}

/** The names of the keys below a key at the top level: `secrets`. */
export function keysBelow(lines: readonly string[], name: string): string[] {
  const margin = marginOf(lines)
  const read = lines.map(readLine)
  const at = read.findIndex((line) => isAt(line, margin, name))
  if (at < 0) return []
  const rest = read[at]?.rest ?? ''
  if (rest.startsWith('{')) {
    // Read from before the first key, the siblings are all keys.
    const flow = readFlow(`{ ${[rest.slice(1), ...lines.slice(at + 1)].join('\n')}`, 0, 1)
    return typeof flow === 'number' ? [] : [...flow.siblings]
  }
  const found: string[] = []
  let indent: number | undefined
  for (const line of lines.slice(at + 1)) {
    const { openers } = readLine(line)
    const first = openers[0]
    if (first === undefined) continue
    if (first.column <= margin) break
    indent ??= first.column
    if (first.column === indent && first.name !== ITEM) found.push(first.name)
  }
  return found
}

/** The column of the keys at the top level: whole documents may be indented. */
function marginOf(lines: readonly string[]): number {
  for (const line of lines) {
    const [first] = readLine(line).openers
    if (first !== undefined) return first.column
  }
  return 0
}

const isAt = ({ openers: [first] }: CursorLine, column: number, name: string): boolean =>
  first?.column === column && first.name === name

const ITEM = '*'

const isBreak = (line: string): boolean => /^(?:---|\.\.\.)(?:\s|$)/.test(line)

function kindIn(lines: readonly string[]): DocumentKind | undefined {
  const margin = marginOf(lines)
  for (const line of lines) {
    const read = readLine(line)
    const found = isAt(read, margin, 'kind') ? /^["']?(\w+)/.exec(read.rest)?.[1] : undefined
    if (isKind(found)) return found
  }
  const text = lines.join('\n')
  const isFlow = /^(?:\s|#.*\n)*\{/.test(text)
  const found = isFlow ? /(?<!\w)(["']?)kind\1\s*:\s*["']?(\w+)/.exec(text)?.[2] : undefined
  return isKind(found) ? found : undefined
}

function readLine(line: string): CursorLine {
  const openers: Opener[] = []
  let column = line.length - line.trimStart().length
  for (;;) {
    const dash = /^-(?:\s+|$)/.exec(line.slice(column))
    if (dash === null) break
    openers.push({ column, name: ITEM })
    column += dash[0].length
  }
  const rest = line.slice(column)
  const key = rest.startsWith('#') ? null : KEY.exec(rest)
  if (key === null) return { openers: rest.startsWith('#') ? [] : openers, rest, column }
  openers.push({ column, name: key[0].replace(/\s*:$/, '').replace(/^["']|["']$/g, '') })
  const value = line.slice(column + key[0].length)
  return { openers, rest: value.trimStart(), column: column + key[0].length + value.length - value.trimStart().length }
}

function pathTo(lines: readonly string[], here: number, own: number, dashes: readonly Opener[]): string[] {
  const path: string[] = []
  let limit = own
  let inList = false
  const open = ({ column, name }: Opener): void => {
    // The items of a list may stand under its key, at the same column.
    if (column >= limit && !(inList && name !== ITEM && column === limit)) return
    path.unshift(name)
    limit = column
    inList = name === ITEM
  }
  for (const dash of [...dashes].reverse()) open(dash)
  for (const line of lines.slice(0, here).reverse())
    for (const opener of [...readLine(line).openers].reverse()) open(opener)
  return path
}

/** The part of a value or a key around the cursor. */
function wordAround(line: string, column: number, from: number): [number, number] {
  const start = Math.min(from, column)
  const rest = line.slice(column)
  const comment = rest.search(/\s#|:(?:\s|$)/)
  const end = comment < 0 ? rest.trimEnd().length : comment
  return [start, column + end]
}

function siblingsOf(lines: readonly string[], here: number, column: number): ReadonlySet<string> {
  const found = new Set<string>()
  const visitLine = (at: number): boolean => {
    const { openers } = readLine(lines[at] ?? '')
    const key = openers.find((each) => each.name !== ITEM)
    const first = openers[0]
    if (first === undefined) return true
    if (key?.column === column && at !== here) found.add(key.name)
    return first.column >= column
  }
  // A line with a dash begins its item, so lines above it belong to other mappings.
  if (!readLine(lines[here] ?? '').openers.some(({ name, column: at }) => name === ITEM && at < column))
    for (let at = here - 1; at >= 0 && visitLine(at); at--);
  for (let at = here + 1; at < lines.length; at++) {
    const first = readLine(lines[at] ?? '').openers[0]
    if (first !== undefined && first.column < column) break
    visitLine(at)
  }
  return found
}
