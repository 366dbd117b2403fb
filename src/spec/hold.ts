/** Why a run that works does nothing. Source: decisions, section 18; reliability, "Hold instead of fail". */
import { toIsoText, type Instant } from '../base/clock.ts'
import { isHeldBy, mayEndByRestart, type Outage, type OutageReason } from './outage.ts'
import type { Run } from './run.ts'

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
  const held = findHeld(state)
  if (!held) return undefined
  const { outage, until } = held
  return {
    reason: outage.reason,
    since: toIsoText(outage.since),
    ...(until !== undefined && { nextAttemptAt: toIsoText(until) }),
  }
}

/** True for a held run that a server which starts may release. */
export const isHeldUntilRestart = ({ state }: Pick<Run, 'state'>): boolean => {
  const held = findHeld(state)
  return held !== undefined && mayEndByRestart(held.outage)
}

const findHeld = (state: Run['state']) => heldAttempts(state).find(({ outage }) => isHeldBy(outage))

function heldAttempts(state: Run['state']): readonly { readonly outage: Outage; readonly until?: Instant }[] {
  if (state.at === 'thinking' && state.outage) return [{ outage: state.outage }]
  if (state.at === 'backing_off' && state.outage) return [{ outage: state.outage, until: state.until }]
  if (state.at !== 'calling') return []
  return state.calls.flatMap(({ outage, state: call }) => {
    if (!outage || call.at === 'settled') return []
    return [{ outage, ...(call.at === 'retrying' && { until: call.until }) }]
  })
}

/** Why a run is held, for people. */
export const HOLD_TEXTS: Readonly<Record<RunHold['reason'], string>> = {
  provider_unreachable: 'the model cannot be reached',
  tool_unreachable: 'a tool cannot be reached',
  mcp_unreachable: 'an MCP server cannot be reached',
  secret_missing: 'a secret is missing where the server runs (svc secrets check)',
  quota_spent: "a quota is spent: the account's at the model's vendor, or the plan of the workspace for the day",
  restored: 'it came from a backup (svc restore --resume releases it)',
}

/** For people: `since TIME: the model cannot be reached; next attempt at TIME`. */
export function describeHold({
  reason,
  since,
  nextAttemptAt,
}: {
  reason: string
  since: string
  nextAttemptAt?: string
}): string {
  const why = Object.hasOwn(HOLD_TEXTS, reason) ? HOLD_TEXTS[reason as RunHold['reason']] : reason
  const next = nextAttemptAt === undefined ? '' : `; next attempt at ${nextAttemptAt}`
  return `since ${since}: ${why}${next}`
}
