/** Lays out text on a terminal: cuts, wraps, folds and pads by columns. */
import { widthOf } from './width.ts'

/** Plain text cut to `width` columns, the last of them an ellipsis. */
export function truncateText(text: string, width: number): string {
  if (text.length <= width && widthOf(text) <= width) return text
  if (width <= 0) return ''
  let columns = 0
  let fits = 0
  let at = 0
  for (const each of graphemesOf(text)) {
    columns += widthOf(each)
    if (columns > width) return `${text.slice(0, fits)}…`
    at += each.length
    if (columns < width) fits = at
  }
  return text
}

/** Plain text in lines of at most `width` columns, broken between words where that is possible. */
export function wrapText(text: string, width: number): string[] {
  if (!Number.isFinite(width)) return text.split('\n')
  return text.split('\n').flatMap((line) => wrapLine(line, Math.max(1, width)))
}

/**
 * Plain text of one line in pieces of at most `width` columns; together they are exactly the text. Broken after a space or a
 * separator where one is near the end of the piece.
 */
export function foldText(text: string, width: number): string[] {
  const pieces: string[] = []
  let current = ''
  let columns = 0
  let breakAt = 0
  for (const each of graphemesOf(text)) {
    const next = widthOf(each)
    if (current !== '' && columns + next > width) {
      const end = breakAt > 0 ? breakAt : current.length
      pieces.push(current.slice(0, end))
      current = current.slice(end)
      columns = widthOf(current)
      breakAt = 0
    }
    current += each
    columns += next
    if (SEPARATOR.test(each) && columns >= width * NEAR_END) breakAt = current.length
  }
  return [...pieces, current]
}

const SEPARATOR = /^[ /@,;&_-]$/

/** Share of a piece after which a separator ends it: earlier ones would leave ragged lines. */
const NEAR_END = 0.5

/** Fills up to `width` columns; longer text stays as it is. */
export function padText(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)))
  return align === 'left' ? text + space : space + text
}

function wrapLine(line: string, width: number): string[] {
  if (widthOf(line) <= width) return [line]
  const lines: string[] = []
  let current = ''
  const flush = (): void => {
    lines.push(current.trimEnd())
    current = ''
  }
  for (const word of line.match(/\s+|\S+/g) ?? []) {
    if (widthOf(current) + widthOf(word) <= width) {
      current += word
      continue
    }
    if (/^\s/.test(word)) {
      flush()
      continue
    }
    if (current !== '') flush()
    lines.push(...foldText(word, width))
    current = lines.pop() ?? ''
  }
  if (current !== '') flush()
  return lines
}

function* graphemesOf(text: string): Generator<string, void, undefined> {
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)) yield segment
}
