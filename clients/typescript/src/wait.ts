import { isTerminal, isWaiting } from './run-status.ts'
import type { SvcClient } from './client.ts'
import { SvcConnectionError, SvcError, SvcTimeoutError } from './error.ts'
import type { RunStatus } from './generated/api.ts'
import type { PlatformSignal } from './platform.ts'
import { sleepUntil } from './transport.ts'

/** Less than proxies let a request wait. */
const WAIT_SECONDS = 20
const FIRST_POLL_MS = 250
const LONGEST_POLL_MS = 5000

/** Events after which the run may have the awaited status. */
const STATUS_EVENTS = /^engine\.(?:run|session)\.(?:paused|completed|failed|cancelled)$/

export interface WaitOptions {
  /** `pause` (the default): until the run is terminal or waits for someone; `terminal`: until it has ended. */
  readonly until?: 'terminal' | 'pause'
  readonly signal?: PlatformSignal
  /** Milliseconds between the first two polls, doubling to 5 s. Polls only if the stream is unavailable. */
  readonly pollMs?: number
}

/**
 * Waits until the run pauses or ends, and returns its status: in one request where the server grants `Prefer: wait`, else it
 * follows the stream, or polls if that fails.
 * Source: HTTP API, "Polling rule".
 */
export async function waitForRun(client: SvcClient, runId: string, options: WaitOptions = {}): Promise<RunStatus> {
  const { until = 'pause', signal, pollMs = FIRST_POLL_MS } = options
  const per = signal && { signal }
  const isThere = (run: RunStatus): boolean => isTerminal(run.status) || (until === 'pause' && isWaiting(run.status))

  let run: RunStatus
  for (;;) {
    const asked = performance.now()
    run = await client.getRun(runId, { ...per, waitSeconds: WAIT_SECONDS, timeoutMs: (WAIT_SECONDS + 10) * 1000 })
    if (isThere(run)) return run
    // Back at once: a server that grants no wait, or a pause that is not the end.
    if (performance.now() - asked < WAIT_SECONDS * 500) break
  }
  try {
    for await (const event of client.streamRunEvents(runId, per)) {
      if (!STATUS_EVENTS.test(event.subject)) continue
      run = await client.getRun(runId, per)
      if (isThere(run)) return run
    }
  } catch (error) {
    const mendable =
      error instanceof SvcError || error instanceof SvcConnectionError || error instanceof SvcTimeoutError
    if (!mendable) throw error
  }
  for (let wait = pollMs; ; wait = Math.min(wait * 2, LONGEST_POLL_MS)) {
    run = await client.getRun(runId, per)
    if (isThere(run)) return run
    await sleepUntil(wait, signal)
  }
}
