/**
 * Metrics for an autoscaler: how long sessions with work wait for a server, how many this one holds, and whether it keeps up.
 * Queries the store every 5 s, however often they are requested. Source: docs/design/several-processes.md#turns
 */
import type { Clock } from '../../base/clock.ts'
import type { SessionId } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import { isStoreAway } from '../../store/store-away.ts'
import type { ClusterStore } from '../../store/cluster-store.ts'
import { detailOf } from '../http/detail.ts'
import type { EventLoopLag } from './event-loop-lag.ts'

const LOOK_EVERY_MS = 5000
/** Maximum of sessions counted. */
const MOST_COUNTED = 1000

export interface LoadMetricsParts {
  readonly store: Pick<ClusterStore, 'waitingSessions'>
  readonly clock: Clock
  readonly log: Log
  readonly leasesHeld: () => number
  readonly lag: Pick<EventLoopLag, 'meanMs'>
}

export interface LoadMetrics {
  /** In the text format of Prometheus; without values of the store while it does not answer. */
  text(): string
  /** Asks the store now, as the timer does. */
  look(): Promise<void>
  close(): void
}

export function createLoadMetrics({ store, clock, log, leasesHeld, lag }: LoadMetricsParts): LoadMetrics {
  /** Start of each wait; undefined until the store has answered. */
  let waiting: ReadonlyMap<SessionId, number> | undefined

  async function look(): Promise<void> {
    const before = waiting
    const found = await store.waitingSessions(MOST_COUNTED).catch((error: unknown) => {
      if (!isStoreAway(error)) log.write('warn', 'waiting sessions could not be counted', { detail: detailOf(error) })
      return undefined
    })
    const now = clock.monotonic()
    waiting =
      found &&
      new Map(
        found.map(({ sessionId, overForMs }) => [sessionId, Math.min(now - overForMs, before?.get(sessionId) ?? now)]),
      )
  }

  function ofStore(): string {
    if (!waiting) return ''
    const since = Math.min(...waiting.values())
    const delaySeconds = waiting.size === 0 ? 0 : (clock.monotonic() - since) / 1000
    return (
      gauge(
        'svc_ready_sessions',
        `Sessions with work that no server holds, counted to ${MOST_COUNTED}.`,
        waiting.size,
      ) + gauge('svc_claim_delay_seconds', 'How long the first of them has waited, seen every 5 s.', delaySeconds)
    )
  }

  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref()
  void look()
  return {
    look,
    text: () =>
      ofStore() +
      gauge('svc_leases_held', 'Sessions with work that this server holds.', leasesHeld()) +
      gauge(
        'svc_event_loop_lag_seconds',
        'How late timers of this server were in the last second, on average.',
        Math.round(lag.meanMs()) / 1000,
      ),
    close: () => clearInterval(timer),
  }
}

const gauge = (name: string, help: string, value: number): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`
