/** How long sessions wait for a server, as an autoscaler is told. Source: docs/design/several-processes.md#turns */
import { expect, test } from 'vitest'
import { fail } from '../../src/base/failure.ts'
import type { SessionId, WorkspaceId } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import type { WaitingSession } from '../../src/store/lease.ts'
import { createLoadMetrics } from '../../src/server/runtime/load-metrics.ts'

const ofServer = `\
# HELP svc_leases_held Sessions with work that this server holds.
# TYPE svc_leases_held gauge
svc_leases_held 7
# HELP svc_event_loop_lag_seconds How late timers of this server were in the last second, on average.
# TYPE svc_event_loop_lag_seconds gauge
svc_event_loop_lag_seconds 0.012
# HELP svc_build_info The version that runs.
# TYPE svc_build_info gauge
svc_build_info{version="1.2.3",node="${process.version}"} 1
# HELP process_start_time_seconds Start of the server, in seconds since 1970.
# TYPE process_start_time_seconds gauge
process_start_time_seconds 1000
# HELP process_resident_memory_bytes Memory of the process.
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes N
# HELP process_cpu_seconds_total Processor time of the process.
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total N
# HELP svc_counted_total Counted.
# TYPE svc_counted_total counter
svc_counted_total 3
`
const KINDS = ['approval', 'multi_option', 'text', 'number', 'escalation', 'aitl_escalation', 'anomaly_review']
const byKind = (name: string, approvals: number): string =>
  KINDS.map((kind) => `${name}{kind="${kind}"} ${kind === 'approval' ? approvals : 0}\n`).join('')
const told = (ready: number, seconds: number): string => `\
# HELP svc_ready_sessions Sessions with work that no server holds, counted to 1000.
# TYPE svc_ready_sessions gauge
svc_ready_sessions ${ready}
# HELP svc_claim_delay_seconds How long the first of them has waited, seen every 5 s.
# TYPE svc_claim_delay_seconds gauge
svc_claim_delay_seconds ${seconds}
# HELP svc_tasks_open Tasks that wait for people.
# TYPE svc_tasks_open gauge
${byKind('svc_tasks_open', 3)}\
# HELP svc_task_oldest_seconds How long the oldest of them has waited.
# TYPE svc_task_oldest_seconds gauge
${byKind('svc_task_oldest_seconds', 60)}\
# HELP svc_timers_late Timers that are due for more than 5 s and have not fired, counted to 1000.
# TYPE svc_timers_late gauge
svc_timers_late 2
${ofServer}`

test('the longest wait grows while a session is not taken, and nothing is told of the store while it is away', async () => {
  let now = 50_000
  let answer: () => Promise<readonly WaitingSession[]> = async () => []
  const NOW = 1_000_000
  const asked: unknown[] = []
  const metrics = createLoadMetrics({
    store: {
      waitingSessions: () => answer(),
      openTasks: async () => [{ kind: 'approval', count: 3, oldest: NOW - 60_000 }],
      dueTimers: async (...given) => {
        asked.push(given)
        return [{}, {}] as never
      },
    },
    clock: { now: () => NOW, monotonic: () => now },
    log: silentLog,
    leasesHeld: () => 7,
    lag: { meanMs: () => 12.3 },
    workspaceId: 'w' as WorkspaceId,
    version: '1.2.3',
    registry: {
      collect: () => [
        { name: 'svc_counted_total', kind: 'counter', help: 'Counted.', samples: [{ labels: {}, value: 3 }] },
      ],
    },
  })
  /** Without what the process of the test takes. */
  const read = (): string => metrics.text().replace(/^(process_(?:resident|cpu)\S+) \S+$/gm, '$1 N')
  const look = async (...rows: readonly (readonly [string, number])[]): Promise<string> => {
    answer = async () => rows.map(([sessionId, overForMs]) => ({ sessionId: sessionId as SessionId, overForMs }))
    await metrics.look()
    return read()
  }
  expect(await look()).toBe(told(0, 0))
  expect(asked.at(-1)).toEqual([NOW - 5000, 1000])
  expect(await look(['a', 0])).toBe(told(1, 0))
  now += 5000
  expect(await look(['a', 0], ['b', 2000])).toBe(told(2, 5))
  now += 1000
  // Whoever asks is answered from memory.
  expect(read()).toBe(told(2, 6))
  expect(await look(['b', 3000])).toBe(told(1, 3))
  answer = () => Promise.reject(fail('store_unreachable', { database: 'db', why: 'gone' }))
  await metrics.look()
  expect(read()).toBe(ofServer)
  expect(await look(['b', 9000])).toBe(told(1, 9))
  metrics.close()
})
