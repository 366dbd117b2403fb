import { fail } from '../../base/failure.ts'
import type { WorkspaceId } from '../../base/ids.ts'
import { EFFECTS, EXPIRED, STANDS } from '../nouns/effects.ts'
import { toColumnText } from '../rows/json-column.ts'
import type { EffectChange } from '../session-update.ts'
import type { Database } from 'better-sqlite3'

export interface EffectTable {
  /** @throws Failure `effect_taken` when another call holds the key */
  apply(workspaceId: WorkspaceId, change: EffectChange): void
}

export function openEffects(db: Database): EffectTable {
  // In this order, so that the unique index decides between two calls that saw the key free.
  const giveWay = db.prepare(
    `update effect set holds = 0
     where workspace_id = :workspaceId and key = :key and holds = 1 and (id = :replaces or (${EXPIRED}))`,
  )
  const insert = db.prepare(EFFECTS.insert)
  const extend = db.prepare(`update effect set state = 'in_flight', not_after = :notAfter where id = :id`)
  const open = db.prepare<[string, string], { id: string; key: string; holds: number }>(
    `select id, key, holds from effect
     where run_id = ? and call_id = ? and state in ('in_flight', 'unknown')`,
  )
  const end = db.prepare('update effect set state = :state, result = :result, holds = :holds where id = :id')
  const holdNext = db.prepare(
    `update effect set holds = 1
     where id = (
       select id from effect
       where workspace_id = :workspaceId and key = :key and ${STANDS}
       order by at desc, id desc
       limit 1
     )`,
  )

  return {
    apply(workspaceId, change) {
      if ('take' in change) {
        const { approvedBy, ...claim } = change.take
        giveWay.run({ workspaceId, key: claim.key, replaces: claim.replaces, now: claim.at })
        try {
          insert.run({ ...claim, workspaceId, approvedBy: JSON.stringify(approvedBy), ...TAKEN })
        } catch (error) {
          if (!isTaken(error)) throw error
          throw fail('effect_taken', { key: claim.shown }, { cause: error })
        }
      } else if ('extend' in change) {
        extend.run(change.extend)
      } else {
        const { runId, callId, state, result } = change.end
        const stored = result === undefined ? null : toColumnText(result)
        for (const { id, key, holds } of open.all(runId, callId)) {
          const isGone = state === 'not_made'
          end.run({ id, state, result: stored, holds: isGone ? 0 : holds })
          if (isGone && holds === 1) holdNext.run({ workspaceId, key })
        }
      }
    },
  }
}

/** Of a key that a call has just taken. */
const TAKEN = { state: 'in_flight', holds: 1, result: null, releasedAt: null, releasedBy: null, releaseReason: null }

const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'SQLITE_CONSTRAINT_UNIQUE'
