import { expect, test } from 'vitest'
import { sayTransition } from '../../../src/compile/diff/words.ts'

test.each([
  [
    'acme.limit: deny when args.amount > 100',
    'acme.limit: deny when args.amount > 250',
    'acme.limit: deny when args.amount > 100 → 250',
  ],
  ['acme.limit: deny when a > 1 (x)', 'acme.limit: deny when b > 1 (x)', 'acme.limit: deny when a → b > 1 (x)'],
  ['acme.limit: deny', 'acme.limit: escalate', 'acme.limit: deny → escalate'],
  ['acme.limit: deny', 'no policy', 'acme.limit: deny → no policy'],
  ['acme.limit: deny', 'acme.limit: deny when a > 1', 'acme.limit: deny → acme.limit: deny when a > 1'],
  [
    'acme.limit: deny when a > 1',
    'acme.limit: allow only EUR as currency',
    'acme.limit: deny when a > 1 → acme.limit: allow only EUR as currency',
  ],
])('%s, then %s', (from, to, said) => {
  expect(sayTransition(from, to)).toBe(said)
})
