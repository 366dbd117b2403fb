import { isTerminal, isWaiting } from './run-status.ts'
import type { SvcClient } from './client.ts'
import type { RunStatus } from './generated/api.ts'
import type { PlatformSignal } from './platform.ts'
import { isRefusal } from './error.ts'
import { sleepUntil } from './transport.ts'

/** Less than most proxies let a request wait. */
const WAIT_SECONDS = 20
/** Of requests on a run that the server has answered for: while it starts again they are repeated, as a stream is opened again. */
export const PATIENCE = { maxRetries: 10 }
const FIRST_POLL_MS = 250
const LONGEST_POLL_MS = 5000

export interface WaitOptions {
  /** `pause` (the default): until the run is terminal or waits for someone; `terminal`: until it has ended. */
  readonly until?: 'terminal' | 'pause'
  readonly signal?: PlatformSignal
  /** Milliseconds between the first two requests that the server answers at once, doubling to 5 s. */
  readonly pollMs?: number
}

/**
 * Waits until the run pauses or ends, and returns its status: in requests that the server holds until then (`Prefer: wait`).
 * Where it answers at once, because it grants no wait or because the run waits for someone, asks ever more seldom. Where a held
 * request breaks, asks again, and for shorter waits: something between may close what is silent for so long.
 * Source: docs/design/http.md#waiting-and-pending
 */
export async function waitForRun(client: SvcClient, runId: string, options: WaitOptions = {}): Promise<RunStatus> {
  const { until = 'pause', signal, pollMs = FIRST_POLL_MS } = options
  const per = signal ? { signal } : {}
  let waitSeconds = WAIT_SECONDS
  let isKnown = false
  for (let wait = pollMs; ;) {
    const asked = performance.now()
    const held = { ...per, waitSeconds, timeoutMs: (waitSeconds + 10) * 1000, maxRetries: 0 }
    const run = await client.getRun(runId, held).catch((error: unknown) => {
      if (signal?.aborted || isRefusal(error)) throw error
      const wasHeld = performance.now() - asked >= 1000
      if (wasHeld) waitSeconds = Math.max(1, Math.floor(waitSeconds / 4))
      return client.getRun(runId, { ...per, ...((isKnown || wasHeld) && PATIENCE) })
    })
    isKnown = true
    if (isTerminal(run.status) || (until === 'pause' && isWaiting(run.status))) return run
    // Held: the run worked all the time, and the next request may be held as well.
    if (performance.now() - asked >= waitSeconds * 500) continue
    await sleepUntil(wait, signal)
    wait = Math.min(wait * 2, LONGEST_POLL_MS)
  }
}
