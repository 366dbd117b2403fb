import { expect, test } from 'vitest'
import { describePolicyEntry, describePolicyChange } from '../../src/authority/words.ts'

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
  expect(describePolicyChange(from, to)).toBe(said)
})

test('the text has all obligations of an approval and the if_missing of a comparison', () => {
  expect(
    describePolicyEntry({
      id: 'sha256:0',
      policy: 'acme.limit',
      version: '1.0.0',
      effect: 'require_approval',
      when: {
        all: [
          { field: 'args.amount', op: 'gt', value: 5, if_missing: false },
          { not: { field: 'args.to', value: 'me', if_missing: true } },
        ],
      },
      obligations: { approvals_required: 2, separation_of_duties: true, on_reject: 'fail', on_modify: 'accept' },
      origin: [],
    }),
  ).toBe(
    'acme.limit: require approval when args.amount > 5 (if present) and not (args.to == "me" (or absent)) (2 approvals, separation of duties, a rejection fails the run, accept edits)',
  )
})
