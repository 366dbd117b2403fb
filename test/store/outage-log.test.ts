/** What an operator is told of a database that cannot be used. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fail } from '../../src/base/failure.ts'
import { createOutageLog } from '../../src/store/postgres/database/outage-log.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const away = fail('store_unreachable', { database: 'db/svc', why: 'connect ECONNREFUSED' })

test('an outage is told once when it begins and once when it has been over for 5 s', () => {
  const told: object[] = []
  const outages = createOutageLog({ write: (level, message, about) => void told.push({ level, message, ...about }) })
  // Whoever opens the store gets this one.
  outages.failed(away)
  outages.answered()
  outages.failed(fail('not_found', { what: 'run' }))
  expect(told).toEqual([])
  for (let second = 0; second < 30; second++) {
    outages.failed(away)
    vi.advanceTimersByTime(1000)
    // One connection of many is enough for this one.
    outages.answered()
  }
  const began = {
    level: 'warn',
    message: 'the database cannot be used now',
    code: 'store_unreachable',
    detail: 'The database db/svc cannot be used now: connect ECONNREFUSED.',
  }
  expect(told).toEqual([began])
  vi.advanceTimersByTime(4000)
  outages.answered()
  outages.answered()
  expect(told).toEqual([began, { level: 'info', message: 'the database can be used again', refused: 30 }])
  outages.failed(away)
  expect(told).toHaveLength(3)
})
