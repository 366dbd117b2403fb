/** Keys that identify calls, their dispatches and completions. */
import type { RunId } from '../../base/ids.ts'

/** Identifies a call within its session. */
export const callKey = (run: RunId, callId: string): string => `${run} ${callId}`

/** Identifies a dispatch within its session. */
export const dispatchKey = (runId: RunId, callId: string, attempt: number): string => `${runId} ${callId} ${attempt}`

/** Identifies an attempt of a completion within its session. */
export const completionKey = (runId: RunId, turn: number, attempt: number): string => `${runId} ${turn} ${attempt}`

/** Sent with a call; the same for every attempt of it. Source: docs/design/runs-and-recovery.md#dispatch-and-recovery */
export const idempotencyKeyOf = (run: RunId, turn: number, index: number): string => `svc:${run}:${turn}:${index}`
