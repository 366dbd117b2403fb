/** Which tasks are reviewed together, and what the review shows. Source: docs/design/approvals.md#approving-several-at-once */
import { expect, test } from 'vitest'
import type { JsonValue } from '../../src/base/json/json.ts'
import { findBulkProblem, type ShownTask } from '../../src/spec/task.ts'
import { bulkGroupOf, listSimilar, reviewTogether, sumAmounts } from '../../src/view/task/bulk-review.ts'

const LIMIT = {
  id: 'acme.refund-limit',
  version: '1.0.0',
  decision: 'require_approval',
  matched: true,
  reason: null,
  authority_ref: null,
  source: 'policies/limit.yaml:11',
}

const task = (id: string, given: Partial<ShownTask> = {}): ShownTask => ({
  id,
  kind: 'approval',
  status: 'pending',
  title: 'Approve',
  runId: `run-${id}`,
  agent: 'acme.desk@1.0.0',
  approvalsReceived: 0,
  apiCompletable: true,
  tool: { name: 'refunds', ref: 'acme.refunds', version: '1.2.0', side_effect_class: 'idempotent_write' },
  arguments: { order: 'A-1', amount: 180 },
  policies: [LIMIT],
  ...given,
})

test('puts tasks together that ask about the same tool because of the same policy line', () => {
  const other = task('other', { arguments: { order: 'A-2', amount: 990 } })
  const allowed = { ...LIMIT, id: 'acme.vip', decision: 'allow' }
  const different = [
    task('tool', { tool: { name: 'pay', ref: 'acme.pay', version: '1.2.0', side_effect_class: null } }),
    task('version', { tool: { ...task('x').tool!, version: '1.3.0' } }),
    task('line', { policies: [{ ...LIMIT, source: 'policies/limit.yaml:19' }] }),
    task('policy', { policies: [LIMIT, { ...LIMIT, id: 'acme.night' }] }),
    task('kind', { kind: 'escalation' }),
  ]
  const also = task('also', { policies: [LIMIT, allowed, { ...LIMIT, id: 'acme.day', matched: false }] })
  expect(listSimilar(other, [task('a'), ...different, other, also]).map(({ id }) => id)).toEqual(['other', 'a', 'also'])
  const { tool: _, ...question } = task('question')
  expect(bulkGroupOf(question)).toBeUndefined()
  expect(listSimilar(question, [question, question]).map(({ id }) => id)).toEqual(['question'])
})

test('shows each argument as a column, escaped and whole', () => {
  const given: JsonValue[] = [
    { order: 'A-1', amount: 180 },
    { amount: 20, note: '\u202eevil\n', order: 'A-2' },
    'free text',
  ]
  expect(reviewTogether(given.map((args, at) => task(String(at), { arguments: args })))).toEqual({
    columns: ['order', 'amount', 'note', 'arguments'],
    rows: [
      ['"A-1"', '180', '', ''],
      ['"A-2"', '20', String.raw`"\u202eevil\n"`, ''],
      ['', '', '', '"free text"'],
    ],
  })
})

const irreversible = { name: 'pay', ref: 'acme.pay', version: '1', side_effect_class: 'irreversible_action' }

test.each<[string, Partial<ShownTask>, string | undefined]>([
  ['a call that can be repeated', {}, undefined],
  ['one that cannot be undone', { tool: irreversible }, 'its call cannot be undone, and no policy says svc/bulk: true'],
  [
    'one of which nobody has said what it does',
    { tool: { ...irreversible, side_effect_class: null } },
    'its call cannot be undone, and no policy says svc/bulk: true',
  ],
  ['one whose policies allow it', { tool: irreversible, bulk: true }, undefined],
  [
    'one that must be understood',
    { bulk: true, comprehensionRequired: true },
    'its policy asks for a confirmation that its arguments were read',
  ],
  ['a question', { kind: 'text' }, 'it asks for an answer, not for an approval'],
])('says why %s is or is not approved together with others', (_, given, expected) => {
  expect(findBulkProblem(task('a', given))).toBe(expected)
})

test.each<[JsonValue[], string[]]>([
  [
    [
      { amount: 25000, currency: 'EUR' },
      { amount: 1800, currency: 'EUR' },
    ],
    ['EUR 26,800'],
  ],
  [
    [
      { amount: 0.1, currency: 'EUR' },
      { amount: 0.2, currency: 'eur' },
    ],
    ['EUR 0.3'],
  ],
  [
    [{ amount: '1000.05', currency: 'EUR' }, { total: -0.005, currency: 'USD' }, { amount: 999999 }],
    ['EUR 1,000.05', 'USD -0.005', '999,999'],
  ],
  [[{ order: 'A-1' }, 'text', { amount: '1,000' }, { amount: 1e21 }], []],
])('%j are %j in all', (given, totals) => {
  expect(sumAmounts(given.map((args, at) => task(String(at), { arguments: args })))).toEqual(totals)
})
