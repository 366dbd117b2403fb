/** The server process of a data directory: the lock makes it the only one, so it is kept in memory. */
import type { Database } from 'better-sqlite3'
import type { Clock } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { WorkerId } from '../lease.ts'
import { FORGET_WORKER_MS, isFirstOf, joinListeners, type WorkerRow } from '../worker.ts'
import type { WorkerMethods } from '../cluster-store.ts'

export function openWorkers(db: Database, clock: Clock): WorkerMethods {
  const known = new Map<WorkerId, Omit<WorkerRow, 'leases'>>()
  const held = db
    .prepare<[string], number>('select count(*) from session where owner is not null and owner = ?')
    .pluck()
  return {
    async report(worker) {
      const isAsked = known.get(worker.id)?.isAsked ?? false
      const now = clock.now()
      known.set(worker.id, { ...worker, isAsked, seenAt: now })
      const all = [...known.values()]
      return { isAsked, isFirst: isFirstOf(all, worker, now), others: joinListeners(all, worker.id) }
    },
    async workers() {
      const since = clock.now() - FORGET_WORKER_MS
      return [...known.values()]
        .map((worker) => ({ ...worker, leases: held.get(worker.id) ?? 0 }))
        .filter(({ seenAt, leases }) => seenAt > since || leases > 0)
        .sort((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1))
    },
    async askToDrain(id) {
      const worker = known.get(id)
      if (!worker) throw fail('not_found', { what: 'worker' })
      known.set(id, { ...worker, isAsked: true })
    },
    async forgetWorker(id) {
      known.delete(id)
    },
  }
}
