import type { PauseAct } from '../../../spec/steer/pause.ts'
import type { Store } from '../../store.ts'
import type { PostgresPool } from '../database/pool.ts'

const ACTS = 'select kind, name, paused as "isPaused", at, by, reason from pause_act'

export const pauseMethods = (db: PostgresPool): Pick<Store, 'pauses' | 'pauseActs' | 'setPaused'> => ({
  pauses: (workspaceId) =>
    db.rows<PauseAct>(
      `${ACTS}
       where n in (select max(n) from pause_act where workspace_id = :workspaceId group by kind, name) and paused
       order by n`,
      { workspaceId },
    ),
  pauseActs: (workspaceId, limit) =>
    db.rows<PauseAct>(`${ACTS} where workspace_id = :workspaceId order by n desc limit :limit`, { workspaceId, limit }),
  setPaused: (workspaceId, { kind, name, isPaused, at, by, reason }) =>
    db.transaction(async (tx) => {
      // One after the other, so that two operators who pause the same thing record one act.
      await tx.rows('select lock_all(array[:lock])', { lock: `pause ${workspaceId}` })
      const latest = await tx.row<{ paused: boolean }>(
        `select paused from pause_act
         where workspace_id = :workspaceId and kind = :kind and name = :name
         order by n desc limit 1`,
        { workspaceId, kind, name },
      )
      if ((latest?.paused ?? false) === isPaused) return false
      await tx.run(
        `insert into pause_act (workspace_id, kind, name, paused, at, by, reason)
         values (:workspaceId, :kind, :name, :isPaused, :at, :by, :reason)`,
        { workspaceId, kind, name, isPaused, at, by, reason },
      )
      return true
    }),
})
