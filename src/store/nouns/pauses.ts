/** Pauses and resumptions by operators, in order. The last act of a kind and name is in force. */
import type { WorkspaceId } from '../../base/ids.ts'
import type { PauseAct } from '../../spec/steer/pause.ts'
import type { Dialect } from '../dialect.ts'
import { readRow, readRows, writeRows, type NounWork } from '../statement.ts'
import { defineTable } from './record-table.ts'

interface PauseRecord extends Omit<PauseAct, 'isPaused'> {
  readonly workspaceId: WorkspaceId
  readonly paused: boolean
}

export const PAUSE_ACTS = defineTable<PauseRecord>('pause_act', {
  workspaceId: 'text',
  kind: 'text',
  name: 'text',
  paused: 'boolean',
  at: 'integer',
  by: 'text',
  reason: 'text',
})

export function preparePauses({ isTrue, lock }: Dialect): NounWork<'pauses' | 'pauseActs', never, 'setPaused'> {
  const { select, insert, toValues, toRecord } = PAUSE_ACTS
  const toPauseAct = (row: object): PauseAct => {
    const { paused: isPaused, workspaceId: _, ...act } = toRecord(row)
    return { ...act, isPaused }
  }
  const present = `${select}
    where n in (select max(n) from pause_act where workspace_id = :workspaceId group by kind, name) and ${isTrue('paused')}
    order by n`
  const newest = `${select} where workspace_id = :workspaceId order by n desc limit :limit`
  const latest = `${select} where workspace_id = :workspaceId and kind = :kind and name = :name order by n desc limit 1`
  return {
    reads: {
      *pauses(workspaceId) {
        return (yield* readRows(present, { workspaceId })).map(toPauseAct)
      },
      *pauseActs(workspaceId, limit) {
        return (yield* readRows(newest, { workspaceId, limit })).map(toPauseAct)
      },
    },
    writes: {},
    transactions: {
      *setPaused(workspaceId, { isPaused, ...act }) {
        // One after the other, so that two operators who pause the same thing record one act.
        yield* lock(`pause ${workspaceId}`)
        const last = yield* readRow(latest, { workspaceId, kind: act.kind, name: act.name })
        if ((last !== undefined && toRecord(last).paused) === isPaused) return false
        yield* writeRows(insert, toValues({ workspaceId, ...act, paused: isPaused }))
        return true
      },
    },
  }
}
