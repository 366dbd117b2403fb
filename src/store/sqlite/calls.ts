import { toColumnText } from '../rows/json-column.ts'
import type { CallRow } from '../session-update.ts'
import type { Database } from 'better-sqlite3'

export interface CallTable {
  /** Inserts a call or replaces its row. */
  put(sessionN: number, runN: number, call: CallRow): void
}

export function openCalls(db: Database): CallTable {
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
    put: (sessionN, runN, call) =>
      void put.run(
        sessionN,
        runN,
        call.callId,
        runN,
        call.ref,
        call.argumentsDigest,
        toColumnText(call.arguments),
        call.state,
        call.attempt,
        call.idempotencyKey,
        call.at,
      ),
  }
}
