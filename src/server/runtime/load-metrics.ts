/**
 * Metrics for an autoscaler: how long sessions with work wait for a server. Queries the store every 5 s, however often they
 * are requested. Source: scale-out, section 3.6.
 */
import type { Clock } from '../../base/clock.ts'
import type { SessionId } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import { isStoreAway } from '../../store/store-away.ts'
import type { Store } from '../../store/store.ts'
import { detailOf } from '../http/detail.ts'

const LOOK_EVERY_MS = 5000
/** Maximum of sessions counted. */
const MOST_COUNTED = 1000

export interface LoadMetrics {
  /** In the text format of Prometheus; without values while the store does not answer. */
  text(): string
  /** Asks the store now, as the timer does. */
  look(): Promise<void>
  close(): void
}

export function createLoadMetrics(store: Pick<Store, 'waitingSessions'>, clock: Clock, log: Log): LoadMetrics {
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

  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref()
  void look()
  return {
    look,
    text() {
      if (!waiting) return ''
      const since = Math.min(...waiting.values())
      const delaySeconds = waiting.size === 0 ? 0 : (clock.monotonic() - since) / 1000
      return (
        gauge(
          'svc_waiting_sessions',
          `Sessions with work that no server holds, counted to ${MOST_COUNTED}.`,
          waiting.size,
        ) + gauge('svc_claim_delay_seconds', 'How long the first of them has waited, seen every 5 s.', delaySeconds)
      )
    },
    close: () => clearInterval(timer),
  }
}

const gauge = (name: string, help: string, value: number): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`
