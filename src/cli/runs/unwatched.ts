/** Waiting for a run that nobody watches, such as in a script. */
import { isTerminal, isWaiting, type RunStatus, type SvcClient } from '../../client/index.ts'

/** The part of `FollowOptions` that says who watches. */
interface WatchOptions {
  readonly show: string
  readonly events: boolean
  readonly onTask: string
  readonly scriptedAnswers?: object
}

/** True if nobody sees the steps of the run and nothing has to be answered on the way. */
export const isUnwatched = ({ show, events, onTask, scriptedAnswers }: WatchOptions): boolean =>
  show === 'none' && !events && onTask === 'exit' && scriptedAnswers === undefined

/** Shorter than the time for which proxies let a request wait. */
const WAIT_SECONDS = 20

/**
 * Waits in requests that the server holds, in place of a stream that nobody reads.
 * @returns the run once it has ended or waits for somebody; undefined where the stream has more to tell: the run is held, or
 * the server grants no wait
 */
export async function waitUnwatched(
  client: SvcClient,
  runId: string,
  signal: AbortSignal,
): Promise<RunStatus | undefined> {
  for (;;) {
    const asked = performance.now()
    const run = await client.getRun(runId, { signal, waitSeconds: WAIT_SECONDS, timeoutMs: (WAIT_SECONDS + 10) * 1000 })
    if (isTerminal(run.status) || isWaiting(run.status)) return run
    if (run.hold || performance.now() - asked < WAIT_SECONDS * 500) return undefined
  }
}
