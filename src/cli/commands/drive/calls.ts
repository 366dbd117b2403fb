/** `svc runs calls` and `svc runs scenario`: the ledger of a run, and the run as a test. */
import { safeText } from '../../../base/text/escape-text.ts'
import { shortId } from '../../../base/text/short-text.ts'
import type { CallView } from '../../../operations/runs.ts'
import { timeColumn, type TableColumn } from '../../../terminal/table.ts'
import { withOperator } from '../../project/server/operator.ts'
import { askOfRun, listCommand } from '../../project/request-command.ts'
import { runIdOf } from '../../project/reference.ts'
import type { CommandContext } from '../../shell/command.ts'

const columns = (now: number): readonly TableColumn<CallView>[] => [
  { title: 'TOOL', cell: ({ tool }) => safeText(tool) },
  { title: 'STATE', cell: ({ state }) => safeText(state) },
  { title: 'ATTEMPT', cell: ({ attempts }) => String(attempts), align: 'right' },
  { title: 'EFFECT', cell: ({ effect }) => safeText(effect?.key ?? '') },
  { title: 'RUN', cell: ({ runId }) => shortId(runId), plain: ({ runId }) => runId },
  { title: 'KEY', cell: ({ idempotencyKey }) => safeText(idempotencyKey) },
  timeColumn('LAST', ({ at }) => at, now),
]

export const runsCalls = listCommand('GET /runs/:id/calls', {
  ask: askOfRun,
  columns,
  nothing: 'No call was made yet.',
})

export async function runsScenario(call: CommandContext<unknown>): Promise<void> {
  const name = call.given.text('name')
  await withOperator(call, async (operator) => {
    const id = await runIdOf(call.given.required(0), operator)
    const { text } = await operator.call('GET /runs/:id/scenario', {
      id,
      query: { ...(name !== undefined && { name }) },
    })
    call.out.line(text.replace(/\n$/, ''))
  })
}
