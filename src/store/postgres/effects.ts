import { QUARANTINE_MARGIN_MS } from '../../spec/effect.ts'
import { joinClauses } from '../rows/filter.ts'
import { MAX_OF_KEY, refuseInFlight, toEffect, type StoredEffect } from '../rows/effect-rows.ts'
import { toColumnText } from '../rows/json-column.ts'
import { OUTSIDE_AGENT } from '../queries.ts'
import type { EffectChange } from '../session-update.ts'
import type { Store } from '../store.ts'
import type { PostgresPool } from './database/pool.ts'
import type { PostgresQueries } from './database/queries.ts'

/** A call that was made, is under way or may have been made, and that no operator has released. */
const STANDS = `state <> 'not_made' and released_at is null`
const EXPIRED = `state = 'done' and expires_at is not null and expires_at <= :now`

const SELECT = `
  select id, workspace_id, key, shown, session_id, run_id, call_id, tool, tool_version, agent, agent_version, arguments_digest, at,
    not_after, expires_at, state, result, approved_by, replaces, released_at, released_by, release_reason, holds::int as holds
  from effect`

export const effectMethods = (
  db: PostgresPool,
): Pick<Store, 'effectsOfKey' | 'effects' | 'releaseEffect' | 'recordKnownEffects'> => {
  const ofKey = (on: PostgresQueries, workspaceId: string, key: string, now: number) =>
    on.rows<StoredEffect>(
      `${SELECT} where workspace_id = :workspaceId and key = :key and ${STANDS} and not (${EXPIRED})
       order by at desc, id desc limit ${MAX_OF_KEY}`,
      { workspaceId, key, now },
    )
  return {
    async effectsOfKey(workspaceId, key, now) {
      return (await ofKey(db, workspaceId, key, now)).map(toEffect)
    },
    async effects({ workspaceId, key, sessionId, runIds, holds, from }, { skip, take }) {
      const { where, values } = joinClauses([
        ['workspace_id = :workspaceId', workspaceId],
        ['key = :key', key],
        ['session_id = :sessionId', sessionId],
        ['run_id = any (cast(:runIds as uuid[]))', runIds],
        ['at >= :from', from],
        ['holds', holds || undefined],
        ['not holds', holds === false || undefined],
      ])
      const rows = await db.rows<StoredEffect>(
        `${SELECT} where ${where} order by at desc, id desc limit :take offset :skip`,
        { ...values, take, skip },
      )
      return rows.map(toEffect)
    },
    async recordKnownEffects(workspaceId, { keys, by, ...known }) {
      const taken = await db.rows(
        `insert into effect (
           id, workspace_id, key, shown, session_id, run_id, call_id, tool, tool_version, agent, agent_version, arguments_digest, at,
           not_after, expires_at, state, result, approved_by, replaces, holds
         )
         select k.id, :workspaceId, k.key, k.shown, :sessionId::uuid, :runId::uuid, '', '', '', '${OUTSIDE_AGENT}', '', '',
           :at::bigint, :at::bigint, null, 'done', null, :approvedBy, null, true
         from unnest(:ids::text[], :keys::text[], :shown::text[]) as k (id, key, shown)
         on conflict do nothing
         returning id`,
        {
          ...known,
          workspaceId,
          ids: keys.map(({ id }) => id),
          keys: keys.map(({ key }) => key),
          shown: keys.map(({ shown }) => shown),
          approvedBy: JSON.stringify([by]),
        },
      )
      return taken.length
    },
    releaseEffect: (workspaceId, key, by, reason, at) =>
      db.transaction(async (tx) => {
        await tx.rows('select id from effect where workspace_id = :workspaceId and key = :key order by id for update', {
          workspaceId,
          key,
        })
        const standing = (await ofKey(tx, workspaceId, key, -1)).map(toEffect)
        refuseInFlight(standing, at)
        // A call may have taken the key since the last statement.
        await tx.run(
          `update effect set holds = false, released_at = :at, released_by = :by, release_reason = :reason
           where workspace_id = :workspaceId and key = :key and ${STANDS}
             and not (state in ('in_flight', 'unknown') and not_after > :arrived)`,
          { workspaceId, key, by, reason, at, arrived: at - QUARANTINE_MARGIN_MS },
        )
        return standing
      }),
  }
}

/** A change of a save as the function that applies it reads it. */
export function toEffectColumns(change: EffectChange): object {
  if ('take' in change) {
    const { take } = change
    return {
      take: {
        id: take.id,
        key: take.key,
        shown: take.shown,
        session_id: take.sessionId,
        run_id: take.runId,
        call_id: take.callId,
        tool: take.tool,
        tool_version: take.toolVersion,
        agent: take.agent,
        agent_version: take.agentVersion,
        arguments_digest: take.argumentsDigest,
        at: take.at,
        not_after: take.notAfter,
        expires_at: take.expiresAt,
        approved_by: JSON.stringify(take.approvedBy),
        replaces: take.replaces,
      },
    }
  }
  if ('extend' in change) return { extend: { id: change.extend.id, not_after: change.extend.notAfter } }
  const { runId, callId, state, result } = change.end
  return {
    end: { run_id: runId, call_id: callId, state, result: result === undefined ? null : toColumnText(result) },
  }
}
