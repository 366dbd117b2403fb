/** How many sessions a process takes over from others. Source: docs/design/several-processes.md#life-of-a-process */
import { expect, test } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { createLeases } from '../../src/engine/drive/leases.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { NO_LIMITS, aStart } from '../store/makers.ts'
import { createManualClock } from './bench.ts'

test('a process takes free sessions up to its bound, and more when it has given some back', async () => {
  const clock = createManualClock()
  const store = openSqlite(':memory:', { clock })
  for (let n = 0; n < 130; n++) await store.start(aStart(`s${n}`), NO_LIMITS)
  const open = (worker: string, maxClaimed?: number) =>
    createLeases(
      { store, clock, log: silentLog, worker, ...(maxClaimed !== undefined && { maxClaimed }) },
      { claimed: () => {}, changed: () => {} },
    )
  const bounded = open('ann', 10)
  expect(await bounded.claimAll()).toBe(10)
  expect([bounded.hasRoom(), await bounded.claimAll()]).toEqual([false, 0])
  for (const id of bounded.all().slice(0, 4)) bounded.giveBack(id)
  expect(bounded.hasRoom()).toBe(true)
  expect(await bounded.claimAll()).toBe(4)

  const unbounded = open('bob')
  expect(await unbounded.claimAll()).toBe(120)
  for (const leases of [bounded, unbounded]) await leases.close(() => false)
  await store.close()
})

test('a process that lags leaves free sessions to others, but for one in ten seconds', async () => {
  const clock = createManualClock()
  const store = openSqlite(':memory:', { clock })
  for (let n = 0; n < 9; n++) await store.start(aStart(`s${n}`), NO_LIMITS)
  let isBehind = true
  const leases = createLeases(
    { store, clock, log: silentLog, worker: 'ann', isBehind: () => isBehind },
    { claimed: () => {}, changed: () => {} },
  )
  expect([await leases.claimAll(), await leases.claimAll(), leases.hasRoom()]).toEqual([1, 0, false])
  clock.set(clock.now() + 9999)
  expect(await leases.claimAll()).toBe(0)
  clock.set(clock.now() + 1)
  expect([await leases.claimAll(), await leases.claimAll()]).toEqual([1, 0])
  isBehind = false
  expect(await leases.claimAll()).toBe(7)
  await leases.close(() => false)
  await store.close()
})
