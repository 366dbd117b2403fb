/** What becomes of leases when their process ends. Source: docs/design/several-processes.md#life-of-a-process */
import { expect, test } from 'vitest'
import { ownStoreClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import type { SessionId } from '../../src/base/ids.ts'
import { createLeases } from '../../src/engine/drive/leases.ts'
import type { SessionLease } from '../../src/store/lease.ts'
import type { Store } from '../../src/store/store.ts'

const lease = (name: string): SessionLease => ({ sessionId: name as SessionId, epoch: 1 })

test('what a claim under way still gets is given back, with others in one statement, and not worked on', async () => {
  let answer: (claimed: readonly SessionLease[]) => void = () => {}
  const released: string[][] = []
  const claimed: string[] = []
  const store = {
    claim: () => new Promise<readonly SessionLease[]>((resolve) => (answer = resolve)),
    claimOne: async (_: string, id: SessionId) => lease(id),
    release: async (_: string, given: readonly SessionLease[]) =>
      void released.push(given.map((each) => each.sessionId)),
  } as unknown as Store
  const clock = ownStoreClock({ now: () => 0, monotonic: () => 0 })
  const leases = createLeases(
    { store, clock, log: silentLog, worker: 'ann' },
    { claimed: (id) => void claimed.push(id), changed: () => {} },
  )
  expect(await leases.claimOne('held' as SessionId)).toBe(true)
  expect(await leases.claimOne('calling' as SessionId)).toBe(true)
  const claiming = leases.claimAll()
  leases.claimNoMore()
  leases.giveBack('held' as SessionId)
  answer([lease('late'), lease('later')])
  expect(await claiming).toBe(2)
  expect(await leases.claimOne('latest' as SessionId)).toBe(false)
  expect(leases.all()).toEqual(['calling'])
  await leases.close((id) => id === 'calling')
  expect([claimed, released.flat()]).toEqual([[], ['held', 'late', 'later', 'latest']])
  expect(released.length).toBeLessThan(4)
})
