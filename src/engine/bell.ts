/** Tells readers of a session that there is something new. It keeps no stored data: the store is the only buffer. */
import type { SessionId } from '../base/ids.ts'
import type { Delta, StoredEvent } from '../spec/event.ts'

export interface Bell {
  ring(sessionId: SessionId): void
  /** Model text as it arrives, for those who listen now. */
  say(delta: Delta): void
  /** Listens until `close`. */
  listen(sessionId: SessionId): Ear
}

type Page = Promise<readonly StoredEvent[]>

export interface Ear {
  /** Rings so far. */
  count(): number
  /** Resolves when it has rung beyond `heard`, when a delta waits, or when the signal fires. */
  after(heard: number, signal: AbortSignal): Promise<void>
  /** Deltas since the last call. */
  deltas(): readonly Delta[]
  /** What is stored after a cursor. Readers who were woken together and stand at the same place read it once. */
  read(cursor: number, load: () => Page): Page
  close(): void
}

/** Deltas kept for one reader that does not come for them; the step that follows has the whole text. */
const MAX_DELTAS = 1000

interface Listener {
  deltas: Delta[]
  /** Rings that it knows of while it waits. */
  heard: number
  wake: (() => void) | undefined
}

/** The readers of one session. */
interface Room {
  readonly listeners: Set<Listener>
  rings: number
  /** They were woken in this turn of the event loop: what comes now goes to each of them in one piece, at the turn's end. */
  woken: boolean
  /** The newest page, until the turn of the event loop in which it was asked for ends. */
  page: { readonly cursor: number; readonly rings: number; readonly events: Page } | undefined
}

export function createBell(): Bell {
  const rooms = new Map<SessionId, Room>()
  const hasNews = ({ rings }: Room, { heard, deltas }: Listener): boolean => rings > heard || deltas.length > 0
  const wake = (room: Room): void => {
    if (room.woken) return
    const ready = [...room.listeners].filter((each) => each.wake !== undefined && hasNews(room, each))
    if (ready.length === 0) return
    room.woken = true
    setImmediate(() => {
      room.woken = false
      wake(room)
    })
    for (const each of ready) each.wake!()
  }
  return {
    ring(sessionId) {
      const room = rooms.get(sessionId)
      if (room === undefined) return
      room.rings++
      wake(room)
    },
    say(delta) {
      const room = rooms.get(delta.sessionId)
      if (room === undefined) return
      for (const { deltas } of room.listeners) if (deltas.length < MAX_DELTAS) deltas.push(delta)
      wake(room)
    },
    listen(sessionId) {
      const mine: Listener = { deltas: [], heard: 0, wake: undefined }
      const room = rooms.get(sessionId) ?? { listeners: new Set(), rings: 0, woken: false, page: undefined }
      rooms.set(sessionId, room)
      room.listeners.add(mine)
      return {
        count: () => room.rings,
        after: (heard, signal) =>
          new Promise((resolve) => {
            const done = (): void => {
              signal.removeEventListener('abort', done)
              mine.wake = undefined
              resolve()
            }
            mine.heard = heard
            if (signal.aborted || (!room.woken && hasNews(room, mine))) return done()
            mine.wake = done
            signal.addEventListener('abort', done)
            return undefined
          }),
        deltas: () => mine.deltas.splice(0),
        read(cursor, load) {
          const { page, rings } = room
          if (page?.cursor === cursor && page.rings === rings) return page.events
          const events = load()
          room.page = { cursor, rings, events }
          setImmediate(() => (room.page = undefined))
          return events
        },
        close() {
          room.listeners.delete(mine)
          if (room.listeners.size === 0) rooms.delete(sessionId)
        },
      }
    },
  }
}
