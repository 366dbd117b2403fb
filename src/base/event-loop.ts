/** Divides long synchronous work, so that requests of others are answered in between. */

/** Shorter work keeps its turn: giving way costs an iteration of the event loop. */
const LONG_MS = 8

/** Starts to measure. The function that it returns tells whether the work since then took long. */
export function startWork(): () => boolean {
  const startedMs = performance.now()
  return () => performance.now() - startedMs > LONG_MS
}

/** Resolves after the event loop has read from its sockets: an immediate of this iteration may run before that, the next does not. */
export const giveWay = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

/** Work that stops after each piece of it, so that its caller may let others go first. */
export type DividedWork<Result> = Generator<void, Result>

/** Does all pieces at once. */
export function finishWork<Result>(work: DividedWork<Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

/** Does piece by piece; gives way whenever the pieces since the last turn took long. */
export async function finishInTurns<Result>(work: DividedWork<Result>): Promise<Result> {
  for (let isLong = startWork(); ;) {
    const { done, value } = work.next()
    if (done) return value
    if (!isLong()) continue
    await giveWay()
    isLong = startWork()
  }
}

/** Milliseconds of work before other work may run; garbage collection or a read may add to it. */
const SLICE_MS = 2

/** Yields to other work every few milliseconds, and stops when nobody waits for the answer any more. */
export function takeTurns(signal: AbortSignal): () => Promise<void> | void {
  let until = performance.now() + SLICE_MS
  return () => {
    if (performance.now() < until) return
    return new Promise((resolve) => setImmediate(resolve)).then(() => {
      signal.throwIfAborted()
      until = performance.now() + SLICE_MS
    })
  }
}
