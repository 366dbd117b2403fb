import type { Database } from 'better-sqlite3'
import type { Store } from '../store.ts'
import type { ClearedTimer, SessionTimer } from '../session-update.ts'

export interface TimerTable {
  readonly reads: Pick<Store, 'dueTimers' | 'nextTimerAt'>
  set(sessionN: number, runN: number, timer: SessionTimer): void
  clear(sessionN: number, runN: number, timer: ClearedTimer): void
}

export function openTimers(db: Database): TimerTable {
  const set = db.prepare(
    `insert into timer (session_n, run_n, kind, ref, at)
     values (:sessionN, :runN, :kind, :ref, :at)
     on conflict (session_n, run_n, kind, ref) do update set at = excluded.at`,
  )
  const clear = db.prepare(
    `delete from timer
     where session_n = :sessionN and run_n = :runN and kind = :kind and ref = :ref and at = coalesce(:firedAt, at)`,
  )
  const due = db.prepare<{ now: number; limit: number }, SessionTimer>(
    `select s.id as sessionId, r.id as runId, t.kind, t.ref, t.at
     from timer t
       join session s on s.n = t.session_n
       join run r on r.n = t.run_n
     where t.at <= :now and ${RELEASED}
     order by t.at, t.session_n, t.run_n, t.kind, t.ref
     limit :limit`,
  )
  const next = db.prepare<[], { at: number }>(`select t.at from timer t where ${RELEASED} order by t.at limit 1`)

  return {
    reads: {
      async dueTimers(now, limit) {
        return due.all({ now, limit })
      },
      async nextTimerAt() {
        return next.get()?.at
      },
    },
    set: (sessionN, runN, { kind, ref, at }) => void set.run({ sessionN, runN, kind, ref, at }),
    clear: (sessionN, runN, { kind, ref, firedAt = null }) => void clear.run({ sessionN, runN, kind, ref, firedAt }),
  }
}

/** Nothing happens to a session from a backup until it is released. */
const RELEASED = 'not exists (select 1 from restored_session h where h.session_n = t.session_n)'
