import { join } from 'node:path'
import type { TestCase, TestModule } from 'vitest/node'
import { expect, test } from 'vitest'
import { summarize } from './summary.ts'

const module = (state: string, tests: readonly unknown[] = []): TestModule => {
  const made = {
    state: () => state,
    moduleId: join(process.cwd(), 'test/a.test.ts'),
    children: {
      allTests: (state?: string) =>
        (tests as TestCase[]).filter((each) => state === undefined || each.result().state === state),
    },
  }
  for (const each of tests) Object.assign(each as object, { module: made })
  return made as unknown as TestModule
}
const result = (name: string, state: string, retryCount = 0, messages: readonly string[] = [], note?: string) =>
  ({
    name,
    fullName: name,
    parent: { type: 'module' },
    result: () => ({ state, errors: messages.map((message) => ({ message })), note }),
    diagnostic: () => ({ retryCount, flaky: state === 'passed' && retryCount > 0 }),
  }) as unknown as TestCase

test('names what was skipped, failed, or passed at a second try, and counts last', () => {
  const tests = [
    result('is quick', 'passed', 1, ['expected 900 to be less than 500\n\n+ 900']),
    result('is right', 'passed'),
    result('is wrong', 'failed', 1, ['no', 'no']),
    result('needs a browser', 'skipped'),
  ]
  expect(summarize([module('failed', tests)], [])).toEqual([
    'Skipped in test/a.test.ts: needs a browser (1)',
    'Passed at try 2: test/a.test.ts > is quick (expected 900 to be less than 500)',
    'Failed: test/a.test.ts > is wrong (no; no)',
    '2 passed, 1 failed, 1 skipped',
  ])
})

test('says why a file was skipped, where its tests share the reason', () => {
  const tests = [result('one', 'skipped', 0, [], 'no time left'), result('other', 'skipped', 0, [], 'no time left')]
  expect(summarize([module('passed', tests)], [])).toEqual([
    'Skipped in test/a.test.ts: no time left (2)',
    '0 passed, 0 failed, 2 skipped',
  ])
})

test('counts a file that fails outside its tests, and an error outside all files', () => {
  const modules = [module('failed', [result('is right', 'passed')]), module('passed', [result('is right', 'passed')])]
  expect(summarize(modules, [])).toEqual(['2 passed, 1 failed'])
  expect(summarize(modules, [new Error('unhandled')])).toEqual(['2 passed, 2 failed'])
})

test('counts a file that has not ended as failed, and names where it is', () => {
  const running = module('pending', [
    result('is right', 'passed'),
    result('waits', 'pending'),
    result('is next', 'pending'),
  ])
  expect(summarize([running, module('queued')], [])).toEqual([
    'Not ended: test/a.test.ts > waits',
    'Not ended: test/a.test.ts',
    '1 passed, 2 failed',
  ])
})
