import type { Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { TriggerId } from '../../base/ids.ts'
import type { Trigger } from '../../spec/key.ts'
import { joinClauses } from '../rows/filter.ts'
import { toTrigger, type TriggerRow } from '../rows/trigger-rows.ts'
import type { Store } from '../store.ts'
import type { PostgresPool } from './database/pool.ts'

type TriggerMethods = Pick<
  Store,
  'createTrigger' | 'updateTrigger' | 'deleteTrigger' | 'trigger' | 'triggers' | 'ticks' | 'markTicks' | 'markRefusal'
>

export const triggerMethods = (db: PostgresPool): TriggerMethods => ({
  async createTrigger(trigger) {
    await db.run(
      `insert into run_trigger (
         id, workspace_id, agent_id, type, name, active, expose_timeline, allow_ips, rate_per_minute, rate_per_day,
         max_concurrent_runs, cron, time_zone, created_at, allow_delete, allow_approvals,
         allow_older_versions, input
       ) values (
         :id, :workspaceId, :agentId, :type, :name, :active, :exposeTimeline, :allowIps, :ratePerMinute, :ratePerDay,
         :maxConcurrentRuns, :cron, :timeZone, :createdAt, :allowDelete, :allowApprovals,
         :allowOlderVersions, :input
       )`,
      toColumns(trigger),
    )
  },
  async updateTrigger(trigger) {
    const updated = await db.run(
      `update run_trigger
       set name = :name, active = :active, expose_timeline = :exposeTimeline, allow_ips = :allowIps,
         rate_per_minute = :ratePerMinute, rate_per_day = :ratePerDay, max_concurrent_runs = :maxConcurrentRuns, cron = :cron,
         time_zone = :timeZone, allow_delete = :allowDelete, allow_approvals = :allowApprovals,
         allow_older_versions = :allowOlderVersions, input = :input
       where id = :id`,
      toColumns(trigger),
    )
    if (updated === 0) throw fail('not_found', { what: 'trigger' })
  },
  async deleteTrigger(id) {
    const deleted = await db.run(
      `with buckets as (delete from rate_bucket where trigger_id = :id)
       delete from run_trigger where id = :id`,
      { id },
    )
    if (deleted === 0) throw fail('not_found', { what: 'trigger' })
  },
  async trigger(id) {
    const row = await db.row<TriggerRow>(`${SELECT_TRIGGER} where id = :id`, { id })
    return row && toTrigger(row)
  },
  async triggers(workspaceId, agentId) {
    const { where, values } = joinClauses([
      ['workspace_id = :workspaceId', workspaceId],
      ['agent_id = :agentId', agentId],
    ])
    return (await db.rows<TriggerRow>(`${SELECT_TRIGGER} where ${where} order by created_at, n`, values)).map(toTrigger)
  },
  async ticks(workspaceId) {
    const rows = await db.rows<{ id: TriggerId; at: Instant }>(
      `select id, ticked_at as at from run_trigger where workspace_id = :workspaceId and ticked_at is not null`,
      { workspaceId },
    )
    return new Map(rows.map(({ id, at }) => [id, at]))
  },
  async markTicks(marks) {
    for (const [id, at] of [...marks].sort(([a], [b]) => (a < b ? -1 : 1)))
      await db.run('update run_trigger set ticked_at = :at where id = :id', { id, at })
  },
  async markRefusal(id, refusal) {
    const text = refusal && JSON.stringify(refusal)
    await db.run('update run_trigger set refusal = :text where id = :id', { id, text })
  },
})

/** All columns of a `TriggerRow`. */
export const SELECT_TRIGGER = `
  select id, workspace_id, agent_id, type, name, active::int as active, expose_timeline::int as expose_timeline, allow_ips,
    rate_per_minute, rate_per_day, max_concurrent_runs, cron, time_zone, created_at, allow_delete::int as allow_delete,
    allow_approvals::int as allow_approvals, allow_older_versions::int as allow_older_versions,
    input, refusal
  from run_trigger`

const toColumns = ({ refusal: _refusal, ...trigger }: Trigger) => ({
  ...trigger,
  allowIps: JSON.stringify(trigger.allowIps),
  input: trigger.input && JSON.stringify(trigger.input),
})
