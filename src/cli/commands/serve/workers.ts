/** `svc workers`: the server processes of a store. */
import { setTimeout as delay } from 'node:timers/promises'
import type { WorkerView } from '../../../operations/server.ts'
import { timeColumn, type TableColumn } from '../../../terminal/table.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import { withOperator } from '../../project/server/operator.ts'
import { listCommand } from '../../project/request-command.ts'
import type { CommandContext } from '../../shell/command.ts'
import { countNoun } from '../../shell/counted.ts'

/** Time between two checks of a process that is ending. */
const LOOK_AGAIN_MS = 250

const columns = (now: number): readonly TableColumn<WorkerView>[] => [
  { title: 'WORKER', cell: ({ workerId }) => workerId },
  { title: 'STATE', cell: ({ state }) => state },
  { title: 'SESSIONS', cell: ({ leases }) => String(leases) },
  { title: 'VERSION', cell: ({ version }) => version },
  timeColumn('SEEN', ({ seenAt }) => seenAt, now),
  timeColumn('STARTED', ({ startedAt }) => startedAt, now),
  { title: 'ADDRESS', cell: ({ url }) => url ?? '-' },
]

export const workersList = listCommand('GET /workers', {
  columns,
  nothing: 'No server process uses this store.',
})

export async function workersDrain(call: CommandContext<OperatorAnswer<'POST /workers/:id/drain'>>): Promise<void> {
  const { given, mode, out, signal } = call
  await withOperator(call, async (operator) => {
    const worker = await operator.call('POST /workers/:id/drain', { id: given.required(0), body: undefined })
    const { workerId, leases } = worker
    if (!mode.json) out.line(`asked ${workerId} to drain; it drives ${countNoun(leases, 'session')}`)
    if (!given.flag('detach')) {
      // The ending process may be the one that answers this request.
      const isThere = async (): Promise<boolean> =>
        (await operator.call('GET /workers', {}).catch(() => undefined))?.items.some(
          (each) => each.workerId === workerId && each.state !== 'silent',
        ) ?? false
      while (!signal.aborted && (await isThere())) await delay(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {})
      if (!mode.json && !signal.aborted) out.line('it has ended')
    }
    if (mode.json) await out.json(worker)
  })
}
