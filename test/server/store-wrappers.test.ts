/** Wrappers of the store hand on every argument and every answer: a lost one would cost a lease. */
import { expect, test } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { withRunLog } from '../../src/server/log/run-log.ts'
import { withTraceMarks } from '../../src/server/telemetry/export-traces.ts'
import type { Store } from '../../src/store/store.ts'
import { aSession, aStart, anUpdate, NO_LIMITS } from '../store/makers.ts'

test.each<[string, (store: Store) => Store]>([
  ['withRunLog', (store) => withRunLog(store, silentLog)],
  ['withTraceMarks', withTraceMarks],
])('%s', async (_, wrap) => {
  const seen: unknown[][] = []
  const answers = { start: { outcome: 'started' }, save: { sessionId: aSession('a').id, epoch: 3 } }
  const bare = {
    start: (...given: unknown[]) => (seen.push(given), Promise.resolve(answers.start)),
    save: (...given: unknown[]) => (seen.push(given), Promise.resolve(answers.save)),
  } as unknown as Store
  const store = wrap(bare)
  const holder = { worker: 'ann', ttlMs: 1, epoch: 3 }
  const start = [aStart('a'), NO_LIMITS, undefined, holder] as const
  const save = [anUpdate(aSession('a')), holder] as const
  expect(await store.start(...start)).toBe(answers.start)
  expect(await store.save(...save)).toBe(answers.save)
  expect(seen).toEqual([[...start], [...save]])
})
