import type { RunId, SessionId } from '../../base/ids.ts'
import { toCall, toCallState, type StoredCallRow, type StoredCallStateRow } from '../rows/call-rows.ts'
import { toColumnText } from '../rows/json-column.ts'
import type { CallRow } from '../session-update.ts'
import type { Store } from '../store.ts'
import { listClause, statementCache } from './database/filter.ts'
import { joinClauses } from '../rows/filter.ts'
import type { Database } from 'better-sqlite3'

export interface CallTable {
  readonly reads: Pick<Store, 'calls' | 'callsNamed' | 'callStates'>
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
  const named = db.prepare<[string, string], StoredCallRow>(
    `${SELECT}
     where (c.session_n, c.run_n, c.call_id) in (
       select s.n, r.n, name.value ->> 'callId'
       from session s, json_each(?) name
         join run r on r.id = name.value ->> 'runId'
       where s.id = ?
     )`,
  )
  const states = db.prepare<[SessionId, string, RunId | null, string, number], StoredCallStateRow>(
    `select ${STATE}
     ${FROM}
     where c.session_n = (select n from session where id = ?)
       and c.run_n in (select r.n from json_each(?) given join run r on r.id = given.value)
       and (c.run_n, c.call_id) > (coalesce((select n from run where id = ?), 0), ?)
     order by c.run_n, c.call_id
     limit ?`,
  )

  return {
    reads: {
      async calls(filter) {
        const { where, values } = joinClauses([
          ['c.session_n = (select n from session where id = :sessionId)', filter.sessionId],
          [
            'c.run_n in (select r.n from json_each(:runIds) given join run r on r.id = given.value)',
            listClause(filter.runIds),
          ],
          ['c.agent_n in (select n from agent where id = :agentId)', filter.agentId],
          ['c.agent_n in (select n from agent where workspace_id = :workspaceId)', filter.workspaceId],
          ['c.at >= :since', filter.since],
        ])
        return prepared<StoredCallRow>(`${SELECT} where ${where} order by c.at, c.run_n, c.call_id`)
          .all(values)
          .map(toCall)
      },
      async callsNamed(sessionId, names) {
        return named.all(JSON.stringify(names), sessionId).map(toCall)
      },
      async callStates(sessionId, runIds, after, limit) {
        return states
          .all(sessionId, JSON.stringify(runIds), after?.runId ?? null, after?.callId ?? '', limit)
          .map(toCallState)
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
        toColumnText(call.arguments),
        call.state,
        call.attempt,
        call.idempotencyKey,
        call.at,
      ),
  }
}

const STATE = `s.id as session_id, r.id as run_id, c.call_id, a.id as agent_id, c.ref, c.arguments_digest, c.state,
    c.attempt, c.idempotency_key, c.at`

const FROM = `
  from call c
    join session s on s.n = c.session_n
    join run r on r.n = c.run_n
    join agent a on a.n = c.agent_n`

const SELECT = `select ${STATE}, c.arguments ${FROM}`
