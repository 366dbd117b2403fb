/** Which approvals a card guards: a script names what was seen of them. */
import { expect, test } from 'vitest'
import { findReviewReason, type TaskRequest } from '../../src/spec/task.ts'

const plain: TaskRequest = {
  kind: 'approval',
  status: 'pending',
  title: 'Refund',
  tool: { name: 'refunds', ref: 'acme.refunds', version: '1.0.0', side_effect_class: 'non_idempotent_write' },
  arguments: { amount: 180 },
  argumentsDigest: 'sha256:00',
}
const edit = { approver: 'operator:ana', at: 0, argumentsDigest: 'sha256:01' } as never

const GUARDED: readonly (readonly [string, Partial<TaskRequest>])[] = [
  ['its call repeats an earlier one', { effect: { key: 'refund:A-1', previous: { run_id: 'r1' } } }],
  ['its call may have been made before', { context: { earlier_call: { id: 'c1' } } }],
  ['its call cannot be undone', { tool: { ...plain.tool!, side_effect_class: 'irreversible_action' } }],
  ['its call cannot be undone', { tool: { ...plain.tool!, side_effect_class: null } }],
  ['several people approve it', { approvalsRequired: 2 }],
  ['its arguments were edited', { edits: [edit] }],
  ['its policy asks for a confirmation that its arguments were read', { comprehensionRequired: true }],
]

test.each(GUARDED)('%s: %o', (why, about) => {
  expect(findReviewReason({ ...plain, ...about })).toBe(why)
})

test('a reversible call that one person approves for the first time is not guarded, and neither is what has no arguments', () => {
  expect(findReviewReason(plain)).toBeUndefined()
  expect(findReviewReason({ ...plain, effect: { key: 'refund:A-1' }, edits: [], approvalsRequired: 1 })).toBeUndefined()
  const { argumentsDigest: _, tool: __, ...limit } = plain
  expect(findReviewReason({ ...limit, kind: 'escalation', comprehensionRequired: true })).toBeUndefined()
})
