/** Limits of starts: what a trigger and the plan allow, and the headers of a refusal. Source: docs/design/http.md#start */
import { Failure, isFailure } from '../../base/failure.ts'
import type { ProjectConfig } from '../../spec/project/config.ts'
import { readMoney } from '../../spec/price.ts'
import type { Trigger } from '../../spec/people/key.ts'
import type { SpendCap } from '../../store/session-update.ts'
import type { StartLimits } from '../../store/start-outcome.ts'

/** @param trigger absent for a start by an operator, which only the plan limits */
export const startLimits = ({ plan }: ProjectConfig, trigger?: Trigger): StartLimits => ({
  ratePerMinute: trigger?.ratePerMinute ?? null,
  ratePerDay: trigger?.ratePerDay ?? null,
  maxConcurrentRuns: trigger?.maxConcurrentRuns ?? null,
  planRunsPerDay: plan?.runs_per_day ?? null,
  planTokensPerDay: plan?.tokens_per_day ?? null,
  planCostPerDay: plan?.cost_per_day === undefined ? null : (readMoney(plan.cost_per_day) ?? null),
})

/** The workspace's cap on spending per day; undefined without one. */
export function spendCapOf({ plan }: ProjectConfig): SpendCap | undefined {
  const cost = plan?.cost_per_day === undefined ? undefined : readMoney(plan.cost_per_day)
  const tokens = plan?.tokens_per_day
  if (tokens === undefined && !cost) return undefined
  return { ...(tokens !== undefined && { tokens }), ...(cost && { cost }) }
}

/** Adds `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers) to a refused start; returns other errors unchanged. */
export function withRateHeaders(error: unknown, { ratePerMinute, ratePerDay, maxConcurrentRuns }: Trigger): unknown {
  if (!isFailure(error, 'rate_limited') && !isFailure(error, 'concurrency_limited')) return error
  const wait = Math.ceil(error.extras.retryAfterSeconds ?? 1)
  const policies = [
    ...(ratePerMinute === null ? [] : [`"minute";q=${ratePerMinute};w=60`]),
    ...(ratePerDay === null ? [] : [`"day";q=${ratePerDay};w=86400`]),
    ...(maxConcurrentRuns === null ? [] : [`"concurrent";q=${maxConcurrentRuns}`]),
  ]
  // A wait of more than a minute can only be the daily bucket's.
  const spent = ratePerMinute === null || (ratePerDay !== null && wait > 60) ? 'day' : 'minute'
  const name = error.code === 'concurrency_limited' ? 'concurrent' : spent
  const headers = {
    ...error.extras.headers,
    'ratelimit-policy': policies.join(', '),
    ratelimit: `"${name}";r=0;t=${wait}`,
  }
  return new Failure(error.code, error.message, { ...error.extras, headers })
}
