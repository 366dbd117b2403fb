/** Checkpoints that a configuration asks for: without one, everything is paused. Source: docs/design/audit.md#checkpoints-that-are-required */
import { toIsoText, type Instant } from '../../base/clock.ts'
import type { WorkspaceId } from '../../base/ids.ts'
import { CHECKPOINT_DEMAND, type PauseAct } from './pause.ts'

/** The last checkpoint that reached its copies, as whoever made it said. */
export interface CheckpointReport {
  readonly workspaceId: WorkspaceId
  /** When the server was told, by the clock of its store. */
  readonly at: Instant
  /** As `approverOf` names them. */
  readonly by: string
  /** Lines that it signed. */
  readonly size: number
}

export interface CheckpointDemand {
  readonly withinMs: number
  /** When this process began to ask for checkpoints. */
  readonly since: Instant
}

/**
 * The pause of everything while the last report is too old. One from the future is, too: a clock that was set back would otherwise ask
 * for nothing until then.
 * @returns the same pause as long as there is no other report
 */
export function pauseForCheckpoint(
  { withinMs, since }: CheckpointDemand,
  report: CheckpointReport | undefined,
  now: Instant,
): PauseAct | undefined {
  if (report && Math.abs(now - report.at) <= withinMs) return undefined
  return {
    kind: 'all',
    name: '',
    isPaused: true,
    at: report && report.at <= now ? report.at + withinMs : since,
    by: CHECKPOINT_DEMAND,
    reason: report
      ? `the last checkpoint of the audit was reported at ${toIsoText(report.at)}`
      : 'no checkpoint of the audit was ever reported',
  }
}
