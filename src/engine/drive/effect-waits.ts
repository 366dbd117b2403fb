/**
 * Runs of this process with calls that wait for an earlier call with their effect key. They look again when any call with a key
 * ends here; calls of other processes are looked at by the timer `effect_wait`.
 */
import type { RunId, SessionId } from '../../base/ids.ts'
import type { SessionTree, SessionUpdate } from '../../store/session-update.ts'

export interface EffectWaits {
  /** Counts the ends of calls with a key, so that one between a read and its save is noticed. */
  count(): number
  /** Tells all that wait, if the update ends a call with a key. */
  saved(update: SessionUpdate): void
  /** Remembers which runs of a session wait now. @param seen `count` before the session read who holds its keys */
  keep(sessionId: SessionId, tree: SessionTree, seen: number): void
}

export function createEffectWaits(wake: (sessionId: SessionId, runId: RunId) => void): EffectWaits {
  const waiting = new Map<SessionId, readonly RunId[]>()
  let ends = 0
  return {
    count: () => ends,
    saved({ session, effects = [] }) {
      if (!effects.some((change) => 'end' in change)) return
      ends++
      for (const [id, runs] of waiting) if (id !== session.id) for (const run of runs) wake(id, run)
    },
    keep(sessionId, { runs }, seen) {
      const ids = runs
        .filter(
          ({ state }) =>
            state.at === 'calling' &&
            state.calls.some((call) => call.state.at === 'proposed' && call.effectWait !== undefined),
        )
        .map(({ id }) => id)
      if (ids.length === 0) return void waiting.delete(sessionId)
      waiting.set(sessionId, ids)
      if (seen !== ends) for (const run of ids) wake(sessionId, run)
    },
  }
}
