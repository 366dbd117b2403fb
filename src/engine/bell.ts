/** Tells readers of a session that there is something new. It carries no stored data: the store is the only buffer. */
import type { SessionId } from '../base/ids.ts'
import type { Delta } from '../spec/event.ts'

export interface Bell {
  ring(sessionId: SessionId): void
  /** Model text as it arrives, for those who listen now. */
  say(delta: Delta): void
  /** Listens until `close`. */
  listen(sessionId: SessionId): Ear
}

export interface Ear {
  /** Rings so far. */
  count(): number
  /** Resolves when it has rung beyond `heard`, when a delta waits, or when the signal fires. */
  after(heard: number, signal: AbortSignal): Promise<void>
  /** Deltas since the last call. */
  deltas(): readonly Delta[]
  close(): void
}

/** Deltas kept for one reader that does not come for them; the step that follows has the whole text. */
const MAX_DELTAS = 1000

interface Listener {
  rings: number
  deltas: Delta[]
  wake: (() => void) | undefined
}

export function createBell(): Bell {
  const listeners = new Map<SessionId, Set<Listener>>()
  return {
    ring(sessionId) {
      for (const each of listeners.get(sessionId) ?? []) {
        each.rings++
        each.wake?.()
      }
    },
    say(delta) {
      for (const each of listeners.get(delta.sessionId) ?? []) {
        if (each.deltas.length >= MAX_DELTAS) continue
        each.deltas.push(delta)
        each.wake?.()
      }
    },
    listen(sessionId) {
      const mine: Listener = { rings: 0, deltas: [], wake: undefined }
      const all = listeners.get(sessionId) ?? new Set()
      listeners.set(sessionId, all.add(mine))
      return {
        count: () => mine.rings,
        after: (heard, signal) =>
          new Promise((resolve) => {
            const done = (): void => {
              signal.removeEventListener('abort', done)
              mine.wake = undefined
              resolve()
            }
            if (mine.rings > heard || mine.deltas.length > 0 || signal.aborted) return done()
            mine.wake = done
            signal.addEventListener('abort', done)
            return undefined
          }),
        deltas: () => mine.deltas.splice(0),
        close() {
          all.delete(mine)
          if (all.size === 0) listeners.delete(sessionId)
        },
      }
    },
  }
}
