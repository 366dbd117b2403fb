import type { Database } from 'better-sqlite3'
import type { Clock } from '../../../base/clock.ts'
import type { SessionId } from '../../../base/ids.ts'
import type { RenewedLease, SessionLease, WaitingSession, WorkerId } from '../../lease.ts'

/** Each writing method runs inside the transaction of its caller. */
export interface LeaseTable {
  waiting(most: number): readonly WaitingSession[]
  claimOne(worker: WorkerId, id: SessionId, ttlMs: number): SessionLease | undefined
  renew(worker: WorkerId, ttlMs: number): readonly RenewedLease[]
  release(worker: WorkerId, leases: readonly SessionLease[]): void
}

const RELEASED = 'not exists (select 1 from restored_session h where h.session_n = session.n)'

export function openLeases(db: Database, clock: Clock): LeaseTable {
  const take = db.prepare<[string, number, number], SessionLease>(
    `update session set owner = ?, lease_until = ?, epoch = epoch + 1 where n = ? returning id as sessionId, epoch`,
  )
  const one = db
    .prepare<{ id: string; worker: string; now: number }, number>(
      `select n from session
       where id = :id and busy = 1 and (owner is null or owner = :worker or lease_until <= :now) and ${RELEASED}`,
    )
    .pluck()
  const waiting = db.prepare<{ now: number; most: number }, WaitingSession>(
    `select id as sessionId, case when owner is null then 0 else @now - lease_until end as overForMs from session
     where n in (
       select n from session where busy = 1 and owner is null
       union all select n from session where owner is not null and lease_until <= @now)
       and ${RELEASED}
     order by started_at, n limit @most`,
  )
  const renew = db.prepare<[number, string], RenewedLease>(
    `update session set lease_until = ? where owner is not null and owner = ?
     returning id as sessionId, epoch, version`,
  )
  const release = db.prepare<[string, number, string]>(
    'update session set owner = null, lease_until = null where id = ? and epoch = ? and owner = ?',
  )
  return {
    waiting: (most) => waiting.all({ now: clock.now(), most }),
    claimOne(worker, id, ttlMs) {
      const now = clock.now()
      const n = one.get({ id, worker, now })
      return n === undefined ? undefined : take.get(worker, now + ttlMs, n)
    },
    renew(worker, ttlMs) {
      // Also where it has expired: nobody took it, or its owner would be another.
      return renew.all(clock.now() + ttlMs, worker)
    },
    release(worker, leases) {
      for (const { sessionId, epoch } of leases) release.run(sessionId, epoch, worker)
    },
  }
}

/**
 * Frees every session. The lock of the directory makes its holder the only process, so whoever held a lease before has ended,
 * and nobody waits for the lease to expire.
 */
export function releaseAllLeases(db: Database): void {
  db.exec('update session set owner = null, lease_until = null where owner is not null')
}
