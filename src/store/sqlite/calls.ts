import { toCall, type StoredCallRow } from '../rows/call-rows.ts'
import type { CallRow } from '../session-update.ts'
import type { Store } from '../store.ts'
import { statementCache } from './database/filter.ts'
import { joinClauses } from '../rows/filter.ts'
import type { Database } from 'better-sqlite3'

export interface CallTable {
  readonly reads: Pick<Store, 'calls'>
  /** Inserts a call or replaces its row. */
  put(sessionN: number, runN: number, call: CallRow): void
}

export function openCalls(db: Database): CallTable {
  const prepared = statementCache(db)
  // Takes the agent from the run, because an agent id alone does not tell the workspace.
  const put = db.prepare(
    `insert into call (
       session_n, run_n, call_id, agent_n, ref, arguments_digest, arguments, state, attempt, idempotency_key, at
     ) values (?, ?, ?, (select agent_n from run where n = ?), ?, ?, ?, ?, ?, ?, ?)
     on conflict (session_n, run_n, call_id) do update
     set ref = excluded.ref, arguments_digest = excluded.arguments_digest, arguments = excluded.arguments,
       state = excluded.state, attempt = excluded.attempt, idempotency_key = excluded.idempotency_key, at = excluded.at`,
  )

  return {
    reads: {
      async calls(filter) {
        const { where, values } = joinClauses([
          ['c.session_n = (select n from session where id = :sessionId)', filter.sessionId],
          ['c.agent_n in (select n from agent where id = :agentId)', filter.agentId],
          ['c.agent_n in (select n from agent where workspace_id = :workspaceId)', filter.workspaceId],
          ['c.at >= :since', filter.since],
        ])
        return prepared<StoredCallRow>(`${SELECT} where ${where} order by c.at, c.run_n, c.call_id`)
          .all(values)
          .map(toCall)
      },
    },
    put: (sessionN, runN, call) =>
      void put.run(
        sessionN,
        runN,
        call.callId,
        runN,
        call.ref,
        call.argumentsDigest,
        JSON.stringify(call.arguments),
        call.state,
        call.attempt,
        call.idempotencyKey,
        call.at,
      ),
  }
}

const SELECT = `
  select s.id as session_id, r.id as run_id, c.call_id, a.id as agent_id, c.ref, c.arguments_digest, c.arguments, c.state,
    c.attempt, c.idempotency_key, c.at
  from call c
    join session s on s.n = c.session_n
    join run r on r.n = c.run_n
    join agent a on a.n = c.agent_n`
