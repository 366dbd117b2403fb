import { fail } from '../../../base/failure.ts'
import { FORGET_WORKER_MS, SILENT_WORKER_MS, type WorkerRow } from '../../worker.ts'
import type { DatabaseMoment } from '../database/moment.ts'
import type { PostgresPool } from '../database/pool.ts'
import { expectDefined } from '../../../base/values/expect-defined.ts'
import type { WorkerMethods } from '../../cluster-store.ts'

/** The clock of the database says when a process was seen, so that those of the processes need not agree. */
export const workerMethods = (db: PostgresPool, moment: DatabaseMoment): WorkerMethods => ({
  async report({ id, version, startedAt, url, peerUrl, isDraining, ports, addresses }) {
    const row = await db.row<{ isAsked: boolean; isFirst: boolean; ports: number[]; addresses: string[] }>(
      `insert into worker (id, version, started_at, url, peer_url, draining, seen_at, ports, addresses)
       values (:id, :version, :startedAt, :url, :peerUrl, :isDraining, svc_now(:given), :ports, :addresses)
       on conflict (id) do update
       set url = excluded.url, peer_url = excluded.peer_url, draining = excluded.draining, seen_at = excluded.seen_at,
         ports = excluded.ports, addresses = excluded.addresses
       returning asked as "isAsked",
         not draining and not exists (
           select 1 from worker w
           where w.id <> :id and not w.draining and w.seen_at > svc_now(:given) - ${SILENT_WORKER_MS}
             and (w.started_at, w.id collate "C") < (:startedAt, :id collate "C")
         ) as "isFirst",
         array(select distinct unnest(w.ports) from worker w where w.id <> :id order by 1) as ports,
         array(select distinct unnest(w.addresses) collate "C" from worker w where w.id <> :id order by 1) as addresses`,
      { id, version, startedAt, url, peerUrl, isDraining, ports: ports.map(String), addresses, given: moment.now() },
    )
    const { isAsked, isFirst, ...others } = expectDefined(row, 'an insertion gives its row')
    return { isAsked, isFirst, others }
  },
  workers: () =>
    db.rows<WorkerRow>(
      `select w.id, w.version, w.started_at as "startedAt", w.url, w.peer_url as "peerUrl", w.draining as "isDraining",
         w.asked as "isAsked", w.ports, w.addresses, w.seen_at as "seenAt", (select count(*) from session s where s.owner = w.id) as leases
       from worker w
       where w.seen_at > svc_now(:given) - ${FORGET_WORKER_MS} or exists (select 1 from session s where s.owner = w.id)
       order by w.started_at, w.id collate "C"`,
      { given: moment.now() },
    ),
  async askToDrain(id) {
    const asked = await db.run('update worker set asked = true where id = :id', { id })
    if (asked === 0) throw fail('not_found', { what: 'worker' })
  },
  async forgetWorker(id) {
    // Also deletes processes that were killed long ago, so that restarts leave no rows behind.
    await db.run(
      `delete from worker w
       where w.id = :id
         or (w.seen_at <= svc_now(:given) - ${FORGET_WORKER_MS}
           and not exists (select 1 from session s where s.owner = w.id))`,
      { id, given: moment.now() },
    )
  },
})
