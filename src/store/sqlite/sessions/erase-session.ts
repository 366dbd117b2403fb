/**
 * Erasing the content of an ended session. Ids, times, states, counts, costs and the record of each call stay; texts of
 * people, models and tools are erased. Source: docs/design/several-processes.md#retention-and-erasure
 */
import type { Instant } from '../../../base/clock.ts'
import { fail } from '../../../base/failure.ts'
import type { SessionId } from '../../../base/ids.ts'
import type { JsonValue } from '../../../base/json/json.ts'
import { isTerminal, type RunStatusName } from '../../../spec/run/run.ts'
import type { TaskRecord } from '../../../spec/task.ts'
import { onlyNumbers, withoutWords } from '../../rows/erased.ts'
import type { Database } from 'better-sqlite3'
import { FORGET_RUN_TEXT, overwriteRunText } from '../run-text.ts'

interface ErasableRow {
  n: number
  agent_n: number
  started_at: number
  tags: string | null
  erased_at: number | null
  legal_hold: 0 | 1
}

/** @returns a function that erases a session; a second erasure changes nothing */
export function prepareErasure(db: Database): (id: SessionId, at: Instant) => void {
  const one = db.prepare<[string], ErasableRow>(
    'select n, agent_n, started_at, tags, erased_at, legal_hold from session where id = ?',
  )
  const statuses = db.prepare<[number], RunStatusName>('select status from run where session_n = ?').pluck()
  const pending = db
    .prepare<[number], number>(`select 1 from user_task where session_n = ? and status = 'pending' limit 1`)
    .pluck()
  const session = db.prepare<[Instant, number]>(
    `update session
     set erased_at = ?, version = version + 1, input = '{}', input_digest = null, output = null, output_digest = null,
       error = null, start_context = '{}', title = null, metadata = null, tags = null
     where n = ?`,
  )
  const statements = [
    `update run
     set input = '{}', output = null, error = null,
       state = json_object('at', 'done', 'outcome', json_extract(state, '$.outcome'), 'output', null)
     where session_n = ?`,
    `update step set content = 'null', hidden = null, result_digest = null, error = null where session_n = ?`,
    // Their digests stay, so that the chain of the session still holds.
    'update session_link set salt = null where session_n = ?',
    // Keeps the states in events, because readers find the end of a run by them.
    `update event
     set data = case
       when kind in ('run', 'session') and json_type(data) = 'array'
         then json_array(json_object('status', json_extract(data, '$[0].status'), 'output', null, 'error', null))
       else '[{}]' end
     where session_n = ? and ordinal is null`,
    'update vote set comment = null where task_n in (select n from user_task where session_n = ?)',
  ].map((sql) => db.prepare<[number]>(sql))
  const words = FORGET_RUN_TEXT.map((sql) => db.prepare<[number]>(sql))
  // Keeps the record of the effect, which must not happen again.
  const effectResults = db.prepare<[string]>('update effect set result = null where session_id = ?')
  const calls = db.prepare<[number], { run_n: number; call_id: string; arguments: string }>(
    'select run_n, call_id, arguments from call where session_n = ?',
  )
  const updateCall = db.prepare<[string, number, number, string]>(
    'update call set arguments = ? where session_n = ? and run_n = ? and call_id = ?',
  )
  const tasks = db.prepare<[number], { n: number; body: string }>('select n, body from user_task where session_n = ?')
  const updateTask = db.prepare<[string, number]>('update user_task set body = ? where n = ?')
  const deleteTag = db.prepare<[number, string, number, number]>(
    'delete from session_tag where agent_n = ? and tag = ? and started_at = ? and session_n = ?',
  )

  return (id, at) => {
    const row = one.get(id)
    if (!row) throw fail('not_found', { what: 'session' })
    const { n } = row
    if (row.erased_at !== null) return
    if (row.legal_hold === 1) throw fail('session_on_hold')
    const open = statuses.all(n).find((status) => !isTerminal(status))
    if (open !== undefined) throw fail('session_not_ended', { status: open })
    // A call of unknown outcome still needs its review.
    if (pending.get(n) !== undefined) throw fail('session_not_ended', { status: 'WaitingForHITL' })
    overwriteRunText(db, true)
    try {
      for (const statement of words) statement.run(n)
      session.run(at, n)
      for (const statement of statements) statement.run(n)
      effectResults.run(id)
      for (const call of calls.all(n))
        updateCall.run(
          JSON.stringify(onlyNumbers(JSON.parse(call.arguments) as JsonValue)),
          n,
          call.run_n,
          call.call_id,
        )
      for (const task of tasks.all(n))
        updateTask.run(JSON.stringify(withoutWords(JSON.parse(task.body) as TaskRecord)), task.n)
      for (const tag of JSON.parse(row.tags ?? '[]') as string[]) deleteTag.run(row.agent_n, tag, row.started_at, n)
    } finally {
      overwriteRunText(db, false)
    }
  }
}
