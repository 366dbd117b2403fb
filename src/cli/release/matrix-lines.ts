/** The authority of an agent as text, for `svc compile --matrix` and the plan of a first publication. */
import type { AuthorityRow } from '../../operations/versions.ts'
import { safeText } from '../../base/text/escape-text.ts'
import type { Canvas, Screen } from '../../terminal/screen.ts'
import { drawTable, type TableColumn } from '../../terminal/table.ts'
import { padText, wrapText } from '../../terminal/text.ts'
import type { TextStyle, Theme } from '../../terminal/theme.ts'
import { widthOf } from '../../terminal/width.ts'

const INDENT = '  '

/** @param title of the agent; nothing is shown of one that calls nothing */
export function matrixLines(screen: Screen, title: string, rows: readonly AuthorityRow[]): readonly string[] {
  if (rows.length === 0) return []
  const { theme, isTTY } = screen
  const canvas: Canvas = { theme, isTTY, width: screen.width - INDENT.length }
  const tableOf = (shown: typeof columns) => drawTable({ ...canvas, width: Number.POSITIVE_INFINITY }, shown, rows)
  const fitting = [columns, unversioned]
    .map(tableOf)
    .find((lines) => lines.every((line) => widthOf(line) <= canvas.width))
  return [title, ...(fitting ?? stackedLines(canvas, rows)).map((line) => INDENT + line)]
}

/** Where the table has no room: each call once, and below it what is decided, when, and by which policy. */
function stackedLines({ theme, width }: Canvas, rows: readonly AuthorityRow[]): readonly string[] {
  const decisionWidth = Math.max(...rows.map(({ decision }) => widthOf(safeText(decision)))) + INDENT.length
  return rows.flatMap((row, at) => {
    const call = callOf(row)
    const because = [row.when, ...(row.by === 'default' ? [] : [`by ${row.by}`])].flatMap((text) =>
      wrapText(safeText(text), Math.max(1, width - INDENT.length - decisionWidth)).map((line) => line.trim()),
    )
    const decision = styleOfDecision(theme, row.decision)(padText(safeText(row.decision), decisionWidth))
    return [
      ...(rows
        .slice(0, at)
        .slice(-1)
        .some((before) => callOf(before) === call)
        ? []
        : wrapText(safeText(call), width)),
      ...because.map((line, below) =>
        below === 0 ? INDENT + decision + line : theme.dim(`${INDENT}${' '.repeat(decisionWidth)}${line}`),
      ),
    ]
  })
}

const callOf = ({ tool, kind }: AuthorityRow): string => (kind === 'agent' ? `→ ${tool}` : tool)

function styleOfDecision(theme: Theme, decision: string): TextStyle {
  if (decision === 'require_approval') return theme.waiting
  return decision === 'deny' ? theme.bad : (text) => text
}

const columns: readonly TableColumn<AuthorityRow>[] = [
  { title: 'CALL', cell: callOf, plain: ({ tool }) => tool },
  {
    title: 'DECISION',
    cell: ({ decision }) => decision,
    style: (theme, { decision }) => styleOfDecision(theme, decision),
  },
  { title: 'BY', cell: ({ by }) => by },
  { title: 'WHEN', cell: ({ when }) => when },
]

/** Takes less room: the versions of the policies are those that are published with the agent. */
const unversioned = columns.map((column) =>
  column.title === 'BY' ? { ...column, cell: ({ by }: AuthorityRow) => by.replace(/@[^@]*$/, '') } : column,
)
