/** Outages: a run cannot reach what it needs. Source: docs/design/runs-and-recovery.md#hold-instead-of-fail */
import type { Instant } from '../../base/clock.ts'

/** A reason that prevents a completion or call for now, until it passes or an operator removes it. */
export const OUTAGE_REASONS = [
  'provider_unreachable',
  'tool_unreachable',
  'mcp_unreachable',
  'files_unreachable',
  'secret_missing',
  'quota_spent',
] as const
export type OutageReason = (typeof OUTAGE_REASONS)[number]

/** An outage as a run meets it, kept in its state until an attempt gets an answer. */
export interface Outage {
  readonly reason: OutageReason
  /** Identifies the missing thing, so that one run tries for all. For logs and operators; never part of an answer. */
  readonly cause: string
  /** First failed attempt. */
  readonly since: Instant
  readonly failures: number
}

/** Attempts, within seconds, before a run is held. Source: docs/design/models-and-tools.md#attempts */
export const ATTEMPTS_BEFORE_HOLD = 3

/** The `cause` of a hold by the plan of the workspace, which every run of it meets. */
export const PLAN_CAUSE = 'plan of the workspace'

/** True if a restart may end the outage, because it reads secrets and the project file again. */
export const mayEndByRestart = ({ reason, cause }: Outage): boolean =>
  reason === 'secret_missing' || cause === PLAN_CAUSE

/** True if waiting for seconds cannot help. */
const needsOperator = (reason: OutageReason): boolean => reason === 'secret_missing' || reason === 'quota_spent'

export const isHeldBy = ({ reason, failures }: Outage): boolean =>
  needsOperator(reason) || failures >= ATTEMPTS_BEFORE_HOLD
