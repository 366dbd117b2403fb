import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SLOW_TESTS, isSlowTest } from './slow.ts'

test('every slow test exists', () => {
  expect(SLOW_TESTS.filter((path) => !existsSync(path))).toEqual([])
})

test('a file is slow that the list names, or that stands in a folder of it', () => {
  expect(
    ['test/torture/torture.test.ts', 'test/e2e/handover.test.ts', 'test/e2e/kill.test.ts'].map(isSlowTest),
  ).toEqual([true, true, false])
})
