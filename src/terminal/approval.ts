import { wrapMessage } from './message.ts'
import type { KeyedCard } from '../view/task/task-actions.ts'
import type { JsonObject } from '../base/json/json.ts'
import { describeApprover, describeOrigin } from '../view/task/task-people.ts'
import type { CardRow } from '../view/task/task-card.ts'
import type { Canvas } from './screen.ts'
import { safeText } from '../base/text/escape-text.ts'
import { widthOf } from './width.ts'
import { drawApprovalRow, plainText, type StyledText } from './approval-row.ts'
import { wrapText } from './text.ts'
import { formatDuration } from './time.ts'
import type { Theme } from './theme.ts'

/** Most lines of one value; a longer one is folded. */
const VALUE_LINES = 8

/** Most lines of a value that is not what is approved. */
const ASIDE_LINES = 3

/** Wider text is harder to read. */
const WIDEST_CARD = 120

export interface ApprovalLayout {
  /** Most lines of one value; infinite shows all. */
  readonly valueLines?: number
  /** Most lines of a value that is not what is approved; infinite shows all. */
  readonly asideLines?: number
  /** Instead of the keys, such as the outcome; styled and safe. */
  readonly footer?: string
  /** Lines above the keys, such as a history or a refusal; styled and safe. */
  readonly below?: readonly string[]
  /** True while the keys are not offered yet: their place is kept. */
  readonly isEarly?: boolean
}

export interface DrawnApproval {
  readonly lines: readonly string[]
  /** Number of values of which a part is not shown. */
  readonly folded: number
  /** Lines at the end that are `below` and the keys. */
  readonly tail: number
}

/**
 * The card of a task. Values are fenced, so that they cannot imitate other lines of the card.
 * Source: docs/design/approvals.md#the-card
 */
export function drawApproval(canvas: Canvas, card: KeyedCard, layout: ApprovalLayout = {}): DrawnApproval {
  if (canvas.isAccessible) return { lines: describeApproval(card, layout), folded: 0, tail: 1 }
  const { theme } = canvas
  const { title, sideEffect, isIrreversible, deadline, rows, actions } = card
  const { valueLines = VALUE_LINES, asideLines = ASIDE_LINES, footer, below = [], isEarly = false } = layout
  const width = Math.max(30, Math.min(canvas.width, WIDEST_CARD))
  const edge = (text: string): string => `${theme.waiting('│')} ${text}`
  const head = [
    { text: title, style: theme.strong },
    ...(sideEffect === undefined
      ? []
      : [{ text: sideEffect, style: isIrreversible ? (text: string) => theme.strong(theme.warn(text)) : plainText }]),
    ...(deadline === undefined ? [] : [{ text: deadline, style: theme.waiting }]),
  ]
  const drawn = rows.map((row) =>
    drawApprovalRow(theme, row, width - 2, isDanger(row) ? Math.max(VALUE_LINES, valueLines) : valueLines, asideLines),
  )
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
    folded: drawn.reduce((sum, { folded }) => sum + folded, 0),
    tail: below.length + last.length,
  }
}

/** What must not be missed, such as a repetition, is the last to be folded. */
const isDanger = (row: CardRow): boolean => 'emphasis' in row && row.emphasis === 'danger'

/** Every value whole. */
export const drawWholeApproval = (canvas: Canvas, card: KeyedCard, taskId: string): readonly string[] =>
  drawApproval(canvas, card, { valueLines: Infinity, asideLines: Infinity, footer: `task ${taskId}` }).lines

/**
 * The card in at most `rows` lines: where it is too high, what is not approved is cut first, values are folded further, and then the
 * middle is left out.
 */
export function fitApproval(canvas: Canvas, card: KeyedCard, rows: number, layout: ApprovalLayout = {}): DrawnApproval {
  const { valueLines: most = VALUE_LINES } = layout
  for (const [valueLines, asideLines] of [
    [most, ASIDE_LINES],
    ...[most, 4, 2, 1].map((lines) => [lines, 1] as const),
  ]) {
    const drawn = drawApproval(canvas, card, { ...layout, valueLines, asideLines })
    if (drawn.lines.length <= rows || canvas.isAccessible) return drawn
  }
  const { lines, tail, folded } = drawApproval(canvas, card, { ...layout, valueLines: 1, asideLines: 1 })
  const end = Math.min(tail, rows - 2)
  const kept = Math.max(1, rows - end - 1)
  const hidden = lines.length - kept - end
  const notice = canvas.theme.waiting(`… ${hidden} more lines: [v]iew whole`)
  return {
    lines: [...lines.slice(0, kept), `${canvas.theme.waiting('│')} ${notice}`, ...lines.slice(lines.length - end)],
    tail: end,
    folded: Math.max(1, folded),
  }
}

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

const USUAL_PROOFS: ReadonlySet<string> = new Set(['', 'none', 'key'])

/** The result of a decision, for example `approved by ana@acme.example in the console, with a passkey after 6 s`. */
export function drawAnswered(canvas: Canvas, content: JsonObject, afterMs?: number): string {
  const text = (name: string): string => (typeof content[name] === 'string' ? content[name] : '')
  const [outcome, by, proof] = [text('outcome'), text('completed_by'), text('proof')]
  const style = outcome === 'approved' || outcome === 'answered' ? canvas.theme.ok : canvas.theme.bad
  const who = by ? ` by ${safeText(describeApprover(by))}` : ''
  const when = afterMs === undefined ? '' : ` after ${formatDuration(afterMs)}`
  // A key, or somebody on this machine, is what everybody expects.
  const how = USUAL_PROOFS.has(proof) ? '' : ` ${safeText(describeOrigin(text('channel'), proof))}`
  return `${style(safeText(outcome.replaceAll('_', ' ')))}${who}${how}${when}`
}
