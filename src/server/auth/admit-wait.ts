/** Requests that wait for something, by the credential that admitted them: bounded, and ended with it and with the server. */
import type { ServerServices } from '../runtime/services.ts'
import type { AuthenticatedCaller } from './auth.ts'
import { grantsOfCaller } from './reader-grants.ts'

/** Requests of one key that may wait or stream at once. One more is answered at once, as if it had not asked to wait. */
const MAX_WAITS = 100

export interface AdmittedWait {
  /** Aborts when the credential is revoked or changed, and when the server stops. */
  readonly signal: AbortSignal
  /** For the end of the wait. */
  leave(): void
}

/** @returns undefined where the caller waits often enough already */
export function admitWait(
  { readers }: Pick<ServerServices, 'readers'>,
  caller: AuthenticatedCaller,
): AdmittedWait | undefined {
  const grants = grantsOfCaller(caller)
  if (Object.keys(grants).some((owner) => readers.count(owner) >= MAX_WAITS)) return undefined
  const stop = new AbortController()
  return { signal: stop.signal, leave: readers.add(grants, () => stop.abort()) }
}
