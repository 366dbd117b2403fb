/**
 * Hints that something changed, for screens with lists. A hint carries no data; a reader that gets one reads again.
 * Sessions are named by the engine, everything else by the operator route that changed it.
 */
import type { SessionId } from '../../base/ids.ts'
import type { Engine } from '../../engine/interface/engine.ts'

export interface ChangeHints {
  /** @param listener gets the session that changed; undefined for what belongs to none: versions, triggers, keys */
  listen(listener: (sessionId: SessionId | undefined) => void): () => void
  /** Something of a session that is not in its events, or something that belongs to none. */
  tell(sessionId?: SessionId): void
}

export function createChangeHints(engine: Pick<Engine, 'watch'>): ChangeHints {
  const listeners = new Set<(sessionId: SessionId | undefined) => void>()
  return {
    listen(listener) {
      const leave = engine.watch(listener)
      listeners.add(listener)
      return () => {
        leave()
        listeners.delete(listener)
      }
    },
    tell(sessionId) {
      for (const listener of listeners) listener(sessionId)
    },
  }
}
