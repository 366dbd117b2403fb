import type { SessionId } from '../../base/ids.ts'
import { toCall, toCallState, type StoredCallRow, type StoredCallStateRow } from '../rows/call-rows.ts'
import { joinClauses } from '../rows/filter.ts'
import { toColumnText } from '../rows/json-column.ts'
import type { CallRow } from '../session-update.ts'
import type { Store } from '../store.ts'
import type { PostgresPool } from './database/pool.ts'

export const callReads = (db: PostgresPool): Pick<Store, 'calls' | 'callsNamed' | 'callStates'> => ({
  async calls(filter) {
    const { where, values } = joinClauses([
      ['c.session_id = :sessionId', filter.sessionId],
      ['c.run_id = any (cast(:runIds as uuid[]))', filter.runIds],
      ['c.agent_id = :agentId', filter.agentId],
      ['c.workspace_id = :workspaceId', filter.workspaceId],
      ['c.at >= :since', filter.since],
    ])
    const rows = await db.rows<StoredCallRow>(
      `select ${STATE}, c.arguments
       from call c join run r on r.id = c.run_id
       where ${where}
       order by c.at, r.n, c.call_id`,
      values,
    )
    return rows.map(toCall)
  },
  async callsNamed(sessionId, names) {
    const rows = await db.rows<StoredCallRow>(
      `select ${STATE}, c.arguments
       from call c
       where c.session_id = :sessionId
         and (c.run_id, c.call_id) in (select * from unnest(cast(:runs as uuid[]), cast(:calls as text[])))`,
      { sessionId, runs: names.map(({ runId }) => runId), calls: names.map(({ callId }) => callId) },
    )
    return rows.map(toCall)
  },
  async callStates(sessionId, runIds, after, limit) {
    const rows = await db.rows<StoredCallStateRow>(
      `select ${STATE}
       from call c
       where c.session_id = :sessionId and c.run_id = any (cast(:runIds as uuid[]))
         and (c.run_id, c.call_id) > (cast(:runId as uuid), :callId)
       order by c.run_id, c.call_id
       limit :limit`,
      { sessionId, runIds, runId: after?.runId ?? FIRST_RUN, callId: after?.callId ?? '', limit },
    )
    return rows.map(toCallState)
  },
})

const STATE = `c.session_id, c.run_id, c.call_id, c.agent_id, c.ref, c.arguments_digest, c.state, c.attempt,
         c.idempotency_key, c.at`

/** Sorts before every id. */
const FIRST_RUN = '00000000-0000-0000-0000-000000000000'

export const toCallColumns = (sessionId: SessionId, call: CallRow) => ({
  session_id: sessionId,
  run_id: call.runId,
  call_id: call.callId,
  ref: call.ref,
  arguments_digest: call.argumentsDigest,
  arguments: toColumnText(call.arguments),
  state: call.state,
  attempt: call.attempt,
  idempotency_key: call.idempotencyKey,
  at: call.at,
})
