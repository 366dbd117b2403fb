/**
 * Tells readers of a session about new events and model text. It keeps no stored data beyond a turn of the event loop: the store
 * is the only buffer.
 */
import type { SessionId } from '../../base/ids.ts'
import type { LiveText, StoredEvent } from '../../spec/event.ts'
import type { PlacedText, TextExchange } from '../interface/text-exchange.ts'

export interface SessionNotifier extends TextExchange {
  /**
   * Events up to number `seq` are stored; up to a number that only the store knows where another process stored them.
   * @param fresh the events that this save stored, for readers who have all before them; made only where somebody reads
   */
  notify(sessionId: SessionId, seq?: number, fresh?: FreshEvents): void
  /** Events of any session may be stored. */
  notifyAll(): void
  /**
   * Model text of a session that this process drives, as it arrives: for those subscribed now, and for taps.
   * @param lastSeq number of the newest event of the session
   */
  publishDelta(delta: LiveText, lastSeq: number): void
  /** Tells of every session that changes, until the returned function is called. */
  watch(listener: (sessionId: SessionId) => void): () => void
  /**
   * Subscribes until `close`.
   * @param takesText whether model text wakes the subscriber too
   */
  subscribe(sessionId: SessionId, takesText?: boolean): SessionSubscription
}

export interface FreshEvents {
  /** Number of the last event before them. */
  readonly after: number
  /** Undefined if they cannot be made or are too many for a page. */
  readonly make: () => readonly StoredEvent[] | undefined
}

type EventPage = Promise<readonly StoredEvent[]>

export interface SessionSubscription {
  /** Notifications so far. */
  count(): number
  /** Resolves when there are more notifications than `seen`, when a delta waits, or when the signal aborts. */
  waitBeyond(seen: number, signal: AbortSignal): Promise<void>
  /** Removes and returns the deltas published before the event of number `before` was stored. */
  takeDeltas(before: number): readonly LiveText[]
  /** Stored events after a cursor. Readers woken together at the same cursor share one query. */
  readPage(cursor: number, load: () => EventPage): EventPage
  close(): void
}

/** Deltas kept for a reader that does not take them; the step that follows has the whole text. */
const MAX_DELTAS = 1000

/** How long text that follows other text waits for more. Nobody sees the difference; each wake-up costs every reader. */
const TEXT_MS = 50

/** Maximum number of pieces that wait for more, far below the number kept for a reader: a model may send thousands in that time. */
const MAX_HELD = 100

interface Subscriber {
  readonly takesText: boolean
  readonly deltas: PlacedText[]
  /** Notifications that it had seen when it began to wait. */
  seen: number
  wake: (() => void) | undefined
}

/** The subscribers of one session. */
interface SessionChannel {
  readonly subscribers: Set<Subscriber>
  notifications: number
  /** Number of the newest event notified; 0 before the first. */
  seq: number
  /** Number of the newest event that a reader has got. */
  readSeq: number
  /**
   * What has woken readers in this turn of the event loop: later news is delivered together at its end. Only a first
   * piece of text does not wait: the turn may go on for milliseconds, with the rest of a short answer and its commit.
   */
  wokenBy: 'nothing' | 'events' | 'text'
  /** Runs while text waits for more: the first piece leaves at once, later ones together. */
  textTimer: NodeJS.Timeout | undefined
  /** Pieces published since text was last released. */
  held: number
  /** The newest page, until the end of the turn of the event loop in which it was read or saved. */
  page:
    | { readonly cursor: number; readonly notifications: number; readonly read: () => EventPage | undefined }
    | undefined
}

export function createNotifier(): SessionNotifier {
  const channels = new Map<SessionId, SessionChannel>()
  const watchers = new Set<(sessionId: SessionId) => void>()
  const taps = new Set<(text: PlacedText) => void>()
  const readerWatchers = new Set<(sessionId: SessionId, isRead: boolean) => void>()
  const isRead = ({ subscribers }: SessionChannel): boolean => [...subscribers].some(({ takesText }) => takesText)
  const tellReaders = (sessionId: SessionId, nowRead: boolean): void => {
    for (const tell of readerWatchers) tell(sessionId, nowRead)
  }
  const hasNews = ({ notifications, textTimer }: SessionChannel, { seen, deltas }: Subscriber): boolean =>
    notifications > seen || (textTimer === undefined && deltas.length > 0)
  /** Wakes readers that wait and have news. @returns false if there are none */
  const wakeReady = (channel: SessionChannel, by: 'events' | 'text'): boolean => {
    const ready = [...channel.subscribers].filter((each) => each.wake !== undefined && hasNews(channel, each))
    if (ready.length === 0) return false
    if (channel.wokenBy === 'nothing')
      setImmediate(() => {
        channel.wokenBy = 'nothing'
        wakeReady(channel, 'events')
      })
    channel.wokenBy = by
    for (const each of ready) each.wake!()
    return true
  }
  const keepPage = (channel: SessionChannel, cursor: number, read: () => EventPage | undefined): void => {
    channel.page = { cursor, notifications: channel.notifications, read }
    setImmediate(() => (channel.page = undefined))
  }
  const endTextTimer = (channel: SessionChannel): void => {
    clearTimeout(channel.textTimer)
    channel.textTimer = undefined
  }
  /** Wakes readers that have text, and holds back the text that follows. */
  const releaseText = (channel: SessionChannel): void => {
    endTextTimer(channel)
    channel.held = 0
    // Otherwise it leaves at the end of this turn, or when its readers have written what came before.
    if (channel.wokenBy !== 'text' && wakeReady(channel, 'text'))
      channel.textTimer = setTimeout(() => releaseText(channel), TEXT_MS).unref()
  }
  const notify: SessionNotifier['notify'] = (sessionId, seq, fresh) => {
    for (const tell of watchers) tell(sessionId)
    const channel = channels.get(sessionId)
    if (channel === undefined) return
    channel.notifications++
    if (seq !== undefined) channel.seq = seq
    if (fresh)
      keepPage(
        channel,
        fresh.after,
        once(() => toPage(fresh.make())),
      )
    // The text of the next step is a first piece again.
    endTextTimer(channel)
    if (channel.wokenBy === 'nothing') wakeReady(channel, 'events')
  }
  function deliver(channel: SessionChannel, published: PlacedText): void {
    let isTaken = false
    for (const { takesText, deltas } of channel.subscribers) {
      if (!takesText || deltas.length >= MAX_DELTAS) continue
      isTaken = true
      deltas.push(published)
    }
    if (!isTaken) return
    channel.held++
    if (channel.textTimer === undefined || channel.held >= MAX_HELD) releaseText(channel)
  }
  return {
    watch(listener) {
      watchers.add(listener)
      return () => void watchers.delete(listener)
    },
    notify,
    notifyAll() {
      for (const id of channels.keys()) notify(id)
    },
    publishDelta(delta, lastSeq) {
      for (const pass of taps) pass({ delta, afterSeq: lastSeq })
      const channel = channels.get(delta.sessionId)
      if (channel !== undefined) deliver(channel, { delta, afterSeq: channel.seq })
    },
    tap(listener) {
      taps.add(listener)
      return () => void taps.delete(listener)
    },
    receive(text) {
      const channel = channels.get(text.delta.sessionId)
      // The step that follows it has been shown already, and has the whole text.
      if (channel !== undefined && text.afterSeq >= channel.readSeq) deliver(channel, text)
    },
    readSessions: () => [...channels].flatMap(([id, channel]) => (isRead(channel) ? [id] : [])),
    watchReaders(listener) {
      readerWatchers.add(listener)
      return () => void readerWatchers.delete(listener)
    },
    subscribe(sessionId, takesText = true) {
      const subscriber: Subscriber = { takesText, deltas: [], seen: 0, wake: undefined }
      const channel: SessionChannel = channels.get(sessionId) ?? {
        subscribers: new Set(),
        notifications: 0,
        seq: 0,
        readSeq: 0,
        wokenBy: 'nothing',
        textTimer: undefined,
        held: 0,
        page: undefined,
      }
      channels.set(sessionId, channel)
      const wasRead = isRead(channel)
      channel.subscribers.add(subscriber)
      if (takesText && !wasRead) tellReaders(sessionId, true)
      return {
        count: () => channel.notifications,
        waitBeyond: (seen, signal) =>
          new Promise((resolve) => {
            const done = (): void => {
              signal.removeEventListener('abort', done)
              subscriber.wake = undefined
              resolve()
            }
            subscriber.seen = seen
            if (signal.aborted || (channel.wokenBy === 'nothing' && hasNews(channel, subscriber))) return done()
            subscriber.wake = done
            signal.addEventListener('abort', done)
            return undefined
          }),
        takeDeltas(before) {
          const { deltas } = subscriber
          if (deltas.length === 0) return []
          const later = deltas.findIndex(({ afterSeq }) => afterSeq >= before)
          return deltas.splice(0, later === -1 ? deltas.length : later).map(({ delta }) => delta)
        },
        readPage(cursor, load) {
          const { page, notifications } = channel
          const known = page?.cursor === cursor && page.notifications === notifications ? page.read() : undefined
          if (known) return known
          const events = load().then((read) => {
            channel.readSeq = Math.max(channel.readSeq, read.at(-1)?.seq ?? 0)
            return read
          })
          keepPage(channel, cursor, () => events)
          return events
        },
        close() {
          channel.subscribers.delete(subscriber)
          if (takesText && !isRead(channel)) tellReaders(sessionId, false)
          if (channel.subscribers.size > 0) return
          endTextTimer(channel)
          channels.delete(sessionId)
        },
      }
    },
  }
}

const toPage = (events: readonly StoredEvent[] | undefined): EventPage | undefined => events && Promise.resolve(events)

/** Makes a value at the first call. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
