/** `svc overview`: how the last 24 hours went, as the console shows it. */
import type { OverviewCell } from '../../../operations/insight.ts'
import { formatRelative } from '../../../terminal/time.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import { openProject } from '../../project/project.ts'
import { withOperator } from '../../project/server/operator.ts'
import type { CommandContext } from '../../shell/command.ts'
import { printTable } from '../../shell/screen/list.ts'

export async function overview(call: CommandContext<OperatorAnswer<'GET /overview'>>): Promise<void> {
  const { io, mode, out } = call
  const answer = await withOperator(await openProject(call), call, (operator) => operator.call('GET /overview', {}))
  if (mode.json) return await out.json(answer)
  const textOf = ({ text, at }: OverviewCell): string =>
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
      cell: (row: readonly OverviewCell[]) => textOf(row[at]!),
    }))
    printTable(call, rows, columns, '')
  }
}
