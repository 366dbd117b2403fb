/** Claims sessions that no process holds, those of each claimant in turn. */
import type { Database } from 'better-sqlite3'
import type { Clock } from '../../../base/clock.ts'
import type { SessionLease, WorkerId } from '../../lease.ts'
import { alternateClaimants, type ClaimedSession } from '../../claim-order.ts'

/** `claim` runs inside the transaction of its caller. */
export interface SessionClaimTable {
  /** True where `claim` would find a session. */
  hasUnheld(): boolean
  claim(worker: WorkerId, most: number, ttlMs: number): readonly SessionLease[]
}

/** Must match the index `session_free`. */
const CLAIMANT = `ifnull(trigger_id, 'agent ' || agent_n)`
const IS_FREE = `busy = 1 and owner is null
  and not exists (select 1 from restored_session h where h.session_n = session.n)`

export function openSessionClaims(db: Database, clock: Clock): SessionClaimTable {
  const anyFree = db.prepare<[]>(`select 1 from session where ${IS_FREE} limit 1`)
  const anyExpired = db.prepare<[number]>('select 1 from session where owner is not null and lease_until <= ? limit 1')
  // An expired lease permits nothing, so ending it takes nothing away.
  const endExpired = db.prepare<[number, number]>(
    `update session set owner = null, lease_until = null where n in (
       select n from session where owner is not null and lease_until <= ?
       order by row_number() over (partition by ${CLAIMANT} order by started_at, n)
       limit ?)`,
  )
  const nextClaimant = db
    .prepare<[string], string>(
      `select ${CLAIMANT} from session where ${IS_FREE} and ${CLAIMANT} > ? order by ${CLAIMANT} limit 1`,
    )
    .pluck()
  const oldest = db
    .prepare<[string, number], number>(
      `select n from session where ${IS_FREE} and ${CLAIMANT} = ? order by started_at, n limit ?`,
    )
    .pluck()
  const take = db.prepare<[string, number, number], ClaimedSession>(
    `update session set owner = ?, lease_until = ?, epoch = epoch + 1 where n = ?
     returning id as sessionId, epoch, ${CLAIMANT} as claimant, started_at as startedAt, n`,
  )

  /** The next claim continues after this claimant; empty = with the first one. */
  let lastClaimant = ''

  /** Claims the oldest sessions of the claimants that follow `after`, an equal part of `most` from each. */
  function takeFree(worker: WorkerId, most: number, until: number, after: string): ClaimedSession[] {
    const claimants: string[] = []
    for (let name = nextClaimant.get(after); name !== undefined; name = nextClaimant.get(name))
      if (claimants.push(name) === most) break
    lastClaimant = claimants.at(-1) ?? ''
    return claimants.flatMap((name) =>
      oldest.all(name, Math.floor(most / claimants.length)).flatMap((n) => take.get(worker, until, n) ?? []),
    )
  }

  return {
    hasUnheld: () => anyFree.get() !== undefined || anyExpired.get(clock.now()) !== undefined,
    claim(worker, most, ttlMs) {
      const now = clock.now()
      endExpired.run(now, most)
      const begun = lastClaimant
      const claimed = takeFree(worker, most, now + ttlMs, begun)
      // The last claimant is followed by the first one.
      if (begun !== '' && claimed.length < most)
        claimed.push(...takeFree(worker, most - claimed.length, now + ttlMs, ''))
      return alternateClaimants(claimed)
    },
  }
}
