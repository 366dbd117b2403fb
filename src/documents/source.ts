/** A place in a file: line and column from 1, offset from 0, columns and offsets in UTF-16 code units. */
export interface Position {
  readonly line: number
  readonly column: number
  readonly offset: number
}

/** From `start` up to, not including, `end`. */
export interface Span {
  readonly start: Position
  readonly end: Position
}

/** The author's own text, and where its lines begin. */
export interface Source {
  /** Relative to the workspace, `/` separated. */
  readonly path: string
  /** Without a byte order mark. */
  readonly text: string
  span(start: number, end: number): Span
  /** Offset at which a line begins, from 1; undefined beyond the end. */
  lineStart(number: number): number | undefined
  /** Text of a line, from 1, without its line break; empty beyond the end. */
  line(number: number): string
}

export function createSource(path: string, text: string): Source {
  let starts: number[] | undefined
  const lines = (): number[] => (starts ??= lineStarts(text))
  const position = (offset: number): Position => {
    const table = lines()
    const at = Math.max(0, Math.min(offset, text.length))
    let low = 0
    let high = table.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (table[middle]! <= at) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: at - table[low]! + 1, offset: at }
  }
  return {
    path,
    text,
    span: (start, end) => ({ start: position(start), end: position(Math.max(start, end)) }),
    lineStart: (number) => lines()[number - 1],
    line(number) {
      const start = lines()[number - 1]
      if (start === undefined) return ''
      return text.slice(start, lines()[number] ?? text.length).replace(/[\r\n]+$/, '')
    },
  }
}

/** YAML breaks lines at LF, CR LF and CR. */
function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x0a || (code === 0x0d && text.charCodeAt(at + 1) !== 0x0a)) starts.push(at + 1)
  }
  return starts
}

/** Text of bytes in whatever encoding, to be looked through for words. */
export function looseText(bytes: Uint8Array | undefined): string {
  const text = new TextDecoder('latin1').decode(bytes).replace(/^(?:ÿþ|þÿ)/, '')
  return text.includes('\0') ? text.replaceAll('\0', '') : text
}
