/** `svc runs calls` and `svc runs scenario`: the ledger of a run, and the run as a test. */
import { safeText } from '../../../base/escape-text.ts'
import { shortId } from '../../../base/short-text.ts'
import type { OperatorList } from '../../../spec/operator.ts'
import type { Conversation } from '../../../spec/api.ts'
import type { CallView } from '../../../spec/operator-views.ts'
import { writeScenario } from '../../../spec/view/run-scenario.ts'
import { timeColumn, type TableColumn } from '../../../terminal/table.ts'
import { withOperator, type OperatorClient } from '../../project/operator.ts'
import { openProject } from '../../project/project.ts'
import { runIdOf } from '../../project/reference.ts'
import type { CommandContext } from '../../shell/command.ts'
import { printList } from '../../shell/screen/list.ts'

export async function runsCalls(call: CommandContext<OperatorList<CallView>>): Promise<void> {
  await withOperator(await openProject(call), call, async (operator) => {
    const id = await runIdOf(call.given.argument(0)!, operator)
    const list = await operator.call('GET /runs/:id/calls', { id })
    await printList(call, list, columns(call.io.clock.now()), 'No call was made yet.')
  })
}

const columns = (now: number): readonly TableColumn<CallView>[] => [
  { title: 'TOOL', cell: ({ tool }) => safeText(tool) },
  { title: 'STATE', cell: ({ state }) => safeText(state) },
  { title: 'ATTEMPT', cell: ({ attempts }) => String(attempts), align: 'right' },
  { title: 'EFFECT', cell: ({ effect }) => safeText(effect?.key ?? '') },
  { title: 'RUN', cell: ({ runId }) => shortId(runId), plain: ({ runId }) => runId },
  { title: 'KEY', cell: ({ idempotencyKey }) => safeText(idempotencyKey) },
  timeColumn('LAST', ({ at }) => at, now),
]

/** Pages of the timeline that a scenario is made of. */
const PAGE = '500'

export async function runsScenario(call: CommandContext<unknown>): Promise<void> {
  await withOperator(await openProject(call), call, async (operator) => {
    const id = await runIdOf(call.given.argument(0)!, operator)
    const text = writeScenario(await wholeConversation(operator, id), call.given.text('name') ?? `run ${shortId(id)}`)
    call.out.line(text.replace(/\n$/, ''))
  })
}

async function wholeConversation(operator: OperatorClient, id: string): Promise<Conversation> {
  let whole: Conversation | undefined
  for (let cursor: string | undefined; ;) {
    const query = { take: PAGE, ...(cursor !== undefined && { cursor }) }
    const page = await operator.call('GET /v1/runs/:id/conversation', { id, query })
    whole = whole ? { ...page, items: [...whole.items, ...page.items] } : page
    if (!page.nextCursor) return whole
    cursor = page.nextCursor
  }
}
