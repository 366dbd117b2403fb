/** Effect keys and the calls that took them. What a save does with them stands with the saves of each database. */
import type { Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { WorkspaceId } from '../../base/ids.ts'
import { mayStillArrive, QUARANTINE_MARGIN_MS, type EffectRecord } from '../../spec/effect.ts'
import type { Dialect } from '../dialect.ts'
import { OUTSIDE_AGENT } from '../queries.ts'
import { joinClauses } from '../rows/filter.ts'
import { toValue } from '../rows/json-column.ts'
import { readRows, writeRows, type DatabaseWork, type NounWork } from '../statement.ts'
import { defineTable } from './record-table.ts'

/** As it is stored: with the text of its result, and what an operator who released the key said. */
interface StoredEffect extends Omit<EffectRecord, 'result' | 'released'> {
  readonly result: string | null
  readonly releasedAt: Instant | null
  readonly releasedBy: string | null
  readonly releaseReason: string | null
}

export const EFFECTS = defineTable<StoredEffect>('effect', {
  id: 'text',
  workspaceId: 'text',
  key: 'text',
  shown: 'text',
  sessionId: 'uuid',
  runId: 'uuid',
  callId: 'text',
  tool: 'text',
  toolVersion: 'text',
  agent: 'text',
  agentVersion: 'text',
  argumentsDigest: 'text',
  at: 'integer',
  notAfter: 'integer',
  expiresAt: 'integer',
  state: 'text',
  result: 'text',
  approvedBy: 'json',
  replaces: 'text',
  holds: 'boolean',
  releasedAt: 'integer',
  releasedBy: 'text',
  releaseReason: 'text',
})

/** Calls of one key that are read: repetitions that people approved. */
const MAX_OF_KEY = 16

/** A call that was made, is under way or may have been made, and that no operator has released. */
export const STANDS = `state <> 'not_made' and released_at is null`
export const EXPIRED = `state = 'done' and expires_at is not null and expires_at <= :now`

function toEffect(row: object): EffectRecord {
  const { result, releasedAt, releasedBy, releaseReason, ...effect } = EFFECTS.toRecord(row)
  return {
    ...effect,
    ...(result !== null && { result: toValue(result) }),
    ...(releasedAt !== null && {
      released: { at: releasedAt, by: releasedBy ?? '', reason: releaseReason ?? '' },
    }),
  }
}

export function prepareEffects({
  isTrue,
  isOneOf,
  records,
  forUpdate,
}: Dialect): NounWork<'effectsOfKey' | 'effects', 'recordKnownEffects', 'releaseEffect'> {
  const { select } = EFFECTS
  const ofKey = `${select} where workspace_id = :workspaceId and key = :key and ${STANDS} and not (${EXPIRED})
    order by at desc, id desc limit ${MAX_OF_KEY}`
  const lock = `select id from effect where workspace_id = :workspaceId and key = :key order by id ${forUpdate}`
  // A call may have taken the key since it was read.
  const release = `update effect set holds = :holds, released_at = :at, released_by = :by, release_reason = :reason
    where workspace_id = :workspaceId and key = :key and ${STANDS}
      and not (state in ('in_flight', 'unknown') and not_after > :arrived)`
  const given = records(
    'effects',
    { id: 'text', key: 'text', shown: 'text', sessionId: 'uuid', runId: 'uuid', at: 'bigint', approvedBy: 'text' },
    'k',
  )
  const record = `insert into effect (
      id, workspace_id, key, shown, session_id, run_id, call_id, tool, tool_version, agent, agent_version, arguments_digest, at,
      not_after, expires_at, state, result, approved_by, replaces, holds
    )
    select k.id, :workspaceId, k.key, k.shown, k."sessionId", k."runId", '', '', '', '${OUTSIDE_AGENT}', '', '',
      k.at, k.at, null, 'done', null, k."approvedBy", null, 1 = 1
    from ${given}
    where true
    on conflict do nothing`

  function* readStanding(workspaceId: WorkspaceId, key: string, now: Instant): DatabaseWork<readonly EffectRecord[]> {
    return (yield* readRows(ofKey, { workspaceId, key, now })).map(toEffect)
  }

  return {
    reads: {
      effectsOfKey: readStanding,
      *effects({ workspaceId, key, sessionId, runIds, holds, from }, { skip, take }) {
        const { where, values } = joinClauses([
          ['workspace_id = :workspaceId', workspaceId],
          ['key = :key', key],
          ['session_id = :sessionId', sessionId],
          [isOneOf('run_id', 'runIds', 'uuid'), runIds],
          ['at >= :from', from],
          [isTrue('holds'), holds || undefined],
          [`not (${isTrue('holds')})`, holds === false || undefined],
        ])
        const rows = yield* readRows(`${select} where ${where} order by at desc, id desc limit :take offset :skip`, {
          ...values,
          take,
          skip,
        })
        return rows.map(toEffect)
      },
    },
    writes: {
      recordKnownEffects: (workspaceId, { keys, by, ...known }) =>
        writeRows(record, {
          workspaceId,
          effects: JSON.stringify(keys.map((key) => ({ ...key, ...known, approvedBy: JSON.stringify([by]) }))),
        }),
    },
    transactions: {
      *releaseEffect(workspaceId, key, by, reason, at) {
        yield* readRows(lock, { workspaceId, key })
        const standing = yield* readStanding(workspaceId, key, -1)
        // One of the calls may still arrive: its key cannot be released.
        const inFlight = standing.find((each) => mayStillArrive(each, at))
        if (inFlight) throw fail('effect_in_flight', { key: inFlight.shown, runId: inFlight.runId })
        const arrived = at - QUARANTINE_MARGIN_MS
        yield* writeRows(release, { workspaceId, key, by, reason, at, arrived, holds: false })
        return standing
      },
    },
  }
}
