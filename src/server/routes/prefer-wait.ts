/** `Prefer: wait=SECONDS`: the server answers when the run pauses or ends. Source: docs/design/http.md#waiting-and-pending; RFC 7240 */
import type { RunId, SessionId } from '../../base/ids.ts'
import type { Run } from '../../spec/run/run.ts'
import type { AuthenticatedCaller } from '../auth/auth.ts'
import { isStoreAway } from '../../store/store-away.ts'
import { admitWait } from '../auth/admit-wait.ts'
import type { HttpRequestContext } from '../http/route.ts'
import type { ServerServices } from '../runtime/services.ts'

export interface GrantedWait {
  readonly headers: Readonly<Record<string, string>>
  /** The run after the wait; undefined where nothing waited. */
  readonly run?: Run
}

const NOT_GRANTED: GrantedWait = { headers: {} }

/** Longer waits are cut to this many seconds. */
const LONGEST_WAIT_S = 60

/**
 * Waits, if the request asks for it, until the run pauses or ends, the time is over, the caller goes away or the server stops.
 * @returns headers that say what was granted, if anything was, and the run after the wait
 */
export async function waitAsPreferred(
  services: ServerServices,
  { request, incoming }: HttpRequestContext,
  caller: AuthenticatedCaller,
  run: { readonly id: RunId; readonly sessionId: SessionId },
): Promise<GrantedWait> {
  const seconds = parseWait(request.headers.get('prefer'))
  if (seconds === undefined) return NOT_GRANTED
  const wait = admitWait(services, caller)
  if (!wait) return NOT_GRANTED
  const stop = new AbortController()
  const end = (): void => stop.abort()
  wait.signal.addEventListener('abort', end)
  if (wait.signal.aborted) end()
  const timer = setTimeout(end, seconds * 1000)
  const socket = incoming?.socket
  if (socket) socket.once('close', end)
  // A caller in this process has no socket.
  else request.signal.addEventListener('abort', end)
  try {
    const after = await whileStoreAnswers(
      async () => (await services.engine.waitForPause(run, stop.signal)) ?? (await services.store.run(run.id)),
    )
    return after ? { headers: { 'preference-applied': `wait=${seconds}` }, run: after } : NOT_GRANTED
  } finally {
    clearTimeout(timer)
    wait.leave()
    if (socket) socket.off('close', end)
    else request.signal.removeEventListener('abort', end)
  }
}

/**
 * What is read for the answer to a request that was accepted; undefined while the store is away: an error would say that nothing had
 * happened, and the caller would ask for it a second time.
 */
export async function whileStoreAnswers<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (isStoreAway(error)) return undefined
    throw error
  }
}

/** Seconds of `wait` in a list of preferences; undefined if it is missing or has no number. */
export function parseWait(prefer: string | null): number | undefined {
  const [, digits] = /(?:^|[,;])\s*wait\s*=\s*"?(\d+)"?\s*(?:[,;]|$)/i.exec(prefer ?? '') ?? []
  return digits === undefined ? undefined : Math.min(Number(digits), LONGEST_WAIT_S)
}
