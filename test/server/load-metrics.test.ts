/** How long sessions wait for a server, as an autoscaler is told. Source: docs/design/several-processes.md#turns */
import { expect, test } from 'vitest'
import { fail } from '../../src/base/failure.ts'
import type { SessionId } from '../../src/base/ids.ts'
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
`
const told = (ready: number, seconds: number): string => `\
# HELP svc_ready_sessions Sessions with work that no server holds, counted to 1000.
# TYPE svc_ready_sessions gauge
svc_ready_sessions ${ready}
# HELP svc_claim_delay_seconds How long the first of them has waited, seen every 5 s.
# TYPE svc_claim_delay_seconds gauge
svc_claim_delay_seconds ${seconds}
${ofServer}`

test('the longest wait grows while a session is not taken, and nothing is told of the store while it is away', async () => {
  let now = 50_000
  let answer: () => Promise<readonly WaitingSession[]> = async () => []
  const metrics = createLoadMetrics({
    store: { waitingSessions: () => answer() },
    clock: { now: () => 0, monotonic: () => now },
    log: silentLog,
    leasesHeld: () => 7,
    lag: { meanMs: () => 12.3 },
  })
  const look = async (...rows: readonly (readonly [string, number])[]): Promise<string> => {
    answer = async () => rows.map(([sessionId, overForMs]) => ({ sessionId: sessionId as SessionId, overForMs }))
    await metrics.look()
    return metrics.text()
  }
  expect(await look()).toBe(told(0, 0))
  expect(await look(['a', 0])).toBe(told(1, 0))
  now += 5000
  expect(await look(['a', 0], ['b', 2000])).toBe(told(2, 5))
  now += 1000
  // Whoever asks is answered from memory.
  expect(metrics.text()).toBe(told(2, 6))
  expect(await look(['b', 3000])).toBe(told(1, 3))
  answer = () => Promise.reject(fail('store_unreachable', { database: 'db', why: 'gone' }))
  await metrics.look()
  expect(metrics.text()).toBe(ofServer)
  expect(await look(['b', 9000])).toBe(told(1, 9))
  metrics.close()
})
