import type { SessionId } from '../../base/ids.ts'
import { toCall, type StoredCallRow } from '../rows/call-rows.ts'
import { joinClauses } from '../rows/filter.ts'
import type { CallRow } from '../session-update.ts'
import type { Store } from '../store.ts'
import type { PostgresPool } from './database/pool.ts'

export const callReads = (db: PostgresPool): Pick<Store, 'calls'> => ({
  async calls(filter) {
    const { where, values } = joinClauses([
      ['c.session_id = :sessionId', filter.sessionId],
      ['c.agent_id = :agentId', filter.agentId],
      ['c.workspace_id = :workspaceId', filter.workspaceId],
      ['c.at >= :since', filter.since],
    ])
    const rows = await db.rows<StoredCallRow>(
      `select c.session_id, c.run_id, c.call_id, c.agent_id, c.ref, c.arguments_digest, c.arguments, c.state, c.attempt,
         c.idempotency_key, c.at
       from call c join run r on r.id = c.run_id
       where ${where}
       order by c.at, r.n, c.call_id`,
      values,
    )
    return rows.map(toCall)
  },
})

export const toCallColumns = (sessionId: SessionId, call: CallRow) => ({
  session_id: sessionId,
  run_id: call.runId,
  call_id: call.callId,
  ref: call.ref,
  arguments_digest: call.argumentsDigest,
  arguments: JSON.stringify(call.arguments),
  state: call.state,
  attempt: call.attempt,
  idempotency_key: call.idempotencyKey,
  at: call.at,
})
