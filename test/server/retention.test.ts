/** What the configuration keeps no longer. Source: docs/design/several-processes.md#retention-and-erasure */
import { expect, test } from 'vitest'
import { workspaceIdOf } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import { createRedactor } from '../../src/base/secret.ts'
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
  const workspace = { id: workspaceIdOf('acme'), name: 'acme' }
  return { store, services: { store, clock: store.clock, workspace, redactor: createRedactor() } }
}

test('days and years are counted, a year with its leap day', () => {
  expect([retentionMs('180d'), retentionMs('10y')]).toEqual([180 * DAY, 3660 * DAY])
})

test('deletes what ended longer ago, and nothing that still works', async () => {
  const { store, services } = await open(NOW + 31 * DAY)
  expect(await applyRetention(services, { runs: '30d' }, never)).toBe(1)
  expect(await store.session(sessionId('old'))).toBeUndefined()
  expect(await store.session(sessionId('young'))).toBeDefined()
  expect(await store.session(sessionId('working'))).toBeDefined()
  const { items } = await store.acts({ workspaceId: services.workspace.id }, { skip: 0, take: 9 })
  expect(items.map(({ by, kind, subject }) => [by, kind, subject])).toEqual([
    ['server:', 'sessions.deleted', '1 sessions that retention no longer keeps'],
  ])
})

test('without a retention everything is kept', async () => {
  const { store, services } = await open(NOW + 9999 * DAY)
  expect(await applyRetention(services, {}, never)).toBe(0)
  expect(await retentionJob({ ...services, config: {}, log: silentLog }).run(never)).toBeUndefined()
  expect(await store.session(sessionId('old'))).toBeDefined()
})
