/** Outages: what a run needs and cannot reach. Source: reliability, "Hold instead of fail". */
import type { Instant } from '../base/clock.ts'

/** What keeps a completion or a call from being made, and passes by itself or by what an operator does. */
export const OUTAGE_REASONS = [
  'provider_unreachable',
  'tool_unreachable',
  'mcp_unreachable',
  'secret_missing',
  'quota_spent',
] as const
export type OutageReason = (typeof OUTAGE_REASONS)[number]

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

/** The `cause` of a hold by the plan of the workspace, which every run of it meets. */
export const PLAN_CAUSE = 'plan of the workspace'

/** True where a server that starts may have what was missing: its secrets and its project file are read then. */
export const mayEndByRestart = ({ reason, cause }: Outage): boolean =>
  reason === 'secret_missing' || cause === PLAN_CAUSE

/** True where waiting for seconds would not help. */
const needsOperator = (reason: OutageReason): boolean => reason === 'secret_missing' || reason === 'quota_spent'

export const isHeldBy = ({ reason, failures }: Outage): boolean =>
  needsOperator(reason) || failures >= ATTEMPTS_BEFORE_HOLD
