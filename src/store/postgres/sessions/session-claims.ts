/** Claims sessions that no process holds, those of each claimant in turn. */
import type { SessionLease, WorkerId } from '../../lease.ts'
import type { Store } from '../../store.ts'
import { alternateClaimants, type ClaimedSession } from '../../claim-order.ts'
import type { DatabaseMoment } from '../database/moment.ts'
import type { PostgresPool } from '../database/pool.ts'

/** Must match the index `session_free`. */
const CLAIMANT = 'coalesce(trigger_id, agent_id)'
const IS_FREE = 'busy and owner is null and restored_at is null'

export function claimMethod(db: PostgresPool, moment: DatabaseMoment): Store['claim'] {
  /** The next claim continues after this claimant; empty = with the first one. */
  let lastClaimant = ''

  /** Ends expired leases, the oldest of each claimant first. An expired lease permits nothing, so ending it takes nothing away. */
  async function endExpired(most: number): Promise<void> {
    await db.rows(
      `with expired as (
         select id from session
         where owner is not null and lease_until <= svc_now(:given)
         order by row_number() over (partition by ${CLAIMANT} order by started_at, n)
         limit :most
       ),
       locked as (
         select s.id from session s join expired on expired.id = s.id
         where s.owner is not null and s.lease_until <= svc_now(:given)
         for update of s skip locked
       )
       update session s set owner = null, lease_until = null
       from locked
       where s.id = locked.id`,
      { most, given: moment.now() },
    )
  }

  /** Claims the oldest sessions of the claimants that follow `after`, an equal part of `most` from each. */
  async function takeFree(worker: WorkerId, most: number, ttlMs: number, after: string): Promise<ClaimedSession[]> {
    const claimed = await db.rows<ClaimedSession & { readonly nth: number }>(
      // Each step of the recursion skips to the next claimant in the index, however many sessions the previous one has.
      `with recursive claimant (name, nth) as (
         (select ${CLAIMANT}, 1 from session
          where ${IS_FREE} and ${CLAIMANT} > :after order by ${CLAIMANT} limit 1)
         union all
         select next.name, claimant.nth + 1 from claimant, lateral (
           select ${CLAIMANT} as name from session
           where ${IS_FREE} and ${CLAIMANT} > claimant.name order by ${CLAIMANT} limit 1
         ) next
         where claimant.nth < :most::int
       ),
       part as (select name, nth, :most::int / count(*) over () as size from claimant),
       free as (
         select oldest.id, part.nth from part, lateral (
           select id from session
           where ${IS_FREE} and ${CLAIMANT} = part.name
           order by started_at, n
           limit part.size
           for update skip locked
         ) oldest
       )
       update session s
       set owner = :worker, lease_until = svc_now(:given) + :ttlMs::bigint, epoch = s.epoch + 1
       from free
       where s.id = free.id
       returning s.id as "sessionId", s.epoch, ${CLAIMANT} as claimant, s.started_at as "startedAt", s.n, free.nth`,
      { worker, most, ttlMs, after, given: moment.now() },
    )
    lastClaimant =
      claimed.reduce((last, each) => (last && last.nth > each.nth ? last : each), claimed[0])?.claimant ?? ''
    return claimed
  }

  return async (worker, most, ttlMs): Promise<readonly SessionLease[]> => {
    await endExpired(most)
    const begun = lastClaimant
    const claimed = await takeFree(worker, most, ttlMs, begun)
    // The last claimant is followed by the first one.
    if (begun !== '' && claimed.length < most)
      claimed.push(...(await takeFree(worker, most - claimed.length, ttlMs, '')))
    return alternateClaimants(claimed)
  }
}
