import type { Database } from 'better-sqlite3'
import type { PauseAct } from '../../../spec/steer/pause.ts'
import type { Store } from '../../store.ts'
import { createRowCache } from '../database/row-cache.ts'

export interface PauseTable {
  readonly reads: Pick<Store, 'pauses' | 'pauseActs'>
  set(...act: Parameters<Store['setPaused']>): boolean
}

interface PauseRow extends Omit<PauseAct, 'isPaused'> {
  readonly paused: 0 | 1
}

export function openPauses(db: Database): PauseTable {
  const columns = 'kind, name, paused, at, by, reason'
  const pauses = db.prepare<[string], PauseRow>(
    `select ${columns} from pause_act
     where n in (select max(n) from pause_act where workspace_id = ? group by kind, name) and paused = 1
     order by n`,
  )
  const acts = db.prepare<[string, number], PauseRow>(
    `select ${columns} from pause_act where workspace_id = ? order by n desc limit ?`,
  )
  const latest = db
    .prepare<[string, string, string], 0 | 1>(
      'select paused from pause_act where workspace_id = ? and kind = ? and name = ? order by n desc limit 1',
    )
    .pluck()
  const add = db.prepare(
    `insert into pause_act (workspace_id, kind, name, paused, at, by, reason)
     values (:workspaceId, :kind, :name, :paused, :at, :by, :reason)`,
  )
  // Every start asks, and the acts of years are many.
  const current = createRowCache((workspaceId): readonly PauseAct[] => pauses.all(workspaceId).map(toPauseAct))
  return {
    reads: {
      async pauses(workspaceId) {
        return current.get(workspaceId)!
      },
      async pauseActs(workspaceId, limit) {
        return acts.all(workspaceId, limit).map(toPauseAct)
      },
    },
    set(workspaceId, { isPaused, ...act }) {
      if ((latest.get(workspaceId, act.kind, act.name) === 1) === isPaused) return false
      current.clear(workspaceId)
      add.run({ workspaceId, ...act, paused: Number(isPaused) })
      return true
    },
  }
}

const toPauseAct = ({ paused, ...act }: PauseRow): PauseAct => ({ ...act, isPaused: paused === 1 })
