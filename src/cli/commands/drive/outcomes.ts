/** `svc runs outcomes`: how runs ended, and how long they waited for people. */
import { shortDuration } from '../../../base/text/short-text.ts'
import type { RunOutcomes } from '../../../operations/insight.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import { agentOption, listCommand, momentOptions } from '../../project/request-command.ts'
import { countNoun } from '../../shell/counted.ts'

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

export const runsOutcomes = listCommand('GET /outcomes', {
  ask: (call) => {
    const since = momentOptions(call, 'since')
    return async (operator) => ({ query: { ...since, ...(await agentOption(call, operator)) } })
  },
  columns: () => columns,
  nothing: 'No run began in this time.',
  note: ({ out }, { counted, countedSince }) => {
    if (countedSince !== undefined)
      out.hint(`the newest ${countNoun(counted, 'run')} are counted, since ${countedSince}`)
  },
})
