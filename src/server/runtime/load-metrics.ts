/**
 * What a server reports of itself: for an autoscaler, how long sessions with work wait for a server, how
 * many this one holds, and whether it keeps up; for those who operate it, tasks that wait, timers that are late, and what
 * `run-metrics.ts` counted. Queries the store every 5 s, however often it is asked. Source: docs/design/several-processes.md#turns
 */
import type { Clock } from '../../base/clock.ts'
import type { SessionId, WorkspaceId } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import { API_TASK_KINDS, OPERATOR_TASK_KINDS } from '../../spec/task.ts'
import type { OpenTasks } from '../../store/queries.ts'
import { isStoreAway } from '../../store/store-away.ts'
import type { Store } from '../../store/store.ts'
import { detailOf } from '../http/detail.ts'
import type { EventLoopLag } from './event-loop-lag.ts'
import { gaugeOf, printMetrics, valuesOf, type MetricFamily, type MetricRegistry } from '../metrics/registry.ts'

const LOOK_EVERY_MS = 5000
/** Maximum of sessions and timers counted. */
const MOST_COUNTED = 1000
/** Each is told, also while no task of it waits: a value that is absent is not zero. */
const KINDS = [...API_TASK_KINDS, ...OPERATOR_TASK_KINDS]
/** A timer is late when it has not fired after this time. */
const LATE_MS = 5000

export interface LoadMetricsParts {
  readonly store: Pick<Store, 'waitingSessions' | 'openTasks' | 'dueTimers'>
  readonly clock: Clock
  readonly log: Log
  readonly workspaceId: WorkspaceId
  readonly version: string
  /** What is counted of runs. */
  readonly registry: Pick<MetricRegistry, 'collect'>
  readonly leasesHeld: () => number
  readonly lag: Pick<EventLoopLag, 'meanMs'>
}

export interface LoadMetrics {
  /** Without values of the store while it does not answer. */
  collect(): readonly MetricFamily[]
  /** The same in the text format of Prometheus. */
  text(): string
  /** Asks the store now, as the timer does. */
  look(): Promise<void>
  close(): void
}

export function createLoadMetrics(parts: LoadMetricsParts): LoadMetrics {
  const { store, clock, log, workspaceId, version, registry, leasesHeld, lag } = parts
  const startedAt = Math.round(clock.now() / 1000)
  /** What the store answered last; undefined until it has, and while it is away. */
  let seen:
    | {
        /** Start of each wait. */
        readonly waiting: ReadonlyMap<SessionId, number>
        readonly tasks: readonly OpenTasks[]
        readonly lateTimers: number
      }
    | undefined

  async function look(): Promise<void> {
    const before = seen?.waiting
    const found = await Promise.all([
      store.waitingSessions(MOST_COUNTED),
      store.openTasks(workspaceId),
      store.dueTimers(clock.now() - LATE_MS, MOST_COUNTED),
    ]).catch((error: unknown) => {
      if (!isStoreAway(error)) log.write('warn', 'what waits could not be counted', { detail: detailOf(error) })
      return undefined
    })
    const now = clock.monotonic()
    if (!found) return void (seen = undefined)
    const [sessions, tasks, timers] = found
    const waiting = sessions.map(
      ({ sessionId, overForMs }) => [sessionId, Math.min(now - overForMs, before?.get(sessionId) ?? now)] as const,
    )
    seen = { waiting: new Map(waiting), tasks, lateTimers: timers.length }
  }

  function ofStore(): readonly MetricFamily[] {
    if (!seen) return []
    const { waiting, tasks, lateTimers } = seen
    const since = Math.min(...waiting.values())
    const delaySeconds = waiting.size === 0 ? 0 : (clock.monotonic() - since) / 1000
    const now = clock.now()
    return [
      gaugeOf(
        'svc_ready_sessions',
        `Sessions with work that no server holds, counted to ${MOST_COUNTED}.`,
        waiting.size,
      ),
      gaugeOf('svc_claim_delay_seconds', 'How long the first of them has waited, seen every 5 s.', delaySeconds),
      valuesOf(
        'svc_tasks_open',
        'gauge',
        'Tasks that wait for people.',
        KINDS.map((kind) => [{ kind }, tasks.find((each) => each.kind === kind)?.count ?? 0]),
      ),
      valuesOf(
        'svc_task_oldest_seconds',
        'gauge',
        'How long the oldest of them has waited.',
        KINDS.map((kind) => [
          { kind },
          Math.max(0, now - (tasks.find((each) => each.kind === kind)?.oldest ?? now)) / 1000,
        ]),
      ),
      gaugeOf(
        'svc_timers_late',
        `Timers that are due for more than 5 s and have not fired, counted to ${MOST_COUNTED}.`,
        lateTimers,
      ),
    ]
  }

  function ofProcess(): readonly MetricFamily[] {
    const { user, system } = process.cpuUsage()
    return [
      gaugeOf('svc_leases_held', 'Sessions with work that this server holds.', leasesHeld()),
      gaugeOf(
        'svc_event_loop_lag_seconds',
        'How late timers of this server were in the last second, on average.',
        Math.round(lag.meanMs()) / 1000,
      ),
      valuesOf('svc_build_info', 'gauge', 'The version that runs.', [[{ version, node: process.version }, 1]]),
      gaugeOf('process_start_time_seconds', 'Start of the server, in seconds since 1970.', startedAt),
      gaugeOf('process_resident_memory_bytes', 'Memory of the process.', process.memoryUsage.rss()),
      valuesOf('process_cpu_seconds_total', 'counter', 'Processor time of the process.', [[{}, (user + system) / 1e6]]),
    ]
  }

  const collect = (): readonly MetricFamily[] => [...ofStore(), ...ofProcess(), ...registry.collect()]

  const timer = setInterval(() => void look(), LOOK_EVERY_MS).unref()
  void look()
  return {
    look,
    collect,
    text: () => printMetrics(collect()),
    close: () => clearInterval(timer),
  }
}
