/** Tells readers of a session that there is something new. It keeps no stored data: the store is the only buffer. */
import type { SessionId } from '../../base/ids.ts'
import type { TextDelta, StoredEvent } from '../../spec/event.ts'

export interface SessionNotifier {
  /** Something is stored, up to the event of this number. */
  ring(sessionId: SessionId, seq: number): void
  /** Model text as it arrives, for those who listen now. */
  say(delta: TextDelta): void
  /** Listens until `close`. */
  listen(sessionId: SessionId): SessionSubscription
}

type EventPage = Promise<readonly StoredEvent[]>

export interface SessionSubscription {
  /** Rings so far. */
  count(): number
  /** Resolves when it has rung beyond `heard`, when a delta waits, or when the signal fires. */
  after(heard: number, signal: AbortSignal): Promise<void>
  /** Deltas said ahead of the event of this number that no earlier call had. */
  deltas(before: number): readonly TextDelta[]
  /** What is stored after a cursor. Readers who were woken together and stand at the same place read it once. */
  read(cursor: number, load: () => EventPage): EventPage
  close(): void
}

/** Deltas kept for one reader that does not come for them; the step that follows has the whole text. */
const MAX_DELTAS = 1000

/** A delta, and the number of the event that was the newest when it was said. */
interface LiveDelta {
  readonly delta: TextDelta
  readonly after: number
}

interface SubscriptionState {
  readonly said: LiveDelta[]
  /** Rings that it knows of while it waits. */
  heard: number
  wake: (() => void) | undefined
}

/** The readers of one session. */
interface Room {
  readonly listeners: Set<SubscriptionState>
  rings: number
  /** Of the newest event that a ring told of; 0 before the first. */
  seq: number
  /** They were woken in this turn of the event loop: what comes now goes to each of them in one piece, at the turn's end. */
  woken: boolean
  /** The newest page, until the turn of the event loop in which it was asked for ends. */
  page: { readonly cursor: number; readonly rings: number; readonly events: EventPage } | undefined
}

export function createNotifier(): SessionNotifier {
  const rooms = new Map<SessionId, Room>()
  const hasNews = ({ rings }: Room, { heard, said }: SubscriptionState): boolean => rings > heard || said.length > 0
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
    ring(sessionId, seq) {
      const room = rooms.get(sessionId)
      if (room === undefined) return
      room.rings++
      room.seq = seq
      wake(room)
    },
    say(delta) {
      const room = rooms.get(delta.sessionId)
      if (room === undefined) return
      const one: LiveDelta = { delta, after: room.seq }
      for (const { said } of room.listeners) if (said.length < MAX_DELTAS) said.push(one)
      wake(room)
    },
    listen(sessionId) {
      const mine: SubscriptionState = { said: [], heard: 0, wake: undefined }
      const room = rooms.get(sessionId) ?? { listeners: new Set(), rings: 0, seq: 0, woken: false, page: undefined }
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
        deltas(before) {
          if (mine.said.length === 0) return []
          const later = mine.said.findIndex(({ after }) => after >= before)
          return mine.said.splice(0, later === -1 ? mine.said.length : later).map(({ delta }) => delta)
        },
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
