/**
 * A signal that aborts with another one, and after a time. `AbortSignal.any` with `AbortSignal.timeout` may never abort: Node 20 keeps
 * the time-out only weakly, so that it is gone after a collection of garbage, and its caller waits for ever.
 */
export function signalWithin(ms: number, signal: AbortSignal): AbortSignal {
  const controller = new AbortController()
  const timer = setTimeout(() => end(new DOMException(`no answer within ${ms} ms`, 'TimeoutError')), ms)
  // Waiting for it keeps no process alive.
  timer.unref()
  const stop = (): void => end(signal.reason)
  function end(reason: unknown): void {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    controller.abort(reason)
  }
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop)
  return controller.signal
}

/** Waits for a promise, but not longer than `ms`. Resolves with whether it settled by then, fulfilled or not. */
export async function within(ms: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), ms)))
  const done = promise.then(
    () => true,
    () => true,
  )
  return await Promise.race([done, late]).finally(() => clearTimeout(timer))
}
