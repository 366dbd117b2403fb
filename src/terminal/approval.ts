import { wrapMessage } from './message.ts'
import type { KeyedCard } from '../spec/view/task-actions.ts'
import { describeApprover, type CardRow, type CardValue } from '../spec/view/task-card.ts'
import type { Canvas } from './screen.ts'
import { safeText } from '../base/escape-text.ts'
import { widthOf } from './width.ts'
import { foldText, padText, wrapText } from './text.ts'
import { formatDuration } from './time.ts'
import type { TextStyle, Theme } from './theme.ts'

/** Most lines of one value; a longer one is folded. */
const VALUE_LINES = 8

/** Longer names stand above their value. */
const LONGEST_NAME = 16

/** Wider text is harder to read. */
const WIDEST_CARD = 120

export interface ApprovalLayout {
  /** Most lines of one value; infinite shows all. */
  readonly valueLines?: number
  /** Instead of the keys, such as the outcome; styled and safe. */
  readonly footer?: string
  /** Lines above the keys, such as a history or a refusal; styled and safe. */
  readonly below?: readonly string[]
  /** True while the keys are not offered yet: their place is kept. */
  readonly isEarly?: boolean
}

export interface DrawnApproval {
  readonly lines: readonly string[]
  /** True if part of a value is not shown. */
  readonly hasFolded: boolean
  /** Lines at the end that are `below` and the keys. */
  readonly tail: number
}

/**
 * The card of a task. Values are fenced, so that they cannot imitate other lines of the card.
 * Source: command line, 2.4 and 2.5.
 */
export function drawApproval(canvas: Canvas, card: KeyedCard, layout: ApprovalLayout = {}): DrawnApproval {
  if (canvas.isAccessible) return { lines: describeApproval(card, layout), hasFolded: false, tail: 1 }
  const { theme } = canvas
  const { title, sideEffect, isIrreversible, deadline, rows, actions } = card
  const { valueLines = VALUE_LINES, footer, below = [], isEarly = false } = layout
  const width = Math.max(30, Math.min(canvas.width, WIDEST_CARD))
  const edge = (text: string): string => `${theme.waiting('│')} ${text}`
  const head = [
    { text: title, style: theme.strong },
    ...(sideEffect === undefined
      ? []
      : [{ text: sideEffect, style: isIrreversible ? (text: string) => theme.strong(theme.warn(text)) : plain }]),
    ...(deadline === undefined ? [] : [{ text: deadline, style: theme.waiting }]),
  ]
  const drawn = rows.map((row) => drawRow(theme, row, width - 2, valueLines))
  const keys = actions.map(({ key, label, decides }) => {
    const text = `[${key}]${label.slice(key.length)}`
    return decides ? theme.strong(text) : text
  })
  const offered = footer === undefined ? joinWords(keys, width - 2) : wrapMessage(footer, width - 2).split('\n')
  const last = isEarly ? offered.map((_, at) => (at === 0 ? theme.dim('keys in a moment') : '')) : offered
  return {
    lines: [
      ...joinStyled(theme, head, width - 2).map((line, at) => `${theme.waiting(at === 0 ? '┌' : '│')} ${line}`),
      ...drawn.flatMap(({ lines }) => lines).map(edge),
      ...below.map(edge),
      ...last.map((line, at) => `${theme.waiting(at === last.length - 1 ? '└' : '│')} ${line}`),
    ],
    hasFolded: drawn.some(({ hasFolded }) => hasFolded),
    tail: below.length + last.length,
  }
}

/** The card in at most `rows` lines: values are folded further where it is too high, then the middle is left out. */
export function fitApproval(canvas: Canvas, card: KeyedCard, rows: number, layout: ApprovalLayout = {}): DrawnApproval {
  for (const valueLines of [layout.valueLines ?? VALUE_LINES, 4, 2, 1]) {
    const drawn = drawApproval(canvas, card, { ...layout, valueLines })
    if (drawn.lines.length <= rows || canvas.isAccessible) return drawn
  }
  const { lines, tail } = drawApproval(canvas, card, { ...layout, valueLines: 1 })
  const end = Math.min(tail, rows - 2)
  const kept = Math.max(1, rows - end - 1)
  const hidden = lines.length - kept - end
  const notice = canvas.theme.waiting(`… ${hidden} more lines: [v]iew whole`)
  return {
    lines: [...lines.slice(0, kept), `${canvas.theme.waiting('│')} ${notice}`, ...lines.slice(lines.length - end)],
    tail: end,
    hasFolded: true,
  }
}

interface DrawnRow {
  readonly lines: readonly string[]
  readonly hasFolded: boolean
}

interface StyledText {
  readonly text: string
  readonly style: TextStyle
}

const plain: TextStyle = (text) => text

/** Parts side by side with ` · ` between them, each whole on a line where that is possible. */
function joinStyled({ dim }: Theme, parts: readonly StyledText[], width: number): string[] {
  const lines: string[] = []
  let columns = 0
  for (const { text, style } of parts) {
    const isFirst = lines.length === 0
    if (!isFirst && columns + 3 + widthOf(text) <= width) {
      lines[lines.length - 1] += `${dim(' · ')}${style(text)}`
      columns += 3 + widthOf(text)
      continue
    }
    const pieces = wrapText(text, width)
    lines.push(...pieces.map(style))
    columns = widthOf(pieces.at(-1) ?? '')
  }
  return lines
}

/** Words of a line two spaces apart, none broken. */
function joinWords(words: readonly string[], width: number): string[] {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last !== undefined && widthOf(last) + 2 + widthOf(word) <= width) lines[lines.length - 1] = `${last}  ${word}`
    else lines.push(word)
  }
  return lines
}

const LABEL = 9

function drawRow(theme: Theme, row: CardRow, width: number, valueLines: number): DrawnRow {
  const label = (at: number): string => theme.dim(padText(at === 0 ? row.label : '', LABEL))
  const room = width - 1 - LABEL
  if (!('values' in row)) return drawText(theme, row, room, valueLines, label)
  const { values } = row
  // The arguments stand at the edge: they are what is decided.
  const left = row.label === 'with' ? '' : `${' '.repeat(LABEL)} `
  if (values.length === 0) return { lines: [`${label(0)} ${theme.dim('no arguments')}`], hasFolded: false }
  const inside = width - left.length - 4
  const longestName = Math.min(LONGEST_NAME, Math.floor(inside / 3))
  const names = Math.max(...values.map(({ name }) => widthOf(name)).filter((each) => each <= longestName), 0)
  const drawn = values.map((value) => drawValue(theme, value, names, inside, valueLines))
  return {
    lines: drawn
      .flatMap(({ lines }) => lines)
      .map((line, at) => `${left === '' ? '' : `${label(at)} `}${theme.dim('┆')} ${line}`),
    hasFolded: drawn.some(({ hasFolded }) => hasFolded),
  }
}

function drawText(
  theme: Theme,
  { text, emphasis, place }: Extract<CardRow, { readonly text: string }>,
  room: number,
  valueLines: number,
  label: (at: number) => string,
): DrawnRow {
  const style: TextStyle = emphasis ? theme[emphasis] : plain
  const whole = wrapText(text, room)
  const notice = describeFold(theme, text.length, room)
  const hasFolded = whole.length > valueLines + notice.length
  const lines = hasFolded ? whole.slice(0, valueLines) : whole
  const last = lines.at(-1)!
  const beside = place !== undefined && !hasFolded && widthOf(last) + 3 + widthOf(place) <= room
  const below = place === undefined || beside ? [] : wrapText(place, room)
  return {
    lines: [
      ...lines.map((line, at) => style(line) + (beside && at === lines.length - 1 ? `   ${theme.dim(place)}` : '')),
      ...(hasFolded ? notice : []),
      ...below.map(theme.dim),
    ].map((line, at) => `${label(at)} ${line}`),
    hasFolded,
  }
}

/** Lines of the note that replaces the rest of a value; a rest of no more lines is shown. */
const describeFold = ({ waiting }: Theme, characters: number, width: number): string[] =>
  wrapText(`… folded, ${characters} characters: [v]iew whole`, width).map(waiting)

/** `▸ name  value   note`, with the value wrapped under itself; a long name stands above its value. */
function drawValue(theme: Theme, value: CardValue, names: number, room: number, valueLines: number): DrawnRow {
  const { name, text, lines: block, weights = [], unit } = value
  const isAbove = widthOf(name) > names
  const left = name === '' ? 0 : names + 2
  const inside = Math.max(10, room - left)
  const mark =
    weights[0] === undefined
      ? '  '
      : `${(weights[0] === 'deciding' ? theme.waiting : theme.strong)(MARKS[weights[0]])} `
  const all =
    block === undefined
      ? foldText(unit === undefined ? text : `${text} ${unit}`, inside)
      : block.flatMap((line) => wrapText(line, inside - 2).map((piece) => `┊ ${piece}`))
  const notice = describeFold(theme, text.length, inside)
  const hasFolded = all.length > valueLines + notice.length
  const shown = hasFolded ? all.slice(0, valueLines) : all
  const style: TextStyle = weights.length > 0 ? theme.strong : plain
  const notes = describeNotes(theme, value)
  const noteText = notes.map((each) => each.text).join('  ')
  const beside =
    shown.length === 1 && !hasFolded && noteText !== '' && widthOf(shown[0]!) + 3 + widthOf(noteText) <= inside
  const body = [
    ...shown.map((line) => style(line)),
    ...(hasFolded ? notice : []),
    ...(beside ? [] : notes.flatMap((each) => wrapText(each.text, inside).map(each.style))),
  ]
  if (beside) body[0] += `   ${notes.map((each) => each.style(each.text)).join('  ')}`
  const head = name === '' ? '' : theme.dim(padText(isAbove ? '' : name, left))
  const indent = '  '
  return {
    lines: [
      ...(isAbove ? foldText(name, room).map((piece, at) => (at === 0 ? mark : indent) + theme.dim(piece)) : []),
      ...body.map((line, at) =>
        at === 0 && !isAbove ? `${mark}${head}${line}` : `${indent}${' '.repeat(left)}${line}`,
      ),
    ],
    hasFolded,
  }
}

const MARKS = { deciding: '▸', money: '·', recipient: '→' } as const

/** Describes a value, and adds the comparison that stopped the call, with its place. */
function describeNotes({ waiting, dim, strong }: Theme, { weights = [], unit, limit, place }: CardValue): StyledText[] {
  const kind = weights.includes('recipient')
    ? 'recipient'
    : weights.includes('money') && unit === undefined
      ? 'money'
      : undefined
  return [
    ...(kind === undefined ? [] : [{ text: kind, style: strong }]),
    ...(limit === undefined ? [] : [{ text: `← ${limit}`, style: waiting }]),
    ...(place === undefined ? [] : [{ text: place, style: dim }]),
  ]
}

/** The card for a screen reader: one statement per line, nothing drawn, nothing folded, every value in one line. */
function describeApproval(
  { title, sideEffect, deadline, rows, actions }: KeyedCard,
  { footer, below = [], isEarly = false }: ApprovalLayout,
): string[] {
  const keys =
    footer ?? `keys: ${actions.map(({ key, label }) => (key === label ? key : `${key} ${label}`)).join(', ')}`
  return [
    [title, sideEffect, deadline].filter((each) => each !== undefined).join(', '),
    ...rows.flatMap((row) => {
      if (!('values' in row)) {
        const text = row.text.replaceAll('\n', String.raw`\n`)
        return [`${row.label}: ${text}${row.place === undefined ? '' : `, ${row.place}`}`]
      }
      const label = row.label === 'with' ? 'argument' : row.label
      return row.values.map(({ name, text, weights = [], unit, limit, place }) =>
        [
          `${label}${name === '' ? '' : ` ${name}`}: ${text}${unit === undefined ? '' : ` ${unit}`}`,
          ...weights.filter((each) => each !== 'deciding'),
          ...(limit === undefined ? [] : [`stopped by ${limit}`]),
          ...(place === undefined ? [] : [place]),
        ].join(', '),
      )
    }),
    ...below,
    ...(isEarly ? [] : [keys]),
  ]
}

/** The result of a decision, for example `approved by ana@acme.example after 6 s`. */
export function drawAnswered(canvas: Canvas, outcome: string, by: string | null | undefined, afterMs?: number): string {
  const style = outcome === 'approved' || outcome === 'answered' ? canvas.theme.ok : canvas.theme.bad
  const who = by ? ` by ${safeText(describeApprover(by))}` : ''
  const when = afterMs === undefined ? '' : ` after ${formatDuration(afterMs)}`
  return `${style(safeText(outcome.replaceAll('_', ' ')))}${who}${when}`
}
