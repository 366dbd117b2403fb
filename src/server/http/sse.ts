/**
 * Encodes an event stream. The store is the buffer: the stream waits for a slow reader, and disconnects one that leaves 1 MiB
 * unsent; it may resume after the last id it received.
 * Source: HTTP API, "Events"; decisions, section 7; security, S28.
 */
import { toIsoText } from '../../base/clock.ts'
import { failpointWithin } from '../../base/failpoint.ts'
import type { StreamEvent } from '../../spec/api.ts'
import type { LiveText, StoredEvent } from '../../spec/event.ts'

export interface EventStreamOptions {
  /** The event as this reader may see it; undefined = omitted. */
  readonly view: (event: StoredEvent | LiveText) => StoredEvent | LiveText | undefined
  /** Aborted when the reader is gone; aborting it ends the stream. */
  readonly stop: AbortController
  /** Called once, however the stream ended; with the cause when that was a bug. */
  readonly onEnd: (cause?: unknown) => void
}

export const STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

const MAX_UNSENT_BYTES = 1024 * 1024
/** How long a reader may leave that much unsent: long enough to process a long replay. */
const STALL_MS = 5000
const HEARTBEAT_MS = 15_000

export function eventStream(
  source: AsyncIterable<readonly (StoredEvent | LiveText | 'live')[]>,
  { view, stop, onEnd }: EventStreamOptions,
): ReadableStream<Uint8Array> {
  let room: (() => void) | undefined
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const send = (text: string) => controller.enqueue(encoder.encode(text))
        const full = () => (controller.desiredSize ?? 0) <= 0
        const stopHeartbeat = addHeartbeat(() => full() || send(': \n\n'))
        const pump = async () => {
          send('retry: 1000\n\n')
          for await (const together of source) {
            for (const text of texts(together, view)) {
              if (full() && !(await drained((resume) => (room = resume), stop.signal)))
                return controller.error(new Error('The reader does not keep up.'))
              if (stop.signal.aborted) return end(controller)
              await failpointWithin('sse.midFrame', text, send)
              send(text)
            }
          }
          end(controller)
        }
        void pump()
          .then(
            () => onEnd(),
            (cause: unknown) => {
              // A stream that was cancelled or stopped ends with its abort reason; everything else is a bug.
              const stopped = stop.signal.aborted
              if (stopped) end(controller)
              else controller.error(cause)
              onEnd(stopped ? undefined : cause)
            },
          )
          .finally(() => {
            stopHeartbeat()
            stop.abort()
          })
      },
      pull() {
        room?.()
        room = undefined
      },
      cancel() {
        stop.abort()
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNSENT_BYTES }),
  )
}

const encoder = new TextEncoder()

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

/** One JSON value on one line: `JSON.stringify` escapes every line end, so no text can forge a frame. */
function formatFrame(event: StoredEvent | LiveText): string {
  const body: StreamEvent = { ts: toIsoText(event.ts), kind: event.kind, subject: event.subject, data: event.data }
  const id = 'seq' in event ? `id: ${event.seq}\n` : ''
  return `${id}data: ${JSON.stringify(body)}\n\n`
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

/** Closes the stream unless its reader has cancelled it. */
function end(controller: ReadableStreamDefaultController<Uint8Array>): void {
  try {
    controller.close()
  } catch {
    // Closed by the reader's cancel.
  }
}
