import { isTerminal, isWaiting } from '../spec/run.ts'
import type { SvcClient } from './client.ts'
import { SvcConnectionError, SvcError, SvcTimeoutError } from './error.ts'
import type { RunStatus } from './shapes.ts'
import { sleepUntil } from './transport.ts'

const FIRST_POLL_MS = 250
const LONGEST_POLL_MS = 5000

/** Events after which a run may stand where it is waited for. */
const TURNING = /^engine\.(?:run|session)\.(?:paused|completed|failed|cancelled)$/

export interface WaitOptions {
  /** `pause` (the default): until the run is terminal or waits for someone; `terminal`: until it has ended. */
  readonly until?: 'terminal' | 'pause'
  readonly signal?: AbortSignal
  /** Milliseconds between the first two polls, doubling to 5 s. Polling is for where the stream cannot be had. */
  readonly pollMs?: number
}

/**
 * The run's status once it stands where it is waited for. Follows the stream, and polls where that fails.
 * Source: HTTP API, "Polling rule".
 */
export async function waitForRun(client: SvcClient, runId: string, options: WaitOptions = {}): Promise<RunStatus> {
  const { until = 'pause', signal, pollMs = FIRST_POLL_MS } = options
  const per = signal && { signal }
  const isThere = (run: RunStatus): boolean => isTerminal(run.status) || (until === 'pause' && isWaiting(run.status))

  let run = await client.getRun(runId, per)
  if (isThere(run)) return run
  try {
    for await (const event of client.streamRunEvents(runId, per)) {
      if (!TURNING.test(event.subject)) continue
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
