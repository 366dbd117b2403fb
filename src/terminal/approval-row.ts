/** The rows of a card: texts with their place, and fenced values, folded where they are long. */
import type { CardRow } from '../view/task/task-card.ts'
import type { CardValue } from '../view/task/card-values.ts'
import { shortenText } from '../base/text/cut-text.ts'
import { foldText, padText, wrapText } from './text.ts'
import type { TextStyle, Theme } from './theme.ts'
import { widthOf } from './width.ts'
import { onlyItem } from '../base/values/collections.ts'

/** Longer names stand above their value. */
const LONGEST_NAME = 16

interface DrawnRow {
  readonly lines: readonly string[]
  /** Number of values of which a part is not shown. */
  readonly folded: number
}

export interface StyledText {
  readonly text: string
  readonly style: TextStyle
}

export const plainText: TextStyle = (text) => text

const LABEL = 9

/**
 * A row of the card, with its label at the left.
 * @param valueLines most lines of one value; infinite shows all
 * @param asideLines most lines of a value that is not what is approved; its rest needs nobody who opens it
 */
export function drawApprovalRow(
  theme: Theme,
  row: CardRow,
  width: number,
  valueLines: number,
  asideLines: number,
): DrawnRow {
  const label = (at: number): string => theme.dim(padText(at === 0 ? row.label : '', LABEL))
  const room = width - 1 - LABEL
  if (!('values' in row)) return drawText(theme, row, room, valueLines, label)
  const { values } = row
  // The arguments stand at the edge: they are what is decided.
  const left = row.label === 'with' ? '' : `${' '.repeat(LABEL)} `
  if (values.length === 0) return { lines: [`${label(0)} ${theme.dim('no arguments')}`], folded: 0 }
  const inside = width - left.length - 4
  const longestName = Math.min(LONGEST_NAME, Math.floor(inside / 3))
  const names = Math.max(...values.map(({ name }) => widthOf(name)).filter((each) => each <= longestName), 0)
  const most = row.isAside ? asideLines : valueLines
  const drawn = values.map((value) => drawValue(theme, value, names, inside, most, row.isAside))
  return {
    lines: drawn
      .flatMap(({ lines }) => lines)
      .map((line, at) => `${left === '' ? '' : `${label(at)} `}${theme.dim('┆')} ${line}`),
    folded: drawn.reduce((sum, { folded }) => sum + folded, 0),
  }
}

function styleOf(theme: Theme, emphasis: Extract<CardRow, { readonly text: string }>['emphasis']): TextStyle {
  if (emphasis === 'danger') return (each) => theme.strong(theme.bad(each))
  return emphasis ? theme[emphasis] : plainText
}

function drawText(
  theme: Theme,
  { text, emphasis, place }: Extract<CardRow, { readonly text: string }>,
  room: number,
  valueLines: number,
  label: (at: number) => string,
): DrawnRow {
  const style = styleOf(theme, emphasis)
  const whole = wrapText(text, room)
  const notice = describeFold(theme, text.length, room)
  const hasFolded = whole.length > valueLines + notice.length
  const lines = hasFolded ? whole.slice(0, valueLines) : whole
  const beside = place !== undefined && !hasFolded && widthOf(lines.at(-1) ?? '') + 3 + widthOf(place) <= room
  const below = place === undefined || beside ? [] : wrapText(place, room)
  return {
    lines: [
      ...lines.map((line, at) => style(line) + (beside && at === lines.length - 1 ? `   ${theme.dim(place)}` : '')),
      ...(hasFolded ? notice : []),
      ...below.map(theme.dim),
    ].map((line, at) => `${label(at)} ${line}`),
    folded: hasFolded ? 1 : 0,
  }
}

/** Lines of the note that replaces the rest of a value; a rest of no more lines is shown. */
const describeFold = ({ waiting }: Theme, characters: number, width: number): string[] =>
  wrapText(`… folded, ${characters} characters: [v]iew whole`, width).map(waiting)

/** `▸ name  value   note`, with the value wrapped under itself; a long name stands above its value. */
function drawValue(
  theme: Theme,
  value: CardValue,
  names: number,
  room: number,
  valueLines: number,
  isAside = false,
): DrawnRow {
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
  const notice = isAside ? [] : describeFold(theme, text.length, inside)
  const hasFolded = all.length > valueLines + notice.length
  const shown = hasFolded ? all.slice(0, valueLines) : all
  if (hasFolded && isAside) shown.push(...shown.splice(-1).map((end) => shortenText(end, end.length - 1)))
  const style: TextStyle = weights.length > 0 ? theme.strong : plainText
  const notes = describeNotes(theme, value)
  const noteText = notes.map((each) => each.text).join('  ')
  const only = hasFolded || noteText === '' ? undefined : onlyItem(shown)
  const beside = only !== undefined && widthOf(only) + 3 + widthOf(noteText) <= inside
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
    folded: hasFolded && !isAside ? 1 : 0,
  }
}

const MARKS = { deciding: '▸', money: '·', recipient: '→' } as const

/** Describes a value, and adds the comparison that stopped the call, with its place. */
function describeNotes({ waiting, dim, strong }: Theme, { weights = [], unit, limit, place }: CardValue): StyledText[] {
  const money = weights.includes('money') && unit === undefined ? 'money' : undefined
  const kind = weights.includes('recipient') ? 'recipient' : money
  return [
    ...(kind === undefined ? [] : [{ text: kind, style: strong }]),
    ...(limit === undefined ? [] : [{ text: `← ${limit}`, style: waiting }]),
    ...(place === undefined ? [] : [{ text: place, style: dim }]),
  ]
}
