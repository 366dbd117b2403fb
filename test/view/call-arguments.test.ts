import { expect, test } from 'vitest'
import { splitComparisons, weighArguments } from '../../src/view/task/call-arguments.ts'

test.each([
  ['args.amount > 100 (180)', [{ argument: 'amount', text: 'args.amount > 100' }]],
  [
    '(args.amount > 100 (180) or args.to in ["a","b"] ("c")) and tool.kind == "tool" ("tool")',
    [
      { argument: 'amount', text: 'args.amount > 100' },
      { argument: 'to', text: 'args.to in ["a","b"]' },
    ],
  ],
  ['args.amount > 100 (or absent) (180)', [{ argument: 'amount', text: 'args.amount > 100 (or absent)' }]],
  ['args.note == "x" ("y and args.order > 1 (2)")', [{ argument: 'note', text: 'args.note == "x"' }]],
  ['history.count > 3 (4)', []],
  ['', []],
])('the comparisons of %j', (condition, comparisons) => {
  expect(splitComparisons(condition)).toEqual(comparisons)
})

test('what stopped the call comes first, then money, then recipients, then the rest as given', () => {
  const policy = {
    id: 'p',
    version: '1',
    decision: 'require_approval',
    matched: true,
    reason: null,
    authority_ref: null,
    source: 'p.yaml:7',
    condition: 'args.priority == "high" ("high")',
  }
  const args = { photo: 'x', notify_email: 'a@b', totalPrice: '12.50', ratio: 2, priority: 'high', amount: 'many' }
  expect(weighArguments(args, [policy]).map(({ name, weights }) => [name, ...weights])).toEqual([
    ['priority', 'deciding'],
    ['totalPrice', 'money'],
    ['notify_email', 'recipient'],
    ['photo'],
    ['ratio'],
    ['amount'],
  ])
})
