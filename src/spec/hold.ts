/** Why a run that works does nothing. Source: decisions, section 18; reliability, "Hold instead of fail". */
import { toIsoText, type Instant } from '../base/clock.ts'
import type { Run } from './run.ts'

/** What keeps a completion or a call from being made, and passes by itself or by what an operator does. */
export type OutageReason =
  'provider_unreachable' | 'tool_unreachable' | 'mcp_unreachable' | 'secret_missing' | 'quota_spent'

/** An outage as a run meets it, kept in its state until an attempt gets an answer. */
export interface Outage {
  readonly reason: OutageReason
  /** Names what is missing, so that one run tries for all that miss it. For logs and operators; never part of an answer. */
  readonly cause: string
  /** First failed attempt. */
  readonly since: Instant
  readonly failures: number
}

/** Attempts, within seconds, before a run is held. Source: decisions, section 13: retried twice at once. */
export const ATTEMPTS_BEFORE_HOLD = 3

/** True where waiting for seconds would not help. */
const needsOperator = (reason: OutageReason): boolean => reason === 'secret_missing' || reason === 'quota_spent'

export const isHeldBy = ({ reason, failures }: Outage): boolean =>
  needsOperator(reason) || failures >= ATTEMPTS_BEFORE_HOLD

/** The member `hold` of a run's status and of `engine.run.paused`. */
export type RunHold = {
  readonly reason: OutageReason | 'restored'
  readonly since: string
  /** Absent while an attempt is made. */
  readonly nextAttemptAt?: string
}

/** The hold of a run that came from a backup. */
export const restoredHold = (since: Instant): { hold: RunHold } => ({
  hold: { reason: 'restored', since: toIsoText(since) },
})

/** The hold of a run whose model, tool or secret is missing; undefined where it works, waits for somebody or has ended. */
export function outageHold({ state }: Pick<Run, 'state'>): RunHold | undefined {
  const held = heldAttempts(state).find(({ outage }) => isHeldBy(outage))
  if (!held) return undefined
  const { outage, until } = held
  return {
    reason: outage.reason,
    since: toIsoText(outage.since),
    ...(until !== undefined && { nextAttemptAt: toIsoText(until) }),
  }
}

function heldAttempts(state: Run['state']): readonly { readonly outage: Outage; readonly until?: Instant }[] {
  if (state.at === 'thinking' && state.outage) return [{ outage: state.outage }]
  if (state.at === 'backing_off' && state.outage) return [{ outage: state.outage, until: state.until }]
  if (state.at !== 'calling') return []
  return state.calls.flatMap(({ outage, state: call }) => {
    if (!outage || call.at === 'settled') return []
    return [{ outage, ...(call.at === 'retrying' && { until: call.until }) }]
  })
}
