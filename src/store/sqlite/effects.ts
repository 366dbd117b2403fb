import type { Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { WorkspaceId } from '../../base/ids.ts'
import type { EffectRecord } from '../../spec/effect.ts'
import { MAX_OF_KEY, refuseInFlight, toEffect, type StoredEffect } from '../rows/effect-rows.ts'
import { toColumnText } from '../rows/json-column.ts'
import { OUTSIDE_AGENT, type KnownEffects } from '../queries.ts'
import type { EffectChange } from '../session-update.ts'
import type { Store } from '../store.ts'
import { listClause, statementCache } from './database/filter.ts'
import { joinClauses } from '../rows/filter.ts'
import type { Database } from 'better-sqlite3'

export interface EffectTable {
  readonly reads: Pick<Store, 'effectsOfKey' | 'effects'>
  /** @throws Failure `effect_taken` when another call holds the key */
  apply(workspaceId: WorkspaceId, change: EffectChange): void
  /**
   * Lets the effect happen again.
   * @returns the records that held the key or would hold it next
   * @throws Failure `effect_in_flight`
   */
  release(workspaceId: WorkspaceId, key: string, by: string, reason: string, at: Instant): readonly EffectRecord[]
  recordKnown(workspaceId: WorkspaceId, known: KnownEffects): number
}

/** A call that was made, is under way or may have been made, and that no operator has released. */
const STANDS = `state <> 'not_made' and released_at is null`
const EXPIRED = `state = 'done' and expires_at is not null and expires_at <= :now`

export function openEffects(db: Database): EffectTable {
  const prepared = statementCache(db)
  // In this order, so that the unique index decides between two calls that saw the key free.
  const giveWay = db.prepare(
    `update effect set holds = 0
     where workspace_id = :workspaceId and key = :key and holds = 1 and (id = :replaces or (${EXPIRED}))`,
  )
  const insert = db.prepare(
    `insert into effect (
       id, workspace_id, key, shown, session_id, run_id, call_id, tool, tool_version, agent, agent_version, arguments_digest, at,
       not_after, expires_at, state, result, approved_by, replaces, holds
     ) values (
       :id, :workspaceId, :key, :shown, :sessionId, :runId, :callId, :tool, :toolVersion, :agent, :agentVersion,
       :argumentsDigest, :at, :notAfter, :expiresAt, 'in_flight', null, :approvedBy, :replaces, 1
     )`,
  )
  const insertKnown = db.prepare(
    `insert into effect (
       id, workspace_id, key, shown, session_id, run_id, call_id, tool, tool_version, agent, agent_version, arguments_digest, at,
       not_after, expires_at, state, result, approved_by, replaces, holds
     ) values (
       :id, :workspaceId, :key, :shown, :sessionId, :runId, '', '', '', '${OUTSIDE_AGENT}', '', '', :at, :at, null, 'done', null,
       :approvedBy, null, 1
     ) on conflict do nothing`,
  )
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
  const ofKey = db.prepare<[object], StoredEffect>(
    `select * from effect where workspace_id = :workspaceId and key = :key and ${STANDS} and not (${EXPIRED})
     order by at desc, id desc limit ${MAX_OF_KEY}`,
  )
  const release = db.prepare(
    `update effect set holds = 0, released_at = :at, released_by = :by, release_reason = :reason
     where workspace_id = :workspaceId and key = :key and ${STANDS}`,
  )

  return {
    reads: {
      async effectsOfKey(workspaceId, key, now) {
        return ofKey.all({ workspaceId, key, now }).map(toEffect)
      },
      async effects({ workspaceId, key, sessionId, runIds, holds, from }, { skip, take }) {
        const { where, values } = joinClauses([
          ['workspace_id = :workspaceId', workspaceId],
          ['key = :key', key],
          ['session_id = :sessionId', sessionId],
          ['run_id in (select value from json_each(:runIds))', listClause(runIds)],
          ['at >= :from', from],
          ['holds = :holds', holds === undefined ? undefined : Number(holds)],
        ])
        return prepared<StoredEffect>(
          `select * from effect where ${where} order by at desc, id desc limit ${take} offset ${skip}`,
        )
          .all(values)
          .map(toEffect)
      },
    },
    apply(workspaceId, change) {
      if ('take' in change) {
        const { approvedBy, ...claim } = change.take
        giveWay.run({ workspaceId, key: claim.key, replaces: claim.replaces, now: claim.at })
        try {
          insert.run({ ...claim, workspaceId, approvedBy: JSON.stringify(approvedBy) })
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
    release(workspaceId, key, by, reason, at) {
      const standing = ofKey.all({ workspaceId, key, now: -1 }).map(toEffect)
      refuseInFlight(standing, at)
      release.run({ workspaceId, key, by, reason, at })
      return standing
    },
    recordKnown(workspaceId, { keys, by, ...known }) {
      const approvedBy = JSON.stringify([by])
      return keys.filter((key) => insertKnown.run({ ...key, ...known, workspaceId, approvedBy }).changes > 0).length
    },
  }
}

const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'SQLITE_CONSTRAINT_UNIQUE'
