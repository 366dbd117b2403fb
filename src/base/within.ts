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
