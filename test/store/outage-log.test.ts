/** What an operator is told of a database that cannot be used. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fail } from '../../src/base/failure.ts'
import { toStoreFailure } from '../../src/store/postgres/database/errors.ts'
import { createOutageLog } from '../../src/store/outage-log.ts'

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

test('of a disk that is full an operator is told in the words of the database', () => {
  const told: object[] = []
  const outages = createOutageLog({ write: (_, __, about) => void told.push({ ...about }) })
  outages.answered()
  const cause = new Error('could not extend file "base/5/1": No space left on device')
  outages.failed(fail('storage_full', undefined, { cause }))
  expect(told).toEqual([{ code: 'storage_full', detail: cause.message }])
})

test.each([
  ['53100', 'could not extend file "base/5/1": No space left on device', 'storage_full'],
  ['XX000', 'could not write init file', 'storage_full'],
  ['53300', 'sorry, too many clients already', 'store_busy'],
  ['57P03', 'the database system is starting up', 'store_unreachable'],
  ['3D000', 'database "nodb" does not exist', 'store_unreachable'],
  ['42501', 'permission denied for table run', 'store_rights_missing'],
])('%s "%s" is %s', (code, message, expected) => {
  const error = Object.assign(new Error(message), { code, severity: 'ERROR' })
  expect(toStoreFailure(error, 'db/svc')).toMatchObject({ code: expected })
})

test('a fault of the server that nobody can foresee stays one', () => {
  const error = Object.assign(new Error('cache lookup failed'), { code: 'XX000', severity: 'ERROR' })
  expect(toStoreFailure(error, 'db/svc')).toBe(error)
})
