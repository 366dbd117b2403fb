import { expect, test } from 'vitest'
import { isLooser } from '../../src/authority/strictness.ts'
import type { PolicyDecision } from '../../src/policy/condition/decision.ts'

type Asked = NonNullable<PolicyDecision['obligations']>

const plain: Asked = {
  approvals_required: 1,
  comprehension_required: false,
  on_reject: 'return_to_agent',
  on_modify: 'revalidate',
}

const decision = (outcome: PolicyDecision['decision'], obligations?: Partial<Asked>): PolicyDecision => ({
  decision: outcome,
  policies: [],
  explanation: '',
  reasons: [],
  ...(obligations && { obligations: { ...plain, ...obligations } }),
})

test('deny is stricter than escalate, escalate than require_approval, and that than allow', () => {
  const ordered = [decision('deny'), decision('escalate', {}), decision('require_approval', {}), decision('allow')]
  for (const [at, strict] of ordered.entries())
    for (const [other, loose] of ordered.entries()) expect(isLooser(strict, loose)).toBe(other > at)
})

test.each<[string, Partial<Asked>, Partial<Asked>]>([
  ['fewer approvals', { approvals_required: 2 }, {}],
  ['no comprehension', { comprehension_required: true }, {}],
  ['no separation of duties', { separation_of_duties: true }, {}],
  ['a call that cannot be undone together with others', {}, { bulk: true }],
  ['no role', { approver_role: 'finance' }, {}],
  ['a weaker proof', { approval_proof: 'passkey' }, { approval_proof: 'key' }],
  ['no proof', { approval_proof: 'link' }, {}],
  ['one role of two', { approver_role: 'finance and legal' }, { approver_role: 'legal' }],
  ['a rejection that fails no more', { on_reject: 'fail' }, {}],
  ['changes that are accepted', {}, { on_modify: 'accept' }],
  [
    'silence that approves',
    { timeout: { after_minutes: 5, default: 'deny' } },
    { timeout: { after_minutes: 5, default: 'allow' } },
  ],
  ['silence that approves, where it waited', {}, { timeout: { after_minutes: 5, default: 'allow' } }],
  [
    'silence that approves sooner',
    { timeout: { after_minutes: 9, default: 'allow' } },
    { timeout: { after_minutes: 5, default: 'allow' } },
  ],
  [
    'a longer wait',
    { timeout: { after_minutes: 5, default: 'deny' } },
    { timeout: { after_minutes: 9, default: 'deny' } },
  ],
  ['a wait without end', { timeout: { after_minutes: 5, default: 'deny' } }, {}],
])('%s is looser, and the other way round is not', (_, strict, loose) => {
  const [before, after] = [decision('require_approval', strict), decision('require_approval', loose)]
  expect([isLooser(before, after), isLooser(after, before)]).toEqual([true, false])
})

test('another role is looser both ways, because roles have no order', () => {
  const [finance, legal] = ['finance', 'legal'].map((role) => decision('escalate', { approver_role: role })) as [
    PolicyDecision,
    PolicyDecision,
  ]
  expect([isLooser(finance, legal), isLooser(legal, finance)]).toEqual([true, true])
})

test('a stricter outcome with fewer obligations is looser in its obligations', () => {
  expect(isLooser(decision('require_approval', { approvals_required: 2 }), decision('escalate', {}))).toBe(true)
})
