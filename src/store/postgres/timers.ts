import type { Instant } from '../../base/clock.ts'
import type { SessionId } from '../../base/ids.ts'
import type { ClearedTimer, SessionTimer } from '../session-update.ts'
import type { Store } from '../store.ts'
import type { DatabaseMoment } from './database/moment.ts'
import type { PostgresPool } from './database/pool.ts'

export const timerReads = (db: PostgresPool, moment: DatabaseMoment): Pick<Store, 'dueTimers' | 'nextTimerAt'> => ({
  async dueTimers(now, limit) {
    return db.rows<SessionTimer>(
      `select t.session_id as "sessionId", t.run_id as "runId", t.kind, t.ref, t.at
       from timer t join session s on s.id = t.session_id
       where t.at <= least(:now::bigint, svc_now(:given)) and s.restored_at is null
       order by t.at, t.session_id, t.run_id, t.kind, t.ref
       limit :limit`,
      // A process whose clock runs ahead fires no timer early.
      { now, given: moment.isGiven ? now : null, limit },
    )
  },
  async nextTimerAt() {
    const next = await db.row<{ at: Instant }>(
      `select t.at from timer t join session s on s.id = t.session_id
       where s.restored_at is null
       order by t.at
       limit 1`,
    )
    return next?.at
  },
})

export const toTimerColumns = (sessionId: SessionId, { runId, kind, ref, at }: SessionTimer) => ({
  session_id: sessionId,
  run_id: runId,
  kind,
  ref,
  at,
})

export const toClearColumns = (sessionId: SessionId, { runId, kind, ref, firedAt }: ClearedTimer) => ({
  session_id: sessionId,
  run_id: runId,
  kind,
  ref,
  at: firedAt ?? null,
})
