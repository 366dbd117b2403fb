/**
 * How far spans of sessions are exported. A mark is written by the transaction of the save that pauses or ends a run, so that no crash
 * loses a span, and moved on once a receiver has taken the spans, so that none is sent twice. Source: docs/design/telemetry.md#spans
 */
import type { Instant } from '../base/clock.ts'
import type { SessionId, WorkspaceId } from '../base/ids.ts'

export interface TraceClaim {
  readonly workspaceId: WorkspaceId
  readonly now: Instant
  /** Another process may take them from then on. */
  readonly until: Instant
  readonly limit: number
}

export interface TraceMark {
  readonly sessionId: SessionId
  /** Number of the last event whose span is exported; 0 before the first. */
  readonly sent: number
  /** Number of the last event whose span can be exported. */
  readonly ready: number
  /** When the first of them could. */
  readonly since: Instant
}

/** The events of a session after `sent` and up to `upTo` have been exported. */
export interface TraceProgress extends Pick<TraceMark, 'sessionId' | 'sent'> {
  readonly upTo: number
}

export interface TraceStore {
  /** Takes sessions with spans to export, those that have waited longest first. */
  claimTraces(claim: TraceClaim): Promise<readonly TraceMark[]>
  /** Moves marks on; one that another process has moved meanwhile stays. */
  endTraces(progress: readonly TraceProgress[], now: Instant): Promise<void>
}
