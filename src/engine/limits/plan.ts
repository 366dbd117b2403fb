/**
 * The spend cap of the workspace. A completion reserves the most that it can use, in the save that begins it, and the store
 * refuses a save that would exceed the cap; the driver then applies it again, and the run waits. Work that has begun is
 * never stopped for it. Source: docs/design/models-and-tools.md#limits
 */
import { formatDecimal } from '../../base/json/decimal.ts'
import { PLAN_CAUSE } from '../../spec/outage.ts'
import type { RunState } from '../../spec/run.ts'
import { mostTokens } from '../prompt/prompt.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { backOff } from './back-off.ts'
import { failedState } from './ending.ts'
import { describeExpired, nextAttempt } from './outage.ts'
import { mostCost } from './reserve.ts'

/** Time until a run checks again whether completions in flight left budget. */
const LOOK_AGAIN_MS = 2000

/** The state of a run that reserves its completion; or that waits for what others leave, or for the next day. */
export function reservePlan(run: RunHandle, here: StateAt<'thinking'>): RunState {
  const { plan, jitter } = run.tx.context
  if (!plan || here.unsent) return here
  const { cap, room } = plan
  if (room === 'free') return { ...here, reservedPlan: mostOf(run, here, cap.cost?.currency) }
  if (room === 'taken') return backOff(run, here, run.tx.now + Math.round(LOOK_AGAIN_MS * (1 + jitter)), here.outage)
  return holdUntilNextDay(run, here, room.spentForMs)
}

function mostOf(run: RunHandle, here: StateAt<'thinking'>, currency: string | undefined) {
  const tokens = mostTokens(run, here)
  const cost = currency === undefined ? 0n : mostCost(run, here, currency)
  return { tokens, ...(currency !== undefined && cost > 0n && { cost: { amount: formatDecimal(cost), currency } }) }
}

function holdUntilNextDay(run: RunHandle, here: StateAt<'thinking'>, spentForMs: number): RunState {
  const { now } = run.tx
  const before = here.outage?.cause === PLAN_CAUSE ? here.outage : undefined
  const report = { reason: 'quota_spent', cause: PLAN_CAUSE, endsAt: now + spentForMs } as const
  const step = nextAttempt(run, before, report)
  if (step.outcome === 'wait') return backOff(run, here, step.until, step.outage)
  const error = 'The workspace has used up its plan of the day.'
  return step.expired && before
    ? failedState('outage', describeExpired(before, now, error))
    : failedState('limit_exceeded', error)
}
