/**
 * Outages: a completion or call that cannot be made for now is tried again, for as long as the agent allows, and its run is
 * held meanwhile. Source: docs/design/runs-and-recovery.md#hold-instead-of-fail
 */
import type { Instant } from '../../base/clock.ts'
import { backoffMs } from '../../base/retry.ts'
import { ATTEMPTS_BEFORE_HOLD, isHeldBy, type Outage } from '../../spec/run/outage.ts'
import type { OutageReport } from '../session/event.ts'
import type { RunHandle } from '../transaction/transaction.ts'

const FIRST_PAUSE_MS = 5000
const LONGEST_PAUSE_MS = 300_000
/** Longest delay that a server may ask for. */
const LONGEST_RETRY_AFTER_MS = 3600_000
/** A longer delay makes quick attempts pointless: the run is held at once, with the reason, or fails. */
const LONGEST_UNHELD_MS = 10_000
export const DEFAULT_MAX_OUTAGE_MS = 24 * 3600_000

export type OutageStep =
  | { readonly outcome: 'wait'; readonly outage: Outage; readonly until: Instant }
  /** `expired`: the run was held, and for as long as is allowed. */
  | { readonly outcome: 'give_up'; readonly expired: boolean }

/** Decides whether to wait or to give up after a failed attempt. @param before the outage as earlier attempts met it */
export function nextAttempt(run: RunHandle, before: Outage | undefined, report: OutageReport): OutageStep {
  const { now, context } = run.tx
  const { onOutage, maxOutageMs = DEFAULT_MAX_OUTAGE_MS } = run.snapshot
  const { reason, cause, retryAfterMs, endsAt } = report
  const waitsLong = (retryAfterMs ?? 0) > LONGEST_UNHELD_MS
  const failures = Math.max((before?.failures ?? 0) + 1, waitsLong ? ATTEMPTS_BEFORE_HOLD : 0)
  const outage: Outage = { reason, cause, since: before?.since ?? now, failures }
  const isHeld = isHeldBy(outage)
  if (isHeld && onOutage === 'fail') return { outcome: 'give_up', expired: false }
  const end = outage.since + maxOutageMs
  if (isHeld && now >= end) return { outcome: 'give_up', expired: true }
  const until = endsAt ?? now + Math.round(pauseMs(outage, context.jitter, retryAfterMs))
  if (!isHeld) return { outcome: 'wait', outage, until }
  const attempt = Math.min(until, end)
  context.outages.failed(outage, run.id, attempt)
  return { outcome: 'wait', outage, until: attempt }
}

function pauseMs(outage: Outage, jitter: number, retryAfterMs: number | undefined): number {
  if (retryAfterMs !== undefined) return Math.min(LONGEST_RETRY_AFTER_MS, Math.max(0, retryAfterMs))
  if (!isHeldBy(outage)) return backoffMs(outage.failures + 1, jitter)
  const doublings = Math.max(0, outage.failures - ATTEMPTS_BEFORE_HOLD)
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** doublings) * (1 - jitter / 4)
}

/** When a held run may try, if not now: one run tries for all that wait for the same cause. */
export const laterAttempt = (run: RunHandle, outage: Outage | undefined): Instant | undefined =>
  outage && isHeldBy(outage) ? run.tx.context.outages.laterThan(outage.cause, run.id, run.tx.now) : undefined

/** The error of a run that gave up. */
export const describeExpired = ({ since }: Pick<Outage, 'since'>, now: Instant, error: string): string =>
  `Held for ${secondsOrMinutes(now - since)}, the longest that is allowed. ${error}`

const secondsOrMinutes = (ms: number): string =>
  ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`
