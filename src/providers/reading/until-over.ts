/** The end of a stream whose sender leaves the connection open, or sends nothing but signs of life. */
import type { Clock } from '../../base/clock.ts'
import { within } from '../../base/signal-within.ts'
import { KEPT_ALIVE } from './server-events.ts'

/** How long a stream may go on after its answer is whole. Its end usually comes with the last event. */
const AFTER_WHOLE_MS = 500
/** How long a server may say that it is there, and nothing else: longer than models think. */
const LONGEST_SILENCE_MS = 30 * 60_000

export interface StreamEnd {
  /** Whether nothing more is expected. */
  readonly isOver: () => boolean
  /** Whether the answer is whole in spite of this fault: it was paid, and needs no other attempt. */
  readonly mayBreak: (error: unknown) => boolean
  /** When an event last added to the answer, on the monotonic clock. */
  readonly heardAt: () => number
  /** Ends the request. */
  readonly close: () => void
  readonly clock: Clock
}

/**
 * The events of a stream until it ends, or its answer is whole and a moment has passed.
 * @throws an error of code `ETIMEDOUT` after half an hour of comments, pings and other events that add nothing
 */
export async function* untilOver<Event>(
  events: AsyncIterable<Event | typeof KEPT_ALIVE>,
  { isOver, mayBreak, heardAt, close, clock }: StreamEnd,
): AsyncGenerator<Event, void> {
  const iterator = events[Symbol.asyncIterator]()
  let isLeftOpen = false
  try {
    for (;;) {
      const asked = iterator.next()
      if (isOver() && !(await within(AFTER_WHOLE_MS, asked))) {
        isLeftOpen = true
        asked.catch(() => {})
        return close()
      }
      const { value, done } = await asked.catch(endIf(mayBreak))
      if (done === true) return
      if (clock.monotonic() - heardAt() > LONGEST_SILENCE_MS) throw silent()
      if (value !== KEPT_ALIVE) yield value
    }
  } finally {
    const ended = iterator.return?.()
    if (isLeftOpen) ended?.catch(() => {})
    else await ended
  }
}

/** Takes a fault for the end of the stream where it does not matter. */
const endIf =
  (mayBreak: StreamEnd['mayBreak']) =>
  (error: unknown): IteratorReturnResult<undefined> => {
    if (mayBreak(error)) return { value: undefined, done: true }
    throw error
  }

const silent = (): Error =>
  Object.assign(new Error(`It sent nothing but signs of life for ${LONGEST_SILENCE_MS / 60_000} min.`), {
    code: 'ETIMEDOUT',
  })
