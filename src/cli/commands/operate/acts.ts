/** `svc log acts`. */
import { safeText } from '../../../base/text/escape-text.ts'
import type { ActView } from '../../../operations/acts.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import { formatRelative } from '../../../terminal/time.ts'
import { nameAct, describeActor } from '../../../view/act-line.ts'
import { runIdOf } from '../../project/reference.ts'
import { listCommand, momentOptions } from '../../project/request-command.ts'

const columns = (now: number): readonly TableColumn<ActView>[] => [
  { title: 'NO', cell: ({ seq }) => String(seq), align: 'right' },
  { title: 'WHEN', cell: ({ at }) => formatRelative(Date.parse(at), now), plain: ({ at }) => at },
  { title: 'WHO', cell: describeActor, plain: ({ by }) => by },
  { title: 'DID', cell: nameAct },
  { title: 'WHY', cell: ({ reason }) => safeText(reason ?? '') },
  { title: 'FROM', cell: ({ channel, address }) => (address === null ? channel : `${channel} ${safeText(address)}`) },
]

/** What operators did, newest first. */
export const logActs = listCommand('GET /acts', {
  ask: (call) => {
    const { given } = call
    const [kind, by, run, take] = [given.text('kind'), given.text('by'), given.text('run'), given.text('limit')]
    const moments = momentOptions(call, 'since', 'until')
    return async (operator) => ({
      query: {
        ...(kind !== undefined && { kind }),
        ...(by !== undefined && { by }),
        ...(run !== undefined && { run: await runIdOf(run, operator) }),
        ...(take !== undefined && { take }),
        ...moments,
      },
    })
  },
  columns,
  nothing: 'Nobody did anything that is recorded.',
})
