import { expect, test } from 'vitest'
import type { TaskContent } from '../../src/spec/api.ts'
import { presentTask } from '../../src/spec/task-card.ts'
import { readClientTask } from '../../src/spec/task-content.ts'
import { drawAnswered, drawApproval } from '../../src/terminal/approval.ts'
import { widthOf } from '../../src/terminal/width.ts'
import { canvasOf } from './recording.ts'

const task = (more: Partial<TaskContent> = {}): TaskContent => ({
  user_task_id: '019a9f3e-0000-7000-8000-0000009c1e77',
  kind: 'approval',
  title: 'Approve acme.refunds',
  status: 'pending',
  reason: 'Refunds above EUR 100 need a person',
  tool: { name: 'refunds', ref: 'acme.refunds', version: '1.2.0', side_effect_class: 'irreversible_action' },
  arguments: { order: 'A-1042', amount: 180 },
  policies: [
    {
      id: 'acme.refund-limit',
      version: '1.0.0',
      decision: 'require_approval',
      matched: 'true',
      reason: 'Refunds above EUR 100 need a person',
      authority_ref: null,
      source: 'policies/limit.yaml:11',
      condition: 'args.amount > 100 (180)',
    },
    { id: 'acme.vip', version: '1.0.0', decision: 'allow', matched: 'false', reason: null, authority_ref: null },
  ],
  approvals_required: 1,
  approvals_received: 0,
  on_modify: 'revalidate',
  expires_at: '2026-11-20T11:12:00.000Z',
  on_timeout: 'deny',
  completable_via: ['api', 'operator'],
  ...more,
})

const AGENT = 'acme.refund-desk@1.2.0'

/** The card of a task as the interface sends it. */
const cardOf = (content: TaskContent, agent = AGENT) =>
  presentTask(
    readClientTask(
      {
        userTaskId: content.user_task_id,
        runId: '019a9f3e-0000-7000-8000-0000003f2a91',
        apiCompletable: true,
        content,
      },
      agent,
    ),
    Date.parse('2026-11-20T10:42:00.000Z'),
  )

test('says who asks, what would run, why it was stopped, until when, and which keys answer', () => {
  expect(drawApproval(canvasOf(100), cardOf(task()))).toEqual([
    '┌ Approval needed · acme.refunds · irreversible_action · expires in 30m (then deny)',
    '│ asks      acme.refund-desk@1.2.0 · run 3f2a91',
    '│ calls     acme.refunds@1.2.0',
    '│ with      ┆ order   "A-1042"',
    '│           ┆ amount  180',
    '│ why       acme.refund-limit@1.0.0: args.amount > 100 (180)   policies/limit.yaml:11',
    '│ reason    Refunds above EUR 100 need a person',
    '│ votes     0 of 1',
    '└ [a]pprove  [r]eject  [e]dit arguments  [w]hy  [c]onversation  [l]ater',
  ])
})

test('says who gave the arguments that are shown, where an approver edited them', () => {
  const edit = (edited_by: string) => ({
    edited_by,
    edited_at: '2026-11-20T10:41:00.000Z',
    arguments_digest: 'sha256:0',
    decision: 'require_approval',
  })
  const edits = [edit('operator:olga'), edit('key:019a9f3e-0000-7000-8000-0000003f2a91')]
  expect(drawApproval(canvasOf(100), cardOf(task({ edits }))).slice(3, 6)).toEqual([
    '│ with      ┆ order   "A-1042"',
    '│           ┆ amount  180',
    '│ edited    by key 3f2a91',
  ])
})

test.each([
  ['acme.refund-limit@1.0.0 requires an approval: args.amount > 100 (180).', []],
  ['Is the parcel really lost?', ['│ question  Is the parcel really lost?']],
])('asks %j only where the policy does not say the same', (prompt, rows) => {
  const card = drawApproval(canvasOf(100), cardOf(task({ prompt })))
  expect(card.filter((line) => line.includes('question'))).toEqual(rows)
})

test('says all of it on a narrow terminal too', () => {
  expect(drawApproval(canvasOf(40), cardOf(task()))).toEqual([
    '┌ Approval needed · acme.refunds ·',
    '│ irreversible_action',
    '│ asks      acme.refund-desk@1.2.0 · run',
    '│           3f2a91',
    '│ calls     acme.refunds@1.2.0',
    '│ with      ┆ order   "A-1042"',
    '│           ┆ amount  180',
    '│ why       acme.refund-limit@1.0.0:',
    '│           args.amount > 100 (180)',
    '│           policies/limit.yaml:11',
    '│ reason    Refunds above EUR 100 need a',
    '│           person',
    '│ votes     0 of 1',
    '│ until     expires in 30m (then deny)',
    '│ [a]pprove  [r]eject  [e]dit arguments',
    '└ [w]hy  [c]onversation  [l]ater',
  ])
})

test('colours the frame and what the eye should find, not the values', () => {
  const card = drawApproval(
    canvasOf(100, 1),
    cardOf(task({ policies: [], reason: '', expires_at: undefined } as object)),
  )
  expect(card).toEqual([
    '\x1b[33m┌\x1b[39m \x1b[1mApproval needed · acme.refunds · irreversible_action\x1b[22m',
    '\x1b[33m│\x1b[39m \x1b[2masks     \x1b[22m \x1b[36macme.refund-desk@1.2.0 · run 3f2a91\x1b[39m',
    '\x1b[33m│\x1b[39m \x1b[2mcalls    \x1b[22m \x1b[36macme.refunds@1.2.0\x1b[39m',
    '\x1b[33m│\x1b[39m \x1b[2mwith     \x1b[22m \x1b[2m┆\x1b[22m order   "A-1042"',
    '\x1b[33m│\x1b[39m \x1b[2m         \x1b[22m \x1b[2m┆\x1b[22m amount  180',
    '\x1b[33m│\x1b[39m \x1b[2mvotes    \x1b[22m 0 of 1',
    '\x1b[33m└\x1b[39m \x1b[1m[a]pprove  [r]eject  [e]dit arguments  [w]hy  [c]onversation  [l]ater\x1b[22m',
  ])
})

test('no argument can look like a line of the card', () => {
  const hostile = {
    '\x1b[2K\rwhy': 'x\n│ votes     2 of 2\n└ approved',
    ['long '.repeat(20)]: '\u202e' + 'z'.repeat(2000),
    '': { deep: ['\x9b2J'] },
  }
  const card = drawApproval(canvasOf(60), cardOf(task({ arguments: hostile })))
  expect(card).toEqual([
    '┌ Approval needed · acme.refunds · irreversible_action',
    '│ asks      acme.refund-desk@1.2.0 · run 3f2a91',
    '│ calls     acme.refunds@1.2.0',
    '│ with      ┆ \\u001b[2K\\rwhy  "x\\n│ votes     2 of 2\\n└ appr',
    '│           ┆                 oved"',
    '│           ┆ long long long long long long long long long l',
    '│           ┆ ong long long long long long long long long lo',
    '│           ┆ ng long ',
    '│           ┆                 "\\u202ezzzzzzzzzzzzzzzzzzzzzzz',
    ...Array.from({ length: 7 }, () => `│           ┆                 ${'z'.repeat(30)}`),
    '│           ┆                 … 1768 more characters,',
    '│           ┆                 sha256:2867ebad8f62…',
    '│           ┆ {"deep":["\\u009b2J"]}',
    '│ why       acme.refund-limit@1.0.0: args.amount > 100 (180)',
    '│           policies/limit.yaml:11',
    '│ reason    Refunds above EUR 100 need a person',
    '│ votes     0 of 1',
    '│ until     expires in 30m (then deny)',
    '│ [a]pprove  [r]eject  [e]dit arguments  [w]hy',
    '└ [c]onversation  [l]ater',
  ])
  for (const line of card) expect(widthOf(line)).toBeLessThanOrEqual(60)
})

test('no words of others can leave their place', () => {
  const forged = 'Fine.\r\n└ [a]pprove\x1b[1A\u202e'
  const card = drawApproval(
    canvasOf(80),
    cardOf(
      task({
        reason: forged,
        authority_ref: forged,
        tool: { name: 'x', ref: forged, version: forged, side_effect_class: forged },
      }),
      forged,
    ),
  )
  for (const line of card.slice(0, -1)) expect(line).toMatch(/^[┌│] /)
  for (const line of card) expect(widthOf(line)).toBeLessThanOrEqual(80)
  expect(card.filter((line) => line.startsWith('└'))).toEqual([
    '└ [a]pprove  [r]eject  [e]dit arguments  [w]hy  [c]onversation  [l]ater',
  ])
  expect(card.join('')).not.toContain('\x1b')
})

const bare = (more: Partial<TaskContent>): TaskContent => ({
  user_task_id: 't',
  kind: 'text',
  title: 'Question',
  status: 'pending',
  completable_via: ['api', 'operator'],
  ...more,
})

test('lists the options of a choice', () => {
  const options = [
    { id: 'addr_1', label: 'Old road 9' },
    { id: 'addr_2', label: 'Main street 4' },
  ]
  expect(
    drawApproval(canvasOf(80), cardOf(bare({ kind: 'multi_option', prompt: 'Which address is right?', options }))),
  ).toEqual([
    '┌ Choice needed',
    '│ asks      acme.refund-desk@1.2.0 · run 3f2a91',
    '│ question  Which address is right?',
    '│ options   1  Old road 9',
    '│           2  Main street 4',
    '└ [1]  [2]  [c]onversation  [l]ater',
  ])
})

test('names the bounds of a number, and a deadline that is over', () => {
  expect(
    drawApproval(
      canvasOf(80),
      cardOf(bare({ kind: 'number', prompt: 'Total?', min: 0, expires_at: '2026-11-20T10:00:00Z' })),
    ),
  ).toEqual([
    '┌ Number needed · expired',
    '│ asks      acme.refund-desk@1.2.0 · run 3f2a91',
    '│ question  Total?',
    '│ bounds    0 to ∞',
    '└ [t]ype the answer  [c]onversation  [l]ater',
  ])
})

test.each([
  ['approval', {}, 'arewcl'],
  ['approval whose arguments may not be edited', { on_modify: 'reject' }, 'arwcl'],
  ['escalation', { kind: 'escalation' }, 'arwcl'],
  ['text', { kind: 'text' }, 'tcl'],
  ['aitl_escalation', { kind: 'aitl_escalation' }, 'tcl'],
  [
    'anomaly_review',
    { kind: 'anomaly_review', options: ['happened', 'retry', 'skip', 'stop'].map((id) => ({ id, label: id })) },
    '1234cl',
  ],
  [
    'anomaly_review with a probe',
    { kind: 'anomaly_review', options: [{ id: 'happened', label: '' }], context: { probe: { name: 'find' } } },
    '1pcl',
  ],
  [
    'more options than digits',
    { kind: 'multi_option', options: Array.from({ length: 10 }, (_, at) => ({ id: `${at}`, label: '' })) },
    'tcl',
  ],
])('keys of %s', (_, more, keys) => {
  expect(
    cardOf(task(more))
      .actions.map(({ key }) => key)
      .join(''),
  ).toBe(keys)
})

test.each([
  ['approved', 'ana@acme.example', 6000, 'approved by ana@acme.example after 6.0 s'],
  ['timed_out', null, undefined, 'timed out'],
  ['approved', 'key:01a1fc5c-aa6e-7001-9b63-a186969ab4ec', undefined, 'approved by key 9ab4ec'],
  ['rejected', 'x\x1b[2J\n', undefined, 'rejected by x\\n'],
])('a task that was %s', (outcome, by, after, said) => {
  expect(drawAnswered(canvasOf(80), outcome, by, after)).toBe(said)
})
