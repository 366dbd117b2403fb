import type { SessionLease, WaitingSession } from '../../lease.ts'
import type { Store } from '../../store.ts'
import type { SessionHints } from '../database/hints.ts'
import type { DatabaseMoment } from '../database/moment.ts'
import type { PostgresPool } from '../database/pool.ts'
import { claimMethod } from './session-claims.ts'

type LeaseMethods = Pick<Store, 'claim' | 'waitingSessions' | 'claimOne' | 'renew' | 'release'>

export const leaseMethods = (db: PostgresPool, moment: DatabaseMoment, hints: SessionHints): LeaseMethods => ({
  claim: claimMethod(db, moment),
  waitingSessions: (most) =>
    // Two index scans: an `or` of both conditions would read the whole table.
    db.rows<WaitingSession>(
      `(select id as "sessionId", 0::bigint as "overForMs" from session
        where busy and owner is null and restored_at is null
        limit :most)
       union all
       (select id, svc_now(:given) - lease_until from session
        where owner is not null and lease_until <= svc_now(:given) and restored_at is null
        limit :most)
       limit :most`,
      { most, given: moment.now() },
    ),
  claimOne: (worker, id, ttlMs) =>
    db.row(
      `update session
       set owner = :worker, lease_until = svc_now(:given) + :ttlMs::bigint, epoch = epoch + 1
       where id = :id and busy and restored_at is null
         and (owner is null or owner = :worker or lease_until <= svc_now(:given))
       returning id as "sessionId", epoch`,
      { worker, id, ttlMs, given: moment.now() },
    ),
  renew: (worker, ttlMs) =>
    db.rows(
      // In the order of their ids, as saves lock them. Also where it has expired: nobody took it, or its owner would be another.
      `with held as (select id from session where owner = :worker order by id for update)
       update session s set lease_until = svc_now(:given) + :ttlMs::bigint
       from held
       where s.id = held.id
       returning s.id as "sessionId", s.epoch, s.version`,
      { worker, ttlMs, given: moment.now() },
    ),
  async release(worker, leases) {
    const released = await db.rows<SessionLease>(
      `with given as (
         select s.id
         from unnest(:ids::uuid[], :epochs::bigint[]) as l (id, epoch)
           join session s on s.id = l.id and s.epoch = l.epoch and s.owner = :worker
         order by s.id
         for update of s
       )
       update session s set owner = null, lease_until = null
       from given
       where s.id = given.id
       returning s.id as "sessionId", s.epoch`,
      { worker, ids: leases.map(({ sessionId }) => sessionId), epochs: leases.map(({ epoch }) => String(epoch)) },
    )
    hints.changed(
      released.map(({ sessionId }) => sessionId),
      true,
    )
  },
})
