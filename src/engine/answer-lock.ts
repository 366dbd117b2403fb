import type { OpenClaim } from './interface/repeated-request.ts'

/** Runs answers with the same idempotency key one after the other: a repetition waits for the first. */
export function createAnswerLock(): <T>(claim: OpenClaim, answer: () => Promise<T>) => Promise<T> {
  const answering = new Map<string, Promise<unknown>>()
  return async ({ principal, route, key }, answer) => {
    const twin = `${principal} ${route} ${key}`
    while (answering.has(twin)) await answering.get(twin)
    const answered = answer()
    const done = answered.catch(() => {}).finally(() => answering.delete(twin))
    answering.set(twin, done)
    return answered
  }
}
