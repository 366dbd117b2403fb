/** What the environment says of a server that shares its store. Source: docs/design/several-processes.md#life-of-a-process */
import { expect, test } from 'vitest'
import { isFailure } from '../../src/base/failure.ts'
import { drainTime, maxClaimedSessions, sharedLeaseTimes } from '../../src/server/runtime/cluster-settings.ts'

test('what is not set has a default', () => {
  expect(sharedLeaseTimes({ SVC_LEASE_TTL: '' })).toEqual({ ttlMs: 15_000, marginMs: 3000, claimEveryMs: 1000 })
  expect(maxClaimedSessions({})).toBe(5000)
  expect([drainTime({}, true), drainTime({}, false)]).toEqual([25_000, 5000])
})

test('what is set counts', () => {
  expect(sharedLeaseTimes({ SVC_LEASE_TTL: '5s' })).toEqual({ ttlMs: 5000, marginMs: 1000, claimEveryMs: 1000 })
  expect(maxClaimedSessions({ SVC_MAX_SESSIONS: '20' })).toBe(20)
  expect([drainTime({ SVC_DRAIN: '0s' }, true), drainTime({ SVC_DRAIN: '1m30s' }, false)]).toEqual([0, 90_000])
})

test.each([
  [
    () => sharedLeaseTimes({ SVC_LEASE_TTL: '4s' }),
    'SVC_LEASE_TTL is 4s. It must be a duration from 5s to 300s, such as 15s.',
  ],
  [
    () => maxClaimedSessions({ SVC_MAX_SESSIONS: '0' }),
    'SVC_MAX_SESSIONS is 0. It must be a number from 1 to 1000000, such as 5000.',
  ],
  [
    () => maxClaimedSessions({ SVC_MAX_SESSIONS: 'many' }),
    'SVC_MAX_SESSIONS is many. It must be a number from 1 to 1000000, such as 5000.',
  ],
  [() => drainTime({ SVC_DRAIN: '25' }, true), 'SVC_DRAIN is 25. It must be a duration from 0s to 600s, such as 25s.'],
  [() => drainTime({ SVC_DRAIN: '1h' }, true), 'SVC_DRAIN is 1h. It must be a duration from 0s to 600s, such as 25s.'],
])('what cannot be is refused by name %#', (read, sentence) => {
  let thrown: unknown
  try {
    read()
  } catch (error) {
    thrown = error
  }
  expect(isFailure(thrown, 'config_invalid')).toBe(true)
  expect((thrown as Error).message).toContain(sentence)
})
