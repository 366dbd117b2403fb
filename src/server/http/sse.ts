/**
 * Encodes an event stream. The store is the buffer: the stream waits for a slow reader, and disconnects one that leaves 1 MiB
 * unsent; it may resume after the last id it received.
 * Source: docs/design/http.md#stream
 */
import { randomInt } from 'node:crypto'
import type { Writable } from 'node:stream'
import { toJsonLine } from '../../base/json/json-line.ts'
import { toIsoText } from '../../base/clock.ts'
import { failpointWithin } from '../../base/failpoint.ts'
import type { StreamEvent } from '../../spec/api.ts'
import type { LiveText, StoredEvent } from '../../spec/event.ts'

export interface EventStreamOptions {
  /** The event as this reader may see it; undefined = omitted. */
  readonly view: (event: StoredEvent | LiveText) => StoredEvent | LiveText | undefined
  /** Aborted when the reader is gone; aborting it ends the stream. */
  readonly stop: AbortController
  /** True once the server is ending; a stream that is stopped then tells its reader when to return. */
  readonly isClosing: () => boolean
  /** Called once, however the stream ended; with the cause when that was a bug. */
  readonly onEnd: (cause?: unknown) => void
}

/** Tells the reader how long to wait before it reconnects. */
const retryLine = (ms: number): string => `retry: ${ms}\n\n`

export const RETRY_LINE = retryLine(1000)

/** Spreads the readers of a server that ends over a second, so that they do not reconnect at once. Source: docs/design/http.md#stream */
export const scatteredRetryLine = (): string => retryLine(randomInt(1001))

export const STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

const MAX_UNSENT_BYTES = 1024 * 1024
/** How long a reader may leave that much unsent: long enough to process a long replay. */
const STALL_MS = 5000
const HEARTBEAT_MS = 15_000

/** One for all streams: without a reason each abort makes an error with its stack. */
const STREAM_OVER = new Error('The stream has ended.')

/** An event stream that nothing has been sent of. It begins when it is piped, and is piped once or destroyed. */
export interface EventStreamBody {
  /** Writes the stream to a response, without a web stream in between. */
  pipe(response: Writable): void
  destroy(): void
}

export function eventStream(
  source: AsyncIterable<readonly (StoredEvent | LiveText | 'live')[]>,
  { view, stop, isClosing, onEnd }: EventStreamOptions,
): EventStreamBody {
  return {
    pipe(response) {
      const outbox = createOutbox(response)
      const stopHeartbeat = addHeartbeat(() => outbox.isFull() || outbox.send(': \n\n'))
      const finish = (close: () => void, cause?: unknown): void => {
        stopHeartbeat()
        if (stop.signal.aborted && isClosing() && !response.destroyed) outbox.send(scatteredRetryLine())
        stop.abort(STREAM_OVER)
        close()
        onEnd(cause)
      }
      response.once('close', () => stop.abort(STREAM_OVER))
      // A write to a response whose socket has just closed.
      response.on('error', () => stop.abort(STREAM_OVER))
      void pump(source, view, outbox, stop.signal).then(
        (keptUp) => finish(keptUp ? outbox.end : () => response.destroy(new Error('The reader does not keep up.'))),
        // A stream that was cancelled or stopped ends with its abort reason; everything else is a bug.
        (cause: unknown) =>
          stop.signal.aborted ? finish(outbox.end) : finish(() => response.destroy(cause as Error), cause),
      )
    },
    destroy() {
      stop.abort(STREAM_OVER)
      onEnd()
    },
  }
}

/** Sends everything that the source has. @returns false when the reader does not keep up */
async function pump(
  source: AsyncIterable<readonly (StoredEvent | LiveText | 'live')[]>,
  view: EventStreamOptions['view'],
  outbox: Outbox,
  signal: AbortSignal,
): Promise<boolean> {
  outbox.send(RETRY_LINE)
  for await (const together of source) {
    for (const text of texts(together, view)) {
      if (outbox.isFull() && !(await drained(outbox.onRoom, signal))) return false
      if (signal.aborted) return true
      await failpointWithin('sse.midFrame', text, outbox.send)
      outbox.send(text)
    }
  }
  return true
}

interface Outbox {
  readonly send: (text: string) => void
  /** True while as much waits as a reader may leave unsent. */
  readonly isFull: () => boolean
  /** Calls back once, when it is no longer full. */
  readonly onRoom: (resume: () => void) => void
  /** Ends the response after what waits. */
  readonly end: () => void
}

/** Text on its way to a response. What the response does not take at once waits here. */
function createOutbox(response: Writable): Outbox {
  const waiting: Buffer[] = []
  let waitingBytes = 0
  let isBlocked = false
  let hasEnded = false
  let room: (() => void) | undefined
  const isFull = (): boolean => waitingBytes >= MAX_UNSENT_BYTES
  response.on('drain', () => {
    isBlocked = false
    for (let bytes = waiting.shift(); bytes; bytes = isBlocked ? undefined : waiting.shift()) {
      waitingBytes -= bytes.length
      isBlocked = !response.write(bytes)
    }
    if (hasEnded && waiting.length === 0) response.end()
    if (isFull()) return
    room?.()
    room = undefined
  })
  return {
    send(text) {
      if (!isBlocked) {
        isBlocked = !response.write(text)
        return
      }
      const bytes = Buffer.from(text)
      waiting.push(bytes)
      waitingBytes += bytes.length
    },
    isFull,
    onRoom: (resume) => void (room = resume),
    end() {
      hasEnded = true
      if (waiting.length === 0) response.end()
    },
  }
}

/** Sends the heartbeat of each open stream. One timer serves all: there may be thousands. */
const heartbeats = new Set<() => void>()
let heartbeatTimer: NodeJS.Timeout | undefined

/** Calls `send` every 15 seconds, the first time after at most 15. @returns a function that ends it */
function addHeartbeat(send: () => void): () => void {
  heartbeats.add(send)
  heartbeatTimer ??= setInterval(() => heartbeats.forEach((each) => each()), HEARTBEAT_MS).unref()
  return () => {
    heartbeats.delete(send)
    if (heartbeats.size > 0) return
    clearInterval(heartbeatTimer)
    heartbeatTimer = undefined
  }
}

/** Approximate size of one write. */
const CHUNK = 64 * 1024

/** Joins events that arrived together into few writes. */
function* texts(
  together: readonly (StoredEvent | LiveText | 'live')[],
  view: EventStreamOptions['view'],
): Generator<string> {
  let text = ''
  for (const each of together) {
    const visible = each === 'live' ? each : view(each)
    if (visible === undefined) continue
    text += visible === 'live' ? ': live\n\n' : frameOf(visible)
    if (text.length < CHUNK) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

/** Caches the frame of an event that several readers receive, as long as the event is in memory. */
const frames = new WeakMap<StoredEvent | LiveText, string>()

function frameOf(event: StoredEvent | LiveText): string {
  const known = frames.get(event)
  if (known !== undefined) return known
  const text = formatFrame(event)
  frames.set(event, text)
  return text
}

/** One JSON value on one line to every reader, so no text can forge a frame. */
function formatFrame(event: StoredEvent | LiveText): string {
  const body: StreamEvent = { ts: toIsoText(event.ts), kind: event.kind, subject: event.subject, data: event.data }
  const id = 'seq' in event ? `id: ${event.seq}\n` : ''
  return `${id}data: ${toJsonLine(body)}\n\n`
}

/** True once there is room or the stream is stopped; false after the time-out. */
const drained = (onRoom: (resume: () => void) => void, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), STALL_MS)
    const go = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', go)
      resolve(true)
    }
    signal.addEventListener('abort', go)
    onRoom(go)
  })
