/** `svc eval list`. */
import { safeText } from '../../../base/text/escape-text.ts'
import type { KeptEvaluationView } from '../../../operations/evals.ts'
import { describeCost } from '../../../spec/price.ts'
import { timeColumn, type TableColumn } from '../../../terminal/table.ts'
import { describeRate } from '../../../view/evaluation-text.ts'
import { listCommand } from '../../project/request-command.ts'

const columns = (now: number): readonly TableColumn<KeptEvaluationView>[] => [
  timeColumn('WHEN', ({ at }) => at, now),
  { title: 'AGENT', cell: ({ agent }) => safeText(agent) },
  { title: 'DATASET', cell: ({ report }) => safeText(report.dataset) },
  { title: 'VERSION', cell: ({ report: { now: side } }) => safeText(side.name) },
  { title: 'RATE', cell: ({ report: { now: side } }) => describeRate(side) },
  {
    title: 'BEFORE',
    cell: ({ report: { before } }) => (before ? `${describeRate(before)} (${safeText(before.name)})` : ''),
    dropOrder: 1,
  },
  { title: 'OTHERWISE', cell: ({ report: { exact } }) => (exact ? String(exact.flips) : ''), align: 'right' },
  { title: 'COST', cell: ({ report: { now: side } }) => describeCost(side.cost) ?? '', align: 'right', dropOrder: 2 },
]

export const evalList = listCommand('GET /evals', {
  ask: ({ given }) => {
    const [agent, take] = [given.text('agent'), given.text('limit')]
    return { query: { ...(agent !== undefined && { agent }), ...(take !== undefined && { take }) } }
  },
  columns,
  nothing: 'No evaluation was kept: svc eval DATASET --keep keeps one.',
})
