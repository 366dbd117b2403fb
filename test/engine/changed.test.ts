import { expect, test } from 'vitest'
import { changedRun, changedSession, changedUsage } from '../../src/engine/session/changed.ts'
import type { RunUsage } from '../../src/spec/run.ts'
import { aRun, aSession } from '../store/makers.ts'

const usage: Required<RunUsage> = {
  inputTokens: 1,
  outputTokens: 2,
  iterations: 3,
  waitedMs: 4,
  waitingSince: 5,
  heldMs: 6,
  onLimit: true,
  grants: { max_tokens_per_run: 7 },
  outputAttempts: 8,
  tainted: true,
  refusals: { 'sha256:9': 9 },
}

test('what is not changed of a run, its usage or its session stays as it is', () => {
  const session = aSession('a')
  const run = aRun(session, { usage })
  expect(changedUsage(usage, {})).toStrictEqual(usage)
  expect(changedRun(run, {})).toStrictEqual(run)
  expect(changedSession(session, {})).toStrictEqual(session)
})

test('what is changed is changed alone, also to nothing', () => {
  const session = { ...aSession('a'), output: 'Done.' }
  const run = aRun(session, { error: 'No.' })
  expect(changedUsage(usage, { inputTokens: 0, tainted: false })).toStrictEqual({
    ...usage,
    inputTokens: 0,
    tainted: false,
  })
  expect(changedRun(run, { status: 'Failed', error: null })).toStrictEqual({ ...run, status: 'Failed', error: null })
  expect(changedSession(session, { version: 2, output: null })).toStrictEqual({ ...session, version: 2, output: null })
})
