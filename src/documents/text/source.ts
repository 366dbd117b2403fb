/** A place in a file: line and column from 1, offset from 0, columns and offsets in UTF-16 code units. */
import { countLeading } from '../../base/values/collections.ts'
export interface TextPosition {
  readonly line: number
  readonly column: number
  readonly offset: number
}

/** From `start` up to, not including, `end`. */
export interface TextSpan {
  readonly start: TextPosition
  readonly end: TextPosition
}

/** The text of a file, with positions in it. */
export interface SourceText {
  /** Relative to the workspace, `/` separated. */
  readonly path: string
  /** Without a byte order mark. */
  readonly text: string
  span(start: number, end: number): TextSpan
  /** Offset at which a line begins, from 1; undefined beyond the end. */
  lineStart(number: number): number | undefined
  /** Text of a line, from 1, without its line break; empty beyond the end. */
  line(number: number): string
}

export const createSource = (path: string, text: string): SourceText => new SourceBuffer(path, text)

class SourceBuffer implements SourceText {
  readonly path: string
  readonly text: string
  /** Offsets of line starts, computed on first use. */
  #starts: readonly number[] | undefined

  constructor(path: string, text: string) {
    this.path = path
    this.text = text
  }

  span(start: number, end: number): TextSpan {
    return { start: this.#position(start), end: this.#position(Math.max(start, end)) }
  }

  lineStart(number: number): number | undefined {
    return this.#lines()[number - 1]
  }

  line(number: number): string {
    const lines = this.#lines()
    const start = lines[number - 1]
    if (start === undefined) return ''
    let end = lines[number] ?? this.text.length
    while (end > start && isBreak(this.text.charCodeAt(end - 1))) end--
    return this.text.slice(start, end)
  }

  #lines(): readonly number[] {
    return (this.#starts ??= lineStarts(this.text))
  }

  #position(offset: number): TextPosition {
    const lines = this.#lines()
    const at = Math.max(0, Math.min(offset, this.text.length))
    const line = countLeading(lines, (start) => start <= at)
    return { line, column: at - (lines[line - 1] ?? 0) + 1, offset: at }
  }
}

const isBreak = (code: number): boolean => code === 0x0a || code === 0x0d

/** YAML breaks lines at LF, CR LF and CR. */
function lineStarts(text: string): number[] {
  const starts = [0]
  if (!text.includes('\r')) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
    return starts
  }
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x0a || (code === 0x0d && text.charCodeAt(at + 1) !== 0x0a)) starts.push(at + 1)
  }
  return starts
}

/** Converts line breaks to those of the file. */
export const withLineBreaksOf = ({ text: file }: SourceText, text: string): string =>
  file.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text

/** Decodes bytes of any encoding well enough to search for words. */
export function decodeLoosely(bytes: Uint8Array | undefined): string {
  const text = new TextDecoder('latin1').decode(bytes).replace(/^(?:ÿþ|þÿ)/, '')
  return text.includes('\0') ? text.replaceAll('\0', '') : text
}
