import { expect, test } from 'vitest'
import { createMetricRegistry, printMetrics } from '../../../src/server/metrics/registry.ts'

test('counts by labels, and writes nothing of what was never counted', () => {
  const registry = createMetricRegistry()
  const ends = registry.counter('svc_ends_total', 'Ends.', ['agent', 'status'])
  registry.counter('svc_never_total', 'Never.', [])
  ends.add({ agent: 'a', status: 'failed' })
  ends.add({ agent: 'a', status: 'failed' }, 2)
  ends.add({ agent: 'b', status: 'completed' }, 0)
  ends.add({ agent: 'b', status: 'completed' }, 0.5)
  expect(printMetrics(registry.collect())).toBe(`\
# HELP svc_ends_total Ends.
# TYPE svc_ends_total counter
svc_ends_total{agent="a",status="failed"} 3
svc_ends_total{agent="b",status="completed"} 0.5
`)
})

test('a histogram counts what is at most as long as each bucket, and a clock that was set back as nothing', () => {
  const registry = createMetricRegistry()
  const waits = registry.histogram('svc_wait_seconds', 'Waits.', [])
  for (const seconds of [0.1, 7, 400, -3]) waits.observe({}, seconds)
  expect(printMetrics(registry.collect())).toBe(`\
# HELP svc_wait_seconds Waits.
# TYPE svc_wait_seconds histogram
svc_wait_seconds_bucket{le="0.005"} 1
svc_wait_seconds_bucket{le="0.025"} 1
svc_wait_seconds_bucket{le="0.1"} 2
svc_wait_seconds_bucket{le="0.25"} 2
svc_wait_seconds_bucket{le="0.5"} 2
svc_wait_seconds_bucket{le="1"} 2
svc_wait_seconds_bucket{le="2.5"} 2
svc_wait_seconds_bucket{le="5"} 2
svc_wait_seconds_bucket{le="10"} 3
svc_wait_seconds_bucket{le="30"} 3
svc_wait_seconds_bucket{le="60"} 3
svc_wait_seconds_bucket{le="300"} 3
svc_wait_seconds_bucket{le="+Inf"} 4
svc_wait_seconds_sum 407.1
svc_wait_seconds_count 4
`)
})

test('names of others cannot make it grow: they are cut, and the 501st and later are counted together', () => {
  const registry = createMetricRegistry()
  const calls = registry.counter('svc_calls_total', 'Calls.', ['ref'])
  for (let at = 0; at < 10_000; at++) calls.add({ ref: `${at}${'x'.repeat(10_000)}` })
  const lines = printMetrics(registry.collect()).trimEnd().split('\n').slice(2)
  expect(lines.length).toBe(501)
  expect(lines.at(-1)).toBe('svc_calls_total{ref="other"} 9500')
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(250)
})
