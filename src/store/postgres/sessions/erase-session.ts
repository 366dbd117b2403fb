/**
 * Erasing the content of an ended session. Ids, times, states, counts, costs and the record of each call stay; what people, models
 * and tools wrote goes. Source: docs/design/several-processes.md#retention-and-erasure
 */
import type { Instant } from '../../../base/clock.ts'
import { fail } from '../../../base/failure.ts'
import type { SessionId } from '../../../base/ids.ts'
import type { JsonValue } from '../../../base/json/json.ts'
import { isTerminal, type RunStatusName } from '../../../spec/run/run.ts'
import type { TaskRecord } from '../../../spec/task.ts'
import { onlyNumbers, withoutWords } from '../../rows/erased.ts'
import type { Store } from '../../store.ts'
import type { SessionHints } from '../database/hints.ts'
import type { PostgresPool } from '../database/pool.ts'
import type { PostgresQueries } from '../database/queries.ts'

interface ErasableRow {
  erased_at: number | null
  legal_hold: boolean
  has_pending: boolean
}

const STATEMENTS = [
  `update run
   set input = '{}', output = null, error = null,
     state = json_build_object('at', 'done', 'outcome', state::json -> 'outcome', 'output', null)::text
   where session_id = :id`,
  `with erased as (
     update step t set content = 'null', hidden = null, result_digest = null, error = null
     from (select session_id, ordinal, result_digest from step where session_id = :id for update) old
     where t.session_id = old.session_id and t.ordinal = old.ordinal
     returning old.result_digest
   )
   delete from large_result l
   where digest in (select result_digest from erased where result_digest is not null)
     and not exists (select 1 from step t where t.result_digest = l.digest and t.session_id <> :id)`,
  // Their digests stay, so that the chain of the session still holds.
  'update session_link set salt = null where session_id = :id',
  // States in events stay: readers find the end of a run by them.
  `update event
   set data = case
     when kind in ('run', 'session') and data like '[%'
       then json_build_array(
         json_build_object('status', data::json -> 0 -> 'status', 'output', null, 'error', null)
       )::text
     else '[{}]' end
   where session_id = :id and ordinal is null`,
  'update vote set comment = null where task_id in (select id from user_task where session_id = :id)',
  // The record that the effect was made stays, so that it does not happen again.
  'update effect set result = null where session_id = :id',
  'delete from run_words where session_id = :id',
  'delete from session_tag where session_id = :id',
]

export const erasureMethods = (db: PostgresPool, hints: SessionHints): Pick<Store, 'eraseSession'> => ({
  async eraseSession(id, at) {
    await erasePostgresSession(db, id, at)
    hints.changed([id])
  },
})

/** A second erasure changes nothing. @throws Failure `not_found`, `session_not_ended`, `session_on_hold` */
const erasePostgresSession = (db: PostgresPool, id: SessionId, at: Instant): Promise<void> =>
  db.transaction(async (tx) => {
    const row = await tx.row<ErasableRow>(
      `select erased_at, legal_hold,
         exists (select 1 from user_task t where t.session_id = s.id and t.status = 'pending') as has_pending
       from session s where id = :id for update`,
      { id },
    )
    if (!row) throw fail('not_found', { what: 'session' })
    if (row.erased_at !== null) return
    if (row.legal_hold) throw fail('session_on_hold')
    const runs = await tx.rows<{ status: RunStatusName }>('select status from run where session_id = :id', { id })
    const open = runs.find(({ status }) => !isTerminal(status))
    if (open) throw fail('session_not_ended', { status: open.status })
    // A call of unknown outcome may have happened, and somebody has yet to say so.
    if (row.has_pending) throw fail('session_not_ended', { status: 'WaitingForHITL' })
    await tx.run(
      `update session
       set erased_at = :at, version = version + 1, input = '{}', input_digest = null, output = null, output_digest = null,
         error = null, start_context = '{}', title = null, metadata = null, tags = null
       where id = :id`,
      { id, at },
    )
    for (const sql of STATEMENTS) await tx.run(sql, { id })
    await eraseCalls(tx, id)
    await eraseTasks(tx, id)
  })

async function eraseCalls(tx: PostgresQueries, id: SessionId): Promise<void> {
  const calls = await tx.rows<{ run_id: string; call_id: string; arguments: string }>(
    'select run_id, call_id, arguments from call where session_id = :id',
    { id },
  )
  for (const { run_id: runId, call_id: callId, arguments: given } of calls)
    await tx.run('update call set arguments = :left where session_id = :id and run_id = :runId and call_id = :callId', {
      id,
      runId,
      callId,
      left: JSON.stringify(onlyNumbers(JSON.parse(given) as JsonValue)),
    })
}

async function eraseTasks(tx: PostgresQueries, id: SessionId): Promise<void> {
  const tasks = await tx.rows<{ n: number; body: string }>('select n, body from user_task where session_id = :id', {
    id,
  })
  for (const { n, body } of tasks)
    await tx.run('update user_task set body = :left where n = :n', {
      n,
      left: JSON.stringify(withoutWords(JSON.parse(body) as TaskRecord)),
    })
}
