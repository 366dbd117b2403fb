/**
 * Reports this process to the others of the store, and says whether requests should be sent here. A failed report means
 * that the database is out of reach. Source: docs/design/several-processes.md#life-of-a-process
 */
import type { StoreClock } from '../../base/clock.ts'
import type { ListenerReport } from '../../base/net/own-listeners.ts'
import { MAX_AHEAD_MS } from '../../store/store-clock.ts'
import type { ClusterStore } from '../../store/cluster-store.ts'
import { REPORT_EVERY_MS, SILENT_WORKER_MS, type WorkerReport } from '../../store/worker.ts'

/** A database outage shorter than this takes no server out of service. */
const AWAY_MS = 5000

/** Why requests should not be sent here. */
export type UnreadyReason = 'starting' | 'draining' | 'store_away' | 'clock_off'

export interface ServerPresence {
  /** Reports from now on, and resolves after the first report. @param ask called once, when an operator asks the process to drain */
  begin(ask: () => void): Promise<void>
  unready(): UnreadyReason | undefined
  /** Whether this process runs the background jobs of the store; false while its last answer is so old that another one may. */
  isFirst(): boolean
  /** Reports at once, for a change that others wait for. */
  report(): Promise<void>
  /** Reports no more. The store forgets the process. */
  stop(): Promise<void>
}

export interface PresenceParts {
  readonly store: ClusterStore
  readonly clock: StoreClock
  /** The present state. */
  readonly describe: () => WorkerReport
  /** Called with each report: where the other processes listen. */
  readonly onOthers?: (others: ListenerReport) => void
}

export function createPresence({ store, clock, describe, onOthers }: PresenceParts): ServerPresence {
  let timer: NodeJS.Timeout | undefined
  let reporting: Promise<void> | undefined
  let ask: (() => void) | undefined
  let stopped = false
  /** When the store last answered; undefined before the first time. */
  let answeredAt: number | undefined
  let isFirst = false
  /** By the clock of this process; counted from the question, so that it is over before another process is the first. */
  let firstUntil = 0

  async function send(): Promise<void> {
    try {
      const askedAt = clock.monotonic()
      const { isAsked, others, ...news } = await store.report(describe())
      onOthers?.(others)
      answeredAt = clock.monotonic()
      isFirst = news.isFirst
      firstUntil = askedAt + SILENT_WORKER_MS
      if (!isAsked || !ask) return
      const drain = ask
      ask = undefined
      drain()
    } catch {
      // The store tells that it is away, and readiness how long it has been.
    }
  }

  /** One report at a time: the next one waits for an answer that takes long. */
  const report = (): Promise<void> => (reporting ??= send().finally(() => (reporting = undefined)))

  return {
    async begin(onAsked) {
      ask = onAsked
      await report()
      timer = setInterval(() => void report(), REPORT_EVERY_MS)
      timer.unref()
    },
    unready() {
      if (describe().isDraining || stopped) return 'draining'
      if (answeredAt === undefined) return 'starting'
      if (clock.monotonic() - answeredAt > REPORT_EVERY_MS + AWAY_MS) return 'store_away'
      return Math.abs(clock.aheadMs()) > MAX_AHEAD_MS ? 'clock_off' : undefined
    },
    isFirst: () => isFirst && !stopped && clock.monotonic() < firstUntil,
    report,
    async stop() {
      stopped = true
      clearInterval(timer)
      await reporting
      await store.forgetWorker(describe().id).catch(() => {})
    },
  }
}
