/** Streams whose reader's rights were taken away at another process end at the next look, however soon after their opening that was. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import type { Trigger } from '../../src/spec/people/key.ts'
import type { Store } from '../../src/store/store.ts'
import { grantsOfCaller, grantsOfOperator } from '../../src/server/auth/reader-grants.ts'
import { createStreamReaders } from '../../src/server/runtime/readers.ts'
import { watchReaderRights } from '../../src/server/runtime/watch-readers.ts'
import { WORKSPACE } from '../engine/bench.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const trigger = { id: 't1', active: true, exposeTimeline: true, allowIps: [] } as unknown as Trigger
const stored = {
  triggers: [trigger],
  keys: [{ id: 'k1', triggerId: 't1', revokedAt: null as number | null }],
  operatorKeys: [
    { id: 'o1', email: 'ben', revokedAt: null as number | null },
    { id: 'o2', email: 'ben', revokedAt: 1 },
  ],
  consoleSessions: [{ id: 'c1', endedAt: null as number | null }],
}
const ofKey = grantsOfCaller({ principal: { type: 'api_key', id: 'k1' }, trigger } as never)
const ofCredential = grantsOfOperator({ keyId: 'o1' as never })
const ofBrowser = grantsOfOperator({ keyId: 'o1' as never, consoleSession: 'c1' as never })
const ofLocal = grantsOfOperator({})

test.each([
  ['of a key stays while its trigger is what it was', ofKey, {}, false],
  ['of a key ends when its trigger changed', ofKey, { triggers: [{ ...trigger, exposeTimeline: false }] }, true],
  ['of a key ends when it was revoked', ofKey, { keys: [{ ...stored.keys[0], revokedAt: 2 }] }, true],
  ['of a credential stays, whatever became of others of that person', ofCredential, {}, false],
  ['of a credential ends when it was revoked', ofCredential, { operatorKeys: [] }, true],
  ['of a browser stays while both are good', ofBrowser, {}, false],
  ['of a browser ends when its session ended', ofBrowser, { consoleSessions: [{ id: 'c1', endedAt: 2 }] }, true],
  [
    'of a browser ends with the credential that signed in',
    ofBrowser,
    { operatorKeys: stored.operatorKeys.slice(1) },
    true,
  ],
  ['of the local channel stays', ofLocal, { keys: [], operatorKeys: [], consoleSessions: [] }, false],
])('between its opening and the first look: a stream %s', async (_, grants, changed, ends) => {
  const now = { ...stored, ...changed }
  const readers = createStreamReaders()
  let ended = false
  const remove = readers.add(grants, () => void (ended = true))
  const store = Object.fromEntries(Object.entries(now).map(([name, rows]) => [name, () => Promise.resolve(rows)]))
  const end = watchReaderRights({ store: store as unknown as Store, workspaceId: WORKSPACE, readers, log: silentLog })
  await vi.advanceTimersByTimeAsync(3000)
  expect(ended).toBe(ends)
  remove()
  expect(readers.owners()).toEqual([])
  end()
})
