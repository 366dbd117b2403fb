import type { Database } from 'better-sqlite3'
import type { Instant } from '../../../base/clock.ts'
import type { SessionId, TriggerId, WorkspaceId } from '../../../base/ids.ts'
import type { StoreRestore } from '../../../spec/run/restore.ts'
import type { Session } from '../../../spec/run/session.ts'
import type { WholeRelease } from '../../queries.ts'
import type { Store } from '../../store.ts'

export interface RestoredTable {
  readonly reads: Pick<Store, 'restoredAt' | 'restored' | 'lastRestore'>
  /** Since when a session or trigger is held. */
  readonly heldSince: (id: SessionId | TriggerId) => Instant | undefined
  /** Since when a session that begins now is held: while the store is, unless its trigger was released by name. */
  readonly holdOfNew: (session: Session) => Instant | undefined
  readonly hold: (sessionN: number, at: Instant) => void
  readonly release: (
    sessions: readonly SessionId[],
    triggers: readonly TriggerId[],
    whole: WholeRelease | undefined,
  ) => void
}

export function openRestored(db: Database): RestoredTable {
  const sessions = db.prepare<[string], SessionId>(
    `select s.id
     from restored_session r
       join session s on s.n = r.session_n
       join agent a on a.n = s.agent_n
     where a.workspace_id = ? and s.finished_at is null
     order by s.started_at, s.n`,
  )
  const triggers = db.prepare<[string], TriggerId>(
    `select t.id
     from restored_trigger r join run_trigger t on t.id = r.trigger_id
     where t.workspace_id = ?
     order by t.created_at, t.rowid`,
  )
  const releaseSession = db.prepare(
    'delete from restored_session where session_n = (select n from session where id = ?)',
  )
  const releaseTrigger = db.prepare('delete from restored_trigger where trigger_id = ?')
  // Else a trigger that was released could not continue its sessions.
  const releaseEndedOf = db.prepare(
    'delete from restored_session where session_n in (select n from session where trigger_id = ? and finished_at is not null)',
  )
  const heldAt = db
    .prepare<{ id: string }, Instant>(
      `select at from restored_session where session_n = (select n from session where id = :id)
       union all
       select at from restored_trigger where trigger_id = :id`,
    )
    .pluck()
  const releasedByName = db.prepare<[string, Instant]>(
    `select 1 from run_trigger t
     where t.id = ? and t.created_at <= ? and not exists (select 1 from restored_trigger h where h.trigger_id = t.id)`,
  )
  const hold = db.prepare<[number, Instant]>('insert into restored_session (session_n, at) values (?, ?)')
  const readRestore = db.prepare<[], StoreRestore>(
    'select at, backed_up_at as backedUpAt, released_at as releasedAt, asks_until as asksUntil from restore',
  )
  const releaseStore = db.prepare<WholeRelease>(
    'update restore set released_at = coalesce(released_at, :at), asks_until = :asksUntil',
  )
  // A database is restored before it is opened, and one that never was has nothing to hold.
  const isRestored = readRestore.get() !== undefined
  const heldSince = (id: string) => (isRestored ? heldAt.get({ id }) : undefined)
  return {
    heldSince,
    reads: {
      async restoredAt(id) {
        return heldSince(id)
      },
      async restored(workspaceId: WorkspaceId) {
        return { sessions: sessions.pluck().all(workspaceId), triggers: triggers.pluck().all(workspaceId) }
      },
      async lastRestore() {
        return isRestored ? readRestore.get() : undefined
      },
    },
    holdOfNew({ triggerId, startedAt }) {
      const restore = isRestored ? readRestore.get() : undefined
      if (!restore || restore.releasedAt !== null) return undefined
      if (triggerId !== null && releasedByName.get(triggerId, restore.at) !== undefined) return undefined
      return Math.max(restore.at, startedAt)
    },
    hold: (sessionN, at) => void hold.run(sessionN, at),
    release(sessionIds, triggerIds, whole) {
      for (const id of sessionIds) releaseSession.run(id)
      for (const id of triggerIds) {
        releaseTrigger.run(id)
        releaseEndedOf.run(id)
      }
      if (whole) {
        db.exec('delete from restored_session')
        db.exec('delete from restored_trigger')
        releaseStore.run(whole)
      }
    },
  }
}
