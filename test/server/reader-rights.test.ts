/** Streams whose reader's rights changed at another process end at the next look, however soon after their opening that was. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import type { Trigger } from '../../src/spec/key.ts'
import type { Store } from '../../src/store/store.ts'
import { createStreamReaders } from '../../src/server/runtime/readers.ts'
import { rightsOf, watchReaderRights } from '../../src/server/runtime/watch-readers.ts'
import { WORKSPACE } from '../engine/bench.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const opened = { id: 't1', active: true, exposeTimeline: true, allowIps: [] } as unknown as Trigger
const narrowed: Trigger = { ...opened, exposeTimeline: false }

test.each([
  ['stays open while its trigger is what it was', opened, false],
  ['ends when its trigger changed between its opening and the first look', narrowed, true],
])('a stream %s', async (_, stored, ends) => {
  const readers = createStreamReaders()
  let ended = false
  const remove = readers.add('k1', () => void (ended = true), rightsOf(opened))
  const store = {
    triggers: () => Promise.resolve([stored]),
    keys: () => Promise.resolve([{ id: 'k1', triggerId: 't1', revokedAt: null }]),
  } as unknown as Store
  const end = watchReaderRights({ store, workspaceId: WORKSPACE, readers, log: silentLog })
  await vi.advanceTimersByTimeAsync(3000)
  expect(ended).toBe(ends)
  remove()
  end()
})
