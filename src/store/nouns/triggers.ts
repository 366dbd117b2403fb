/** Triggers: who may start runs of an agent, how often, and when schedules do. */
import { fail } from '../../base/failure.ts'
import type { Instant } from '../../base/clock.ts'
import type { TriggerId } from '../../base/ids.ts'
import type { Trigger } from '../../spec/people/key.ts'
import type { Dialect } from '../dialect.ts'
import { joinClauses } from '../rows/filter.ts'
import { readRow, readRows, writeRows, type NounWork } from '../statement.ts'
import { defineTable } from './record-table.ts'

export const TRIGGERS = defineTable<Trigger>('run_trigger', {
  id: 'text',
  workspaceId: 'text',
  agentId: 'text',
  type: 'text',
  name: 'text',
  active: 'boolean',
  exposeTimeline: 'boolean',
  allowIps: 'json',
  allowDelete: 'boolean',
  allowApprovals: 'boolean',
  allowOlderVersions: 'boolean',
  ratePerMinute: 'integer',
  ratePerDay: 'integer',
  maxConcurrentRuns: 'integer',
  cron: 'text',
  timeZone: 'text',
  input: 'json',
  refusal: 'json',
  createdAt: 'integer',
})

/** What a change of a trigger never writes: its identity, and what schedules record. */
const KEPT = new Set(['id', 'workspace_id', 'agent_id', 'type', 'created_at', 'refusal'])

export function prepareTriggers({
  insertionOrder,
}: Dialect): NounWork<
  'trigger' | 'triggers' | 'ticks',
  'createTrigger' | 'updateTrigger' | 'markTicks' | 'markRefusal',
  'deleteTrigger'
> {
  const { select, insert, update, toValues, toRecord } = TRIGGERS
  const one = `${select} where id = :id`
  const change = `${update(KEPT)} where id = :id`
  return {
    reads: {
      *trigger(id) {
        const row = yield* readRow(one, { id })
        return row && toRecord(row)
      },
      *triggers(workspaceId, agentId) {
        const { where, values } = joinClauses([
          ['workspace_id = :workspaceId', workspaceId],
          ['agent_id = :agentId', agentId],
        ])
        const rows = yield* readRows(`${select} where ${where} order by created_at, ${insertionOrder}`, values)
        return rows.map(toRecord)
      },
      *ticks(workspaceId) {
        const rows = yield* readRows<{ id: TriggerId; at: Instant }>(
          'select id, ticked_at as at from run_trigger where workspace_id = :workspaceId and ticked_at is not null',
          { workspaceId },
        )
        return new Map(rows.map(({ id, at }) => [id, at]))
      },
    },
    writes: {
      *createTrigger(trigger) {
        yield* writeRows(insert, toValues({ ...trigger, refusal: null }))
      },
      *updateTrigger(trigger) {
        if ((yield* writeRows(change, toValues(trigger))) === 0) throw fail('not_found', { what: 'trigger' })
      },
      *markTicks(marks) {
        // In the order of the ids, so that two processes which mark at the same time do not wait for each other.
        for (const [id, at] of [...marks].sort(([a], [b]) => (a < b ? -1 : 1)))
          yield* writeRows('update run_trigger set ticked_at = :at where id = :id', { id, at })
      },
      *markRefusal(id, refusal) {
        const text = refusal && JSON.stringify(refusal)
        yield* writeRows('update run_trigger set refusal = :text where id = :id', { id, text })
      },
    },
    transactions: {
      *deleteTrigger(id) {
        const deleted = yield* writeRows('delete from run_trigger where id = :id', { id })
        if (deleted === 0) throw fail('not_found', { what: 'trigger' })
        yield* writeRows('delete from rate_bucket where trigger_id = :id', { id })
      },
    },
  }
}
