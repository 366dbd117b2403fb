/**
 * Calls whose outcome a client has still to ask for. The same call made again, without an id of its own, means that one, so it is not
 * made twice. Kept in memory: the engine finds calls that are open still, and after a restart the same call as one that ended meanwhile
 * is another, which the guard of repeated calls asks about.
 */
import type { ClientConversation } from '../../engine/interface/client-call.ts'

export interface OpenCall {
  readonly callId: string
  readonly conversation: ClientConversation
}

export interface OpenCalls {
  find(key: string): OpenCall | undefined
  /** Of several calls that are the same the oldest is kept. */
  keep(key: string, call: OpenCall): void
  /** Another call that is the same stays. */
  forget(key: string, callId: string): void
}

const MOST_OPEN = 10_000

export function createOpenCalls(): OpenCalls {
  const calls = new Map<string, OpenCall>()
  return {
    find: (key) => calls.get(key),
    keep(key, call) {
      if (calls.has(key)) return
      calls.set(key, call)
      // The oldest comes first.
      if (calls.size > MOST_OPEN) calls.delete(calls.keys().next().value!)
    },
    forget(key, callId) {
      if (calls.get(key)?.callId === callId) calls.delete(key)
    },
  }
}
