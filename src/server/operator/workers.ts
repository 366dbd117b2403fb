/** The server processes of the store. Source: docs/design/several-processes.md#life-of-a-process */
import { toIsoText, type Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { WorkerView } from '../../operations/server.ts'
import { SILENT_WORKER_MS, type WorkerRow } from '../../store/worker.ts'
import type { OperatorAction } from './people/act.ts'

export const listWorkers: OperatorAction<'GET /workers'> = async ({ services: { store, clock } }) => {
  const rows = await store.workers()
  return { items: rows.map((row) => toWorkerView(row, clock.now())), total: rows.length }
}

export const drainWorker: OperatorAction<'POST /workers/:id/drain'> = async ({ services, operator, id, act }) => {
  const { store, clock, log } = services
  const found = (await store.workers()).filter((row) => row.id.toLowerCase().endsWith(id))
  const [row] = found
  if (!row) throw fail('not_found', { what: 'server process' }, { fix: 'svc workers list shows them.' })
  if (found.length > 1)
    throw fail('ambiguous_reference', { text: id, candidates: found.map((each) => each.id).join(' or ') })
  // Where there is one process, it remembers that by itself and writes nothing.
  await store.addAct(act('worker.drained', { subject: `server process ${row.id}` }))
  await store.askToDrain(row.id)
  log.write('warn', 'a server process is asked to drain', { worker: row.id, by: operator.id })
  return toWorkerView({ ...row, isDraining: true }, clock.now())
}

export const toWorkerView = (row: WorkerRow, now: Instant): WorkerView => ({
  workerId: row.id,
  version: row.version,
  url: row.url,
  state: stateOf(row, now),
  startedAt: toIsoText(row.startedAt),
  seenAt: toIsoText(row.seenAt),
  leases: row.leases,
})

function stateOf({ seenAt, isDraining, isAsked }: WorkerRow, now: Instant): WorkerView['state'] {
  if (seenAt <= now - SILENT_WORKER_MS) return 'silent'
  return isDraining || isAsked ? 'draining' : 'serving'
}
