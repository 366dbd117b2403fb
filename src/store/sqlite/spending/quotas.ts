import type { Instant } from '../../../base/clock.ts'
import type { WorkspaceId } from '../../../base/ids.ts'
import { toScaled } from '../../../base/json/decimal.ts'
import { gatherSums, type GroupMemory } from '../database/group-memory.ts'
import type { Session } from '../../../spec/run/session.ts'
import { MS_OF_DAY } from '../../rows/cost-rows.ts'
import type { StartLimits, StartOutcome } from '../../start-outcome.ts'
import type { CostTable } from './costs.ts'
import type { Database } from 'better-sqlite3'
import { expectDefined } from '../../../base/values/expect-defined.ts'

type StartRefusal = Extract<StartOutcome, { outcome: 'rate_limited' | 'concurrency_limited' | 'plan_limited' }>

export interface QuotaTable {
  readonly sums: GroupMemory
  /**
   * Counts a start, or returns the limit that refuses it and counts nothing. Rates and concurrency are limits of the trigger
   * and do not apply to a session without one; the plan is a limit of the workspace.
   */
  admit(start: Pick<Session, 'workspaceId' | 'triggerId'>, limits: StartLimits, now: Instant): StartRefusal | undefined
  addTokens(workspaceId: WorkspaceId, tokens: number, now: Instant): void
  /** Runs and tokens of the day. */
  usedOn(workspaceId: WorkspaceId, now: Instant): { readonly runs: number; readonly tokens: number }
}

/** What a workspace used on a day. */
interface DayUse {
  readonly workspaceId: WorkspaceId
  readonly day: number
  readonly runs: number
  readonly tokens: number
}

const MINUTE = { name: 'minute', ms: 60_000 } as const
const DAY = { name: 'day', ms: MS_OF_DAY } as const
type QuotaSpan = typeof MINUTE | typeof DAY

export function openQuotas(db: Database, costs: CostTable): QuotaTable {
  const fullAt = db.prepare<[string, string], { full_at: number }>(
    'select full_at from rate_bucket where trigger_id = ? and span = ?',
  )
  const fill = db.prepare<[string, string, number]>(
    `insert into rate_bucket (trigger_id, span, full_at) values (?, ?, ?)
     on conflict (trigger_id, span) do update set full_at = excluded.full_at`,
  )
  // Stops counting at the limit, because a trigger may have any number of waiting runs.
  const open = db.prepare<{ triggerId: string; limit: number }, { open: number }>(
    `select count(*) as open
     from (
       select 1 from session where trigger_id = :triggerId and finished_at is null
       union all
       select 1
       from run r cross join session s on s.n = r.session_n
       where json_extract(r.starter, '$.triggerId') = :triggerId and r.starter is not null and r.finished_at is null
         and s.trigger_id is not :triggerId
       limit :limit
     )`,
  )
  const readUse = db.prepare<[string, number], { runs: number; tokens: number }>(
    'select runs, tokens from plan_day where workspace_id = ? and day = ?',
  )
  const put = db.prepare<[string, number, number, number]>(
    `insert into plan_day (workspace_id, day, runs, tokens) values (?, ?, ?, ?)
     on conflict (workspace_id, day) do update set runs = runs + excluded.runs, tokens = tokens + excluded.tokens`,
  )

  const sums = gatherSums<DayUse>(
    (a, b) => ({ ...a, runs: a.runs + b.runs, tokens: a.tokens + b.tokens }),
    ({ workspaceId, day, runs, tokens }) => put.run(workspaceId, day, runs, tokens),
  )
  const use = (workspaceId: WorkspaceId, now: Instant, runs: number, tokens: number): void => {
    const day = Math.floor(now / DAY.ms)
    sums.add(`${day} ${workspaceId}`, { workspaceId, day, runs, tokens })
  }

  /** A token bucket that holds `rate` starts and refills evenly over its span. */
  const readBucket = (triggerId: string, span: QuotaSpan, rate: number | null, now: Instant) => {
    if (rate === null) return undefined
    if (rate < 1) return { retryAfterSeconds: span.ms / 1000, rate, span, take() {} }
    // In microseconds, rounded down so that an unused bucket is full again after its span.
    const interval = Math.floor((span.ms * 1000) / rate)
    const at = now * 1000
    const full = Math.max(at, fullAt.get(triggerId, span.name)?.full_at ?? 0)
    const missing = full - at - (rate - 1) * interval
    return {
      rate,
      span,
      retryAfterSeconds: missing > 0 ? Math.max(1, Math.ceil(missing / 1_000_000)) : 0,
      take: () => void fill.run(triggerId, span.name, full + interval),
    }
  }

  const usedOn = (workspaceId: WorkspaceId, now: Instant) => {
    sums.write()
    return readUse.get(workspaceId, Math.floor(now / DAY.ms)) ?? { runs: 0, tokens: 0 }
  }

  return {
    sums,
    usedOn,
    admit({ triggerId, workspaceId }, limits, now) {
      const day = Math.floor(now / DAY.ms)
      const { planRunsPerDay, planTokensPerDay, planCostPerDay, maxConcurrentRuns } = limits
      const isBounded = planRunsPerDay !== null || planTokensPerDay !== null
      const used = isBounded ? usedOn(workspaceId, now) : { runs: 0, tokens: 0 }
      if (planRunsPerDay !== null && used.runs >= planRunsPerDay)
        return { outcome: 'plan_limited', limit: 'runs_per_day', value: planRunsPerDay }
      if (planTokensPerDay !== null && used.tokens >= planTokensPerDay)
        return { outcome: 'plan_limited', limit: 'tokens_per_day', value: planTokensPerDay }
      if (planCostPerDay !== null) {
        const { amount, currency } = planCostPerDay
        if (toScaled(costs.spentOn(workspaceId, day, currency)) >= toScaled(amount))
          return { outcome: 'plan_limited', limit: 'cost_per_day', value: `${amount} ${currency}` }
      }
      if (triggerId !== null) {
        const buckets = [
          readBucket(triggerId, MINUTE, limits.ratePerMinute, now),
          readBucket(triggerId, DAY, limits.ratePerDay, now),
        ].filter((each) => each !== undefined)
        // Both buckets must admit the start, so the longer wait counts.
        const slowest = buckets.sort((a, b) => b.retryAfterSeconds - a.retryAfterSeconds)[0]
        if (slowest && slowest.retryAfterSeconds > 0)
          return {
            outcome: 'rate_limited',
            limit: `${slowest.rate} per ${slowest.span.name}`,
            retryAfterSeconds: slowest.retryAfterSeconds,
          }
        const openRuns = (limit: number): number =>
          expectDefined(open.get({ triggerId, limit }), 'a count always gives a row').open
        if (maxConcurrentRuns !== null && openRuns(maxConcurrentRuns) >= maxConcurrentRuns)
          return { outcome: 'concurrency_limited', limit: maxConcurrentRuns }
        for (const each of buckets) each.take()
      }
      use(workspaceId, now, 1, 0)
      return undefined
    },
    addTokens: (workspaceId, tokens, now) => use(workspaceId, now, 0, tokens),
  }
}
