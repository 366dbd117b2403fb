/**
 * The store's time in a process whose own clock may be wrong. It is measured from the answers of the store and goes on with the
 * monotonic clock, so it neither jumps when the clock of the machine is set nor runs ahead of the store: what an answer says was true
 * at the latest when it arrived.
 */
import type { Clock, Instant, StoreClock } from '../base/clock.ts'

/** A process whose clock differs by more than this decides nothing. */
export const MAX_AHEAD_MS = 1000
const MEASURE_EVERY_MS = 1000
/** Answers that are compared: the fastest of them says most. A few, because no two clocks run equally fast. */
const KEPT_ANSWERS = 8
/** Without an answer for this time, the store's time is not known any more. Its clock stands still meanwhile. */
const KNOWN_FOR_MS = 10_000

export interface MeasuredClock extends StoreClock {
  /** Asks the store. @throws the error of the store */
  measure(): Promise<void>
  /** Measures from now on, again and again. */
  begin(): void
  close(): void
}

export interface StoreClockParts {
  /** The clock of this process. */
  readonly clock: Clock
  /** Asks the store for its time. */
  readonly ask: () => Promise<Instant>
  /** Called when the clocks begin to differ, with how far this process is ahead, and with 0 when they agree again. */
  readonly changed?: (aheadMs: number) => void
  readonly timers?: {
    set(callback: () => void, ms: number): unknown
    clear(handle: unknown): void
  }
}

/** What the store's time minus the monotonic time lies between, as one answer says. */
interface OffsetRange {
  readonly least: number
  readonly most: number
}

export function createStoreClock({ clock, ask, changed, timers = nodeTimers }: StoreClockParts): MeasuredClock {
  let answers: readonly OffsetRange[] = []
  let range: OffsetRange = { least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY }
  /** Monotonic, of the newest answer. */
  let answeredAt = Number.NEGATIVE_INFINITY
  let wasOff = false
  let timer: unknown
  let closed = false

  function aheadMs(): number {
    const [wall, monotonic] = [clock.now(), clock.monotonic()]
    return Math.round(outside(wall, range.least + monotonic, range.most + monotonic))
  }

  async function measure(): Promise<void> {
    const askedAt = clock.monotonic()
    const at = await ask()
    const now = clock.monotonic()
    const answer = { least: at - now, most: at - askedAt }
    const joined = join([...answers, answer].slice(-KEPT_ANSWERS))
    // Answers that contradict each other: the store's clock was set, or the machine was suspended. The newest one is right.
    answers = joined ? [...answers, answer].slice(-KEPT_ANSWERS) : [answer]
    range = joined ?? answer
    answeredAt = now
    const ahead = aheadMs()
    const isOff = Math.abs(ahead) > MAX_AHEAD_MS
    if (isOff !== wasOff) changed?.(isOff ? ahead : 0)
    wasOff = isOff
  }

  function schedule(): void {
    if (closed) return
    timer = timers.set(() => {
      // The store tells that it is away, and without its answers nothing is decided.
      void measure().catch(ignore).finally(schedule)
    }, MEASURE_EVERY_MS)
  }

  return {
    now: () => Math.floor(range.least + Math.min(clock.monotonic(), answeredAt + KNOWN_FOR_MS)),
    monotonic: () => clock.monotonic(),
    wall: () => clock.now(),
    aheadMs,
    mayDecide: () => clock.monotonic() - answeredAt <= KNOWN_FOR_MS && Math.abs(aheadMs()) <= MAX_AHEAD_MS,
    measure,
    begin: schedule,
    close() {
      closed = true
      timers.clear(timer)
    },
  }
}

/** How far a value lies above or, negative, below a range; 0 within it. */
export const outside = (value: number, least: number, most: number): number =>
  value - Math.min(Math.max(value, least), most)

/** What all ranges have in common, if anything. */
function join(ranges: readonly OffsetRange[]): OffsetRange | undefined {
  const least = Math.max(...ranges.map((each) => each.least))
  const most = Math.min(...ranges.map((each) => each.most))
  return least <= most ? { least, most } : undefined
}

const nodeTimers = {
  set: (callback: () => void, ms: number): unknown => setTimeout(callback, ms).unref(),
  clear: (handle: unknown): void => clearTimeout(handle as NodeJS.Timeout),
}

function ignore(): void {}
