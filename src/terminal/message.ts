/** Breaks messages for people into the lines of a terminal, so that no word, no command and no code frame is torn. */
import { foldText } from './text.ts'
import { widthOf } from './width.ts'

/**
 * The text with its long lines broken between words, and what follows indented. Columns with at least three spaces between
 * them break first. A command stays on one line, which the terminal wraps, so that it can be copied; so do code frames.
 * @param text may have styles, which take no columns
 * @param width columns; infinite for a pipe
 */
export function wrapMessage(text: string, width: number): string {
  if (!Number.isFinite(width)) return text
  return text
    .split('\n')
    .flatMap((line) => (widthOf(line) <= width || CODE_FRAME.test(line) ? [line] : wrapLongLine(line, width)))
    .join('\n')
}

const CODE_FRAME = /^ *\d* \| /

/** A sequence that sets a style; widths count it as nothing. */
const STYLE = String.raw`(?:\u001b\[[\d;]*m)*`

/** What a person copies into a shell. */
const COMMAND = new RegExp(String.raw`^${STYLE}(?:svc|npm|npx|cd|curl|docker|export|git|patch) `)

/** A mark or a label with its gap, below which nothing else stands: `  fix:  `, `next:  `, `10:41:02  `. */
const LABEL = new RegExp(String.raw`^( *${STYLE}\S{1,12}?${STYLE} {2,})\S`)

const GAP = / {3,}/

const NAMED = new RegExp(String.raw`^${STYLE}[a-z]+: `)

/** A number and its unit are one word. */
const WORD = / *(?:\(?[\d.]+ (?:ms|s|min|tokens)\b\S*|\S+)/g

/** JSON may be broken anywhere; ids, paths and addresses stay whole. */
const piecesOf = (word: string, width: number): string[] =>
  /^[[{]/.test(word) && widthOf(word) > width ? foldText(word, width) : [word]

function wrapLongLine(line: string, width: number): string[] {
  const indent = line.search(/[^ ]|$/)
  const label = LABEL.exec(line)?.[1] ?? ''
  const beside = widthOf(label)
  const hang = ' '.repeat(beside > 0 && beside <= width / 3 ? beside : Math.min(indent + 2, Math.floor(width / 4)))
  // Columns that name themselves, as `fix: …   docs: …`, stand below one another.
  const isNamed = NAMED.test(line.slice(indent))
  const lines: string[] = []
  let current = label === '' ? ' '.repeat(indent) : label
  let isEmpty = true
  const startLine = (column = ''): void => {
    lines.push(current.trimEnd())
    current = isNamed && NAMED.test(column) ? ' '.repeat(indent) : hang
    isEmpty = true
  }
  const put = (part: string, gap: string): void => {
    if (!isEmpty && widthOf(current) + gap.length + widthOf(part) > width) startLine(part)
    current += isEmpty ? part : gap + part
    isEmpty = false
  }
  for (const column of line.slice(label === '' ? indent : label.length).split(GAP)) {
    const room = width - (isEmpty ? widthOf(current) : hang.length)
    if (COMMAND.test(column) || widthOf(column) <= room) put(column, '   ')
    else {
      if (!isEmpty) startLine(column)
      for (const [word] of column.matchAll(WORD))
        for (const piece of piecesOf(word.trimStart(), width - hang.length))
          put(piece, isEmpty ? '' : ' '.repeat(word.search(/\S/)))
    }
  }
  lines.push(current.trimEnd())
  return lines
}
