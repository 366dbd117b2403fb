/** The authority of an agent as text, for `svc compile --matrix` and the plan of a first publication. */
import type { MatrixRow } from '../../compile/view/matrix.ts'
import type { Screen } from '../../terminal/screen.ts'
import { drawTable, type TableColumn } from '../../terminal/table.ts'

/** @param title of the agent; nothing is shown of one that calls nothing */
export const matrixLines = (screen: Screen, title: string, rows: readonly MatrixRow[]): readonly string[] =>
  rows.length === 0 ? [] : [title, ...drawTable(screen, columns, rows).map((line) => `  ${line}`)]

const columns: readonly TableColumn<MatrixRow>[] = [
  { title: 'CALL', cell: ({ tool, kind }) => (kind === 'agent' ? `→ ${tool}` : tool), plain: ({ tool }) => tool },
  { title: 'DECISION', cell: ({ decision }) => decision },
  { title: 'BY', cell: ({ by }) => by },
  { title: 'WHEN', cell: ({ when }) => when },
]
