import type { Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { TriggerId } from '../../base/ids.ts'
import type { TickRefusal, Trigger } from '../../spec/key.ts'
import { toTrigger, type TriggerRow } from '../rows/trigger-rows.ts'
import type { Store } from '../store.ts'
import { statementCache } from './database/filter.ts'
import { joinClauses } from '../rows/filter.ts'
import { createRowCache } from './database/row-cache.ts'
import type { QuotaTable } from './spending/quotas.ts'
import type { Database } from 'better-sqlite3'

export interface TriggerTable {
  readonly reads: Pick<Store, 'trigger' | 'triggers' | 'ticks'>
  insert(trigger: Trigger): void
  /** @throws Failure `not_found` */
  update(trigger: Trigger): void
  /** @throws Failure `not_found` */
  delete(id: TriggerId): void
  markTicks(marks: ReadonlyMap<TriggerId, Instant | null>): void
  markRefusal(id: TriggerId, refusal: TickRefusal | null): void
}

export function openTriggers(db: Database, quotas: QuotaTable): TriggerTable {
  const prepared = statementCache(db)
  const insert = db.prepare(
    `insert into run_trigger (
       id, workspace_id, agent_id, type, name, active, expose_timeline, allow_ips, rate_per_minute, rate_per_day,
       max_concurrent_runs, cron, time_zone, created_at, allow_delete, allow_approvals,
       allow_older_versions, input
     ) values (
       :id, :workspaceId, :agentId, :type, :name, :active, :exposeTimeline, :allowIps, :ratePerMinute, :ratePerDay,
       :maxConcurrentRuns, :cron, :timeZone, :createdAt, :allowDelete, :allowApprovals,
       :allowOlderVersions, :input
     )`,
  )
  const update = db.prepare(
    `update run_trigger
     set name = :name, active = :active, expose_timeline = :exposeTimeline, allow_ips = :allowIps,
       rate_per_minute = :ratePerMinute, rate_per_day = :ratePerDay, max_concurrent_runs = :maxConcurrentRuns, cron = :cron,
       time_zone = :timeZone, allow_delete = :allowDelete, allow_approvals = :allowApprovals,
       allow_older_versions = :allowOlderVersions, input = :input
     where id = :id`,
  )
  const remove = db.prepare<[string]>('delete from run_trigger where id = ?')
  const one = db.prepare<[string], TriggerRow>(`${SELECT} where id = ?`)
  const cache = createRowCache((id) => one.get(id))
  const mark = db.prepare('update run_trigger set ticked_at = :at where id = :id')
  const refuse = db.prepare('update run_trigger set refusal = :refusal where id = :id')
  const readTicks = db.prepare<[string], { id: TriggerId; at: Instant }>(
    'select id, ticked_at as at from run_trigger where workspace_id = ? and ticked_at is not null',
  )

  return {
    reads: {
      async trigger(id) {
        const row = cache.get(id)
        return row && toTrigger(row)
      },
      async triggers(workspaceId, agentId) {
        const { where, values } = joinClauses([
          ['workspace_id = :workspaceId', workspaceId],
          ['agent_id = :agentId', agentId],
        ])
        return prepared<TriggerRow>(`${SELECT} where ${where} order by created_at, rowid`).all(values).map(toTrigger)
      },
      async ticks(workspaceId) {
        return new Map(readTicks.all(workspaceId).map(({ id, at }) => [id, at]))
      },
    },
    insert: (trigger) => void insert.run(toRow(trigger)),
    markTicks(marks) {
      for (const [id, at] of marks) mark.run({ id, at })
    },
    markRefusal(id, refusal) {
      cache.clear()
      refuse.run({ id, refusal: refusal && JSON.stringify(refusal) })
    },
    update(trigger) {
      cache.clear()
      if (update.run(toRow(trigger)).changes === 0) throw fail('not_found', { what: 'trigger' })
    },
    delete(id) {
      cache.clear()
      if (remove.run(id).changes === 0) throw fail('not_found', { what: 'trigger' })
      quotas.deleteBuckets(id)
    },
  }
}

const SELECT = `
  select id, workspace_id, agent_id, type, name, active, expose_timeline, allow_ips, rate_per_minute, rate_per_day,
    max_concurrent_runs, cron, time_zone, created_at, allow_delete, allow_approvals,
    allow_older_versions, input, refusal
  from run_trigger`

const toRow = ({ refusal: _refusal, ...trigger }: Trigger) => ({
  ...trigger,
  active: trigger.active ? 1 : 0,
  exposeTimeline: trigger.exposeTimeline ? 1 : 0,
  allowIps: JSON.stringify(trigger.allowIps),
  allowDelete: trigger.allowDelete ? 1 : 0,
  allowApprovals: trigger.allowApprovals ? 1 : 0,
  allowOlderVersions: trigger.allowOlderVersions ? 1 : 0,
  input: trigger.input && JSON.stringify(trigger.input),
})
