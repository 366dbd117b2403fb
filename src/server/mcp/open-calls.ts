/**
 * Calls without an id of their own whose outcome a client has still to ask for. The same call made again means that one, so it is not
 * made twice. Kept in memory: after a restart such a call is another one, which the guard of repeated calls asks about.
 */
export interface OpenCalls {
  find(key: string): string | undefined
  keep(key: string, callId: string): void
  forget(key: string): void
}

const MOST_OPEN = 10_000

export function createOpenCalls(): OpenCalls {
  const calls = new Map<string, string>()
  return {
    find: (key) => calls.get(key),
    keep(key, callId) {
      calls.delete(key)
      calls.set(key, callId)
      // The oldest comes first.
      if (calls.size > MOST_OPEN) for (const oldest of [...calls.keys()].slice(0, 1)) calls.delete(oldest)
    },
    forget: (key) => void calls.delete(key),
  }
}
