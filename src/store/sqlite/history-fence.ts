import type { Database } from 'better-sqlite3'
import { fail } from '../../base/failure.ts'
import type { WorkspaceId } from '../../base/ids.ts'

export interface HistoryFence {
  /** Raises the version of the workspace. @throws Failure `history_moved_on` when it is not `seen` any more */
  raise(workspaceId: WorkspaceId, seen: number): void
}

export function openHistoryFence(db: Database): HistoryFence {
  const versionOf = db.prepare<[string], number>('select version from history_fence where workspace_id = ?').pluck()
  const put = db.prepare<[string, number]>(
    `insert into history_fence (workspace_id, version) values (?, ?)
     on conflict (workspace_id) do update set version = excluded.version`,
  )
  return {
    raise(workspaceId, seen) {
      if ((versionOf.get(workspaceId) ?? 0) !== seen) throw fail('history_moved_on')
      put.run(workspaceId, seen + 1)
    },
  }
}
