/** `svc runs outcomes`: how runs ended, and how long they waited for people. */
import { toIsoText } from '../../../base/clock.ts'
import { shortDuration } from '../../../base/short-text.ts'
import type { RunOutcomes } from '../../../operations/insight.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import { openProject } from '../../project/project.ts'
import { resolveAgent } from '../../project/reference.ts'
import { withOperator } from '../../project/server/operator.ts'
import type { CommandContext } from '../../shell/command.ts'
import { countNoun } from '../../shell/counted.ts'
import { parseMoment } from '../../shell/numbers.ts'
import { printTable } from '../../shell/screen/list.ts'

export async function runsOutcomes(call: CommandContext<OperatorAnswer<'GET /outcomes'>>): Promise<void> {
  const { given, io, mode, out } = call
  const [agent, since] = [given.text('agent'), given.text('since')]
  const answer = await withOperator(await openProject(call), call, async (operator) =>
    operator.call('GET /outcomes', {
      query: {
        ...(agent !== undefined && { agent: (await resolveAgent(agent, operator)).agentId }),
        ...(since !== undefined && { since: toIsoText(parseMoment(since, io.clock.now())) }),
      },
    }),
  )
  if (mode.json) return await out.json(answer)
  printTable(call, answer.items, columns, 'No run began in this time.')
  const { counted, countedSince } = answer
  if (countedSince !== undefined) out.hint(`the newest ${countNoun(counted, 'run')} are counted, since ${countedSince}`)
}

const columns: readonly TableColumn<RunOutcomes>[] = [
  { title: 'AGENT', cell: ({ agent }) => agent },
  { title: 'VERSION', cell: ({ version }) => version },
  { title: 'RUNS', cell: ({ runs }) => String(runs), align: 'right' },
  { title: 'OPEN', cell: ({ open }) => String(open), align: 'right' },
  { title: 'COMPLETED', cell: ({ completed }) => String(completed), align: 'right' },
  { title: 'CANCELLED', cell: ({ cancelled }) => String(cancelled), align: 'right' },
  { title: 'WAITED', cell: ({ waited }) => String(waited.runs), align: 'right' },
  { title: 'MEDIAN', cell: ({ waited }) => (waited.runs === 0 ? '-' : shortDuration(waited.medianMs)), align: 'right' },
  {
    title: 'LONGEST',
    cell: ({ waited }) => (waited.runs === 0 ? '-' : shortDuration(waited.longestMs)),
    align: 'right',
  },
  { title: 'FAILED', cell: ({ failures }) => failures.map(({ code, runs }) => `${runs} ${code}`).join(', ') || '-' },
]
