import { digestOfJson } from '../base/digest.ts'
import { describeApprover, type CardRow, type CardValue, type TaskCard } from '../spec/task-card.ts'
import type { Canvas } from './screen.ts'
import { safeText } from '../base/escape-text.ts'
import { widthOf } from './width.ts'
import { foldText, padText, wrapText } from './text.ts'
import { formatDuration } from './time.ts'
import type { TextStyle } from './theme.ts'

/** Most lines of one value; a longer one is cut and shown with its digest. */
const VALUE_LINES = 8

/** Longer names stand above their value. */
const LONGEST_NAME = 16

/**
 * The card of a task. Values are fenced, so that they cannot imitate other lines of the card.
 * Source: command line, 2.4 and 2.5.
 */
export function drawApproval(canvas: Canvas, { title, deadline, rows, actions }: TaskCard): string[] {
  const { theme } = canvas
  const width = Math.max(30, Math.min(canvas.width, 120))
  const whole = deadline === undefined ? title : `${title} · ${deadline}`
  const fits = widthOf(whole) <= width - 2
  const keys = actions.map(({ key, label }) => `[${key}]${label.slice(key.length)}`).join('  ')
  return [
    ...wrapText(fits ? whole : title, width - 2).map(
      (line, at) => `${theme.waiting(at === 0 ? '┌' : '│')} ${theme.strong(line)}`,
    ),
    ...rows.flatMap((row) => drawRow(canvas, row, width)),
    ...(deadline === undefined || fits ? [] : drawRow(canvas, { label: 'until', text: deadline }, width)),
    ...wrapText(keys, width - 2).map(
      (line, at, all) => `${theme.waiting(at === all.length - 1 ? '└' : '│')} ${theme.strong(line)}`,
    ),
  ]
}

const LABEL = 9

function drawRow({ theme }: Canvas, row: CardRow, width: number): string[] {
  const edge = theme.waiting('│')
  const label = (at: number): string => theme.dim(padText(at === 0 ? row.label : '', LABEL))
  const room = width - 3 - LABEL
  if ('values' in row) {
    const { values } = row
    if (values.length === 0) return [`${edge} ${label(0)} ${theme.dim('no arguments')}`]
    const longestName = Math.min(LONGEST_NAME, Math.floor(room / 3))
    const names = Math.max(...values.map(({ name }) => widthOf(name)).filter((each) => each <= longestName), 0)
    return values
      .flatMap((value) => drawValue(value, names, room - 2))
      .map((line, at) => `${edge} ${label(at)} ${theme.dim('┆')} ${line}`)
  }
  const style: TextStyle = row.emphasis ? theme[row.emphasis] : (text) => text
  const lines = wrapText(row.text, room)
  const { place } = row
  const last = lines.at(-1)!
  const beside = place !== undefined && widthOf(last) + 3 + widthOf(place) <= room
  return [
    ...lines.map(
      (line, at) =>
        `${edge} ${label(at)} ${style(line)}${beside && line === last && at === lines.length - 1 ? `   ${theme.dim(place)}` : ''}`,
    ),
    ...(place !== undefined && !beside
      ? wrapText(place, room).map((line) => `${edge} ${label(1)} ${theme.dim(line)}`)
      : []),
  ]
}

/** `name  value` with the value wrapped under itself; a long name stands above its value. */
function drawValue({ name, text, value }: CardValue, names: number, room: number): string[] {
  const above = widthOf(name) > names
  const left = name === '' ? 0 : names + 2
  const lines = foldText(text, Math.max(10, room - left))
  const shown = lines.slice(0, VALUE_LINES)
  if (lines.length > VALUE_LINES) {
    const hidden = lines.slice(VALUE_LINES).reduce((sum, line) => sum + line.length, 0)
    shown.push(`… ${hidden} more characters, ${digestOfJson(value).slice(0, 19)}…`)
  }
  const head = above || name === '' ? ' '.repeat(left) : padText(name, left)
  const body = shown.flatMap((line, at) =>
    wrapText(line, room - left).map((part, nth) => (at + nth === 0 ? head : ' '.repeat(left)) + part),
  )
  return above ? [...foldText(name, room), ...body] : body
}

/** The result of a decision, for example `approved by ana@acme.example after 6 s`. */
export function drawAnswered(canvas: Canvas, outcome: string, by: string | null | undefined, afterMs?: number): string {
  const style = outcome === 'approved' || outcome === 'answered' ? canvas.theme.ok : canvas.theme.bad
  const who = by ? ` by ${safeText(describeApprover(by))}` : ''
  const when = afterMs === undefined ? '' : ` after ${formatDuration(afterMs)}`
  return `${style(safeText(outcome.replaceAll('_', ' ')))}${who}${when}`
}
