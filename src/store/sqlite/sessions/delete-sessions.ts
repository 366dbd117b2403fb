/**
 * Deleting sessions that retention no longer keeps, a few at a time. Sums of costs and of plans stay, and so does a short record of
 * each call that may have had an effect. Source: docs/design/several-processes.md#retention-and-erasure
 */
import type { Database } from 'better-sqlite3'
import type { Instant } from '../../../base/clock.ts'
import { FORGET_RUN_TEXT } from '../run-text.ts'

/** A transaction takes no longer than about this, so that others are not held up. */
const BUDGET_MS = 20

/** In the order of deletion: each table before the ones it references. */
const OF_SESSION = [
  ...FORGET_RUN_TEXT,
  'delete from vote where task_n in (select n from user_task where session_n = ?)',
  'delete from user_task where session_n = ?',
  'delete from timer where session_n = ?',
  // Records remain of calls that were sent; denied and unsent calls had no effect.
  `insert into kept_call (agent_n, session_id, run_id, call_id, ref, arguments_digest, state, attempt, idempotency_key, at)
   select c.agent_n, s.id, r.id, c.call_id, c.ref, c.arguments_digest, c.state, c.attempt, c.idempotency_key, c.at
   from call c join session s on s.n = c.session_n join run r on r.n = c.run_n
   where c.session_n = ? and c.state in ('executed', 'failed', 'unknown', 'sent')
   on conflict do nothing`,
  'delete from call where session_n = ?',
  'delete from event where session_n = ?',
  'delete from step where session_n = ?',
  'delete from session_link where session_n = ?',
  `with gone (n) as (select ?)
   update agent
   set runs = runs - (select count(*) from run r join gone on r.session_n = gone.n where r.agent_n = agent.n)
   where n in (select r.agent_n from run r join gone on r.session_n = gone.n)`,
  'delete from run where session_n = ?',
  'update agent set sessions = sessions - 1 where n = (select agent_n from session where n = ?)',
  'delete from trace_mark where session_id = (select id from session where n = ?)',
  'delete from session where n = ?',
]

export interface SessionDeletion {
  /** Sessions deleted, and whether there may be more. */
  readonly deleted: number
  readonly more: boolean
}

/**
 * An ended session may still have an undoing run.
 * @returns a function that deletes sessions which ended before an instant, oldest first, at most `limit`
 */
export function prepareDeletion(db: Database): (before: Instant, limit: number) => SessionDeletion {
  const ended = db
    .prepare<{ before: Instant; limit: number }, number>(
      `select n from session s
       where started_at < :before and finished_at < :before and legal_hold = 0
         and not exists (select 1 from user_task t where t.session_n = s.n and t.status = 'pending')
         and not exists (select 1 from run r where r.session_n = s.n and r.finished_at is null)
       order by started_at
       limit :limit`,
    )
    .pluck()
  const statements = OF_SESSION.map((sql) => db.prepare<[number]>(sql))
  const tagsOf = db.prepare<[number], { agent_n: number; started_at: number; tag: string }>(
    `select s.agent_n, s.started_at, t.value as tag from session s, json_each(s.tags) t where s.n = ?`,
  )
  const deleteTag = db.prepare<[number, string, number, number]>(
    'delete from session_tag where agent_n = ? and tag = ? and started_at = ? and session_n = ?',
  )

  return (before, limit) => {
    const numbers = ended.all({ before, limit })
    const until = performance.now() + BUDGET_MS
    let deleted = 0
    for (const n of numbers) {
      for (const { agent_n: agentN, tag, started_at: at } of tagsOf.all(n)) deleteTag.run(agentN, tag, at, n)
      for (const statement of statements) statement.run(n)
      deleted++
      if (performance.now() > until) break
    }
    return { deleted, more: deleted < numbers.length || numbers.length === limit }
  }
}

/** @returns a function that deletes records of calls that are older than an instant, at most `limit` */
export function prepareCallDeletion(db: Database): (before: Instant, limit: number) => number {
  const statement = db.prepare<[Instant, number]>(
    'delete from kept_call where n in (select n from kept_call where at < ? order by at limit ?)',
  )
  return (before, limit) => statement.run(before, limit).changes
}
