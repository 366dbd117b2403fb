import { expect, test } from 'vitest'
import { parseDuration } from '../../src/base/duration.ts'

test.each<[string, number | undefined]>([
  ['250ms', 250],
  ['30s', 30_000],
  ['1.5h', 5_400_000],
  ['1h30m', 5_400_000],
  ['2d', 172_800_000],
  ['0s', 0],
  ['30', undefined],
  ['', undefined],
  ['-1s', undefined],
  ['1 s', undefined],
  ['1w', undefined],
  ['s', undefined],
])('%s is %s milliseconds', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds)
})
