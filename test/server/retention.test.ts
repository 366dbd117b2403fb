/** What the configuration keeps no longer. Source: docs/design/several-processes.md#retention-and-erasure */
import { expect, test } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { applyRetention, retentionJob, retentionMs } from '../../src/server/runtime/upkeep/retention.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { aStart, NOW, NO_LIMITS, sessionId } from '../store/makers.ts'

const DAY = 24 * 3_600_000
const never = new AbortController().signal

const open = async (now: number) => {
  const clock = { now: () => now, monotonic: () => now }
  const store = openSqlite(':memory:', { clock })
  const ended = { status: 'Completed', output: 'x' } as const
  await store.start(aStart('old', { ...ended, finishedAt: NOW + 1 }, { busy: false }), NO_LIMITS)
  await store.start(aStart('young', { ...ended, finishedAt: NOW + 20 * DAY }, { busy: false }), NO_LIMITS)
  await store.start(aStart('working'), NO_LIMITS)
  return { store, clock }
}

test('days and years are counted, a year with its leap day', () => {
  expect([retentionMs('180d'), retentionMs('10y')]).toEqual([180 * DAY, 3660 * DAY])
})

test('deletes what ended longer ago, and nothing that still works', async () => {
  const { store, clock } = await open(NOW + 31 * DAY)
  expect(await applyRetention(store, { runs: '30d' }, clock, never)).toBe(1)
  expect(await store.session(sessionId('old'))).toBeUndefined()
  expect(await store.session(sessionId('young'))).toBeDefined()
  expect(await store.session(sessionId('working'))).toBeDefined()
})

test('without a retention everything is kept', async () => {
  const { store, clock } = await open(NOW + 9999 * DAY)
  expect(await applyRetention(store, {}, clock, never)).toBe(0)
  expect(await retentionJob(store, undefined, clock, silentLog).run(never)).toBeUndefined()
  expect(await store.session(sessionId('old'))).toBeDefined()
})
