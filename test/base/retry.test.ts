import { expect, test } from 'vitest'
import { backoffMs, retryAfterMs } from '../../src/base/retry.ts'

test.each([
  [2, 0, undefined, 500],
  [3, 0, undefined, 1000],
  [9, 0, undefined, 8000],
  [2, 1, undefined, 375],
  [2, 0.5, 30_000, 30_000],
])(
  'before attempt %i with randomness %f and the server asking for %s ms: %i ms',
  (attempt, random, asked, expected) => {
    expect(backoffMs(attempt, random, asked)).toBe(expected)
  },
)

test.each([
  ['2', 2000],
  ['Sat, 21 Nov 2026 00:00:10 GMT', 10_000],
  ['20s', 20_000],
  ['3, 5', 3000],
  ['-3', 0],
  ['2026-12-01', undefined],
  ['soon', undefined],
  [null, undefined],
])('Retry-After %s is %s ms', (header, expected) => {
  expect(retryAfterMs(header, Date.parse('2026-11-21T00:00:00Z'))).toBe(expected)
})
