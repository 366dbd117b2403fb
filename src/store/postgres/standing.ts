import type { Store } from '../store.ts'
import type { PostgresPool } from './database/pool.ts'

export const standingMethods = (db: PostgresPool): Pick<Store, 'workspaceHistory' | 'setStandingRevoked'> => ({
  async workspaceHistory(workspaceId) {
    const found = (await db.row<{ version: number; revoked: string[] }>(
      `select coalesce((select version from history_fence where workspace_id = :workspaceId), 0) as version,
         array(
           select name from standing_act
           where n in (select max(n) from standing_act where workspace_id = :workspaceId group by name) and revoked
           order by name
         ) as revoked`,
      { workspaceId },
    ))!
    return found
  },
  async setStandingRevoked(workspaceId, { name, isRevoked, at, by, reason }) {
    await db.run(
      `with raised as (
         insert into history_fence (workspace_id, version) values (:workspaceId, 1)
         on conflict (workspace_id) do update set version = history_fence.version + 1
       )
       insert into standing_act (workspace_id, name, revoked, at, by, reason)
       values (:workspaceId, :name, :isRevoked, :at, :by, :reason)`,
      { workspaceId, name, isRevoked, at, by, reason },
    )
  },
})
