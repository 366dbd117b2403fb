/** `svc overview`: how the last 24 hours went, as the console shows it. */
import type { OverviewCell } from '../../../operations/insight.ts'
import { formatRelative } from '../../../terminal/time.ts'
import { requestCommand } from '../../project/request-command.ts'
import { printTable } from '../../shell/screen/list.ts'

export const overview = requestCommand(
  'GET /overview',
  () => ({}),
  (call, answer) => {
    const { io, out } = call
    const textOf = ({ text, at }: Partial<OverviewCell> = {}): string =>
      [text, at && formatRelative(Date.parse(at), io.clock.now())].filter(Boolean).join('  ')
    printTable(
      call,
      answer.facts,
      [
        { title: 'LAST 24 HOURS', cell: ({ name }) => name },
        { title: '', isFlexible: true, cell: textOf },
      ],
      '',
    )
    for (const { title, heads, rows } of answer.lists) {
      out.line('')
      const columns = heads.map(({ text, align }, at) => ({
        title: (at === 0 ? `${title}: ${text}` : text).toUpperCase(),
        ...(align && { align }),
        ...(at === 1 && { isFlexible: true }),
        cell: (row: readonly OverviewCell[]) => textOf(row[at]),
      }))
      printTable(call, rows, columns, '')
    }
  },
)
