/** Deleting sessions that retention no longer keeps, and all of them. Source: docs/design/several-processes.md#retention-and-erasure */
import type { Store } from '../../store.ts'
import type { PostgresPool } from '../database/pool.ts'

type DeletionMethods = Pick<Store, 'deleteEndedSessions' | 'deleteKeptCalls' | 'deleteAllRuns'>

/** In the order of deletion: each table before the ones that are needed to find its rows. */
const OF_SESSIONS = [
  'delete from vote where task_id in (select id from user_task where session_id = any (:ids::uuid[]))',
  'delete from user_task where session_id = any (:ids::uuid[])',
  'delete from timer where session_id = any (:ids::uuid[])',
  'delete from trace_mark where session_id = any (:ids::uuid[])',
  'delete from run_words where session_id = any (:ids::uuid[])',
  'delete from plan_reservation where session_id = any (:ids::uuid[])',
  // Only calls that were sent leave a record; a call that was denied or never left had no effect.
  `insert into kept_call (agent_id, session_id, run_id, call_id, ref, arguments_digest, state, attempt, idempotency_key, at)
   select agent_id, session_id, run_id, call_id, ref, arguments_digest, state, attempt, idempotency_key, at
   from call
   where session_id = any (:ids::uuid[]) and state in ('executed', 'failed', 'unknown', 'sent')
   on conflict do nothing`,
  'delete from call where session_id = any (:ids::uuid[])',
  'delete from event where session_id = any (:ids::uuid[])',
  'delete from session_link where session_id = any (:ids::uuid[])',
  `with gone as (
     delete from step where session_id = any (:ids::uuid[]) returning result_digest
   )
   delete from large_result l
   where digest in (select result_digest from gone where result_digest is not null)
     and not exists (
       select 1 from step t where t.result_digest = l.digest and t.session_id <> all (:ids::uuid[])
     )`,
  `with gone as (
     delete from run where session_id = any (:ids::uuid[]) returning workspace_id, agent_id
   )
   insert into agent_count (workspace_id, agent_id, what, shard, counted)
   select workspace_id, agent_id, 'runs', 0, -count(*) from gone group by workspace_id, agent_id order by agent_id
   on conflict (agent_id, what, shard) do update set counted = agent_count.counted + excluded.counted`,
  `with gone as (
     delete from session where id = any (:ids::uuid[]) returning workspace_id, agent_id, status
   )
   insert into agent_count (workspace_id, agent_id, what, shard, counted)
   select workspace_id, agent_id, status, 0, -count(*) from gone group by workspace_id, agent_id, status
   order by agent_id, status
   on conflict (agent_id, what, shard) do update set counted = agent_count.counted + excluded.counted`,
]

export const deletionMethods = (db: PostgresPool): DeletionMethods => ({
  deleteEndedSessions: (before, limit) =>
    db.transaction(async (tx) => {
      const found = await tx.rows<{ id: string }>(
        `select id from session s
         where started_at < :before and finished_at < :before and not legal_hold
           and not exists (select 1 from user_task t where t.session_id = s.id and t.status = 'pending')
           and not exists (select 1 from run r where r.session_id = s.id and r.finished_at is null)
         order by started_at
         limit :limit
         for update skip locked`,
        { before, limit },
      )
      const ids = found.map(({ id }) => id)
      if (ids.length > 0) for (const sql of OF_SESSIONS) await tx.run(sql, { ids })
      return { deleted: ids.length, more: ids.length === limit }
    }),
  deleteKeptCalls: (before, limit) =>
    db.run('delete from kept_call where n in (select n from kept_call where at < :before order by at limit :limit)', {
      before,
      limit,
    }),
  async deleteAllRuns() {
    await db.run(
      `truncate vote, user_task, timer, call, event, session_link, step, large_result, run_words, plan_reservation, run, session_tag, kept_call, session, trace_mark,
         idempotency,
         rate_bucket, plan_day, cost_day, agent_count`,
    )
  },
})
