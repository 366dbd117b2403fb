import type { Database } from 'better-sqlite3'
import { fail } from '../../base/failure.ts'
import type { WorkspaceId } from '../../base/ids.ts'
import type { Store } from '../store.ts'

export interface StandingTable {
  readonly reads: Pick<Store, 'workspaceHistory'>
  /** Raises the version of the workspace. @throws Failure `history_moved_on` when it is not `seen` any more */
  raise(workspaceId: WorkspaceId, seen: number): void
  setRevoked(...act: Parameters<Store['setStandingRevoked']>): void
}

export function openStanding(db: Database): StandingTable {
  const versionOf = db.prepare<[string], number>('select version from history_fence where workspace_id = ?').pluck()
  const put = db.prepare<[string, number]>(
    `insert into history_fence (workspace_id, version) values (?, ?)
     on conflict (workspace_id) do update set version = excluded.version`,
  )
  const revoked = db
    .prepare<[string], string>(
      `select name from standing_act
       where n in (select max(n) from standing_act where workspace_id = ? group by name) and revoked = 1
       order by name`,
    )
    .pluck()
  const add = db.prepare(
    `insert into standing_act (workspace_id, name, revoked, at, by, reason)
     values (:workspaceId, :name, :revoked, :at, :by, :reason)`,
  )
  const version = (workspaceId: WorkspaceId): number => versionOf.get(workspaceId) ?? 0
  return {
    reads: {
      async workspaceHistory(workspaceId) {
        return { version: version(workspaceId), revoked: revoked.all(workspaceId) }
      },
    },
    raise(workspaceId, seen) {
      if (version(workspaceId) !== seen) throw fail('history_moved_on')
      put.run(workspaceId, seen + 1)
    },
    setRevoked(workspaceId, { name, isRevoked, at, by, reason }) {
      add.run({ workspaceId, name, revoked: Number(isRevoked), at, by, reason })
      put.run(workspaceId, version(workspaceId) + 1)
    },
  }
}
