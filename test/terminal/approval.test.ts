import { expect, test } from 'vitest'
import type { TaskContent } from '../../src/spec/api.ts'
import type { TaskPeople } from '../../src/spec/task.ts'
import { presentKeyedTask } from '../../src/view/task/task-actions.ts'
import { readClientTask } from '../../src/view/task/task-content.ts'
import { drawAnswered, drawApproval as draw, fitApproval } from '../../src/terminal/approval.ts'
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
      matched: true,
      reason: 'Refunds above EUR 100 need a person',
      authority_ref: null,
      source: 'policies/limit.yaml:11',
      condition: 'args.amount > 100 (180)',
    },
    { id: 'acme.vip', version: '1.0.0', decision: 'allow', matched: false, reason: null, authority_ref: null },
  ],
  approvals_required: 1,
  approvals_received: 0,
  on_modify: 'revalidate',
  expires_at: '2026-11-20T11:12:00.000Z',
  on_timeout: 'deny',
  completable_via: ['api', 'operator'],
  ...more,
})

const drawApproval = (...given: Parameters<typeof draw>) => draw(...given).lines

const AGENT = 'acme.refund-desk@1.2.0'

/** The card of a task as the interface sends it. */
const cardOf = (content: TaskContent, agent = AGENT) =>
  presentKeyedTask(
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
    '┌ Approval needed · acme.refunds@1.2.0 · irreversible_action · expires in 30m (then deny)',
    '│ ┆ ▸ amount  180   money  ← args.amount > 100  policies/limit.yaml:11',
    '│ ┆   order   "A-1042"',
    '│ why       Refunds above EUR 100 need a person   acme.refund-limit@1.0.0',
    '│ asks      acme.refund-desk@1.2.0 · run 3f2a91',
    '│ votes     0 of 1',
    '└ [a]pprove  [r]eject  [e]dit arguments  [v]iew whole  [w]hy  [c]onversation  [l]ater',
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
  expect(drawApproval(canvasOf(100), cardOf(task({ edits }))).slice(1, 4)).toEqual([
    '│ ┆ ▸ amount  180   money  ← args.amount > 100  policies/limit.yaml:11',
    '│ ┆   order   "A-1042"',
    '│ edited    by key 3f2a91; earlier votes do not count',
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
    '┌ Approval needed · acme.refunds@1.2.0',
    '│ irreversible_action',
    '│ expires in 30m (then deny)',
    '│ ┆ ▸ amount  180',
    '│ ┆           money',
    '│ ┆           ← args.amount > 100',
    '│ ┆           policies/limit.yaml:11',
    '│ ┆   order   "A-1042"',
    '│ why       Refunds above EUR 100 need a',
    '│           person',
    '│           acme.refund-limit@1.0.0',
    '│ asks      acme.refund-desk@1.2.0 · run',
    '│           3f2a91',
    '│ votes     0 of 1',
    '│ [a]pprove  [r]eject  [e]dit arguments',
    '│ [v]iew whole  [w]hy  [c]onversation',
    '└ [l]ater',
  ])
})

test('dims labels; what stopped the call, money and what cannot be undone stand out', () => {
  const policies = task().policies!.map((policy) => ({ ...policy, reason: null }))
  const card = drawApproval(canvasOf(100, 1), cardOf(task({ policies, reason: '', expires_at: undefined } as object)))
  expect(card).toEqual([
    '\x1b[33m┌\x1b[39m \x1b[1mApproval needed · acme.refunds@1.2.0\x1b[22m\x1b[2m · \x1b[22m\x1b[1m\x1b[35mirreversible_action\x1b[39m\x1b[22m',
    '\x1b[33m│\x1b[39m \x1b[2m┆\x1b[22m \x1b[33m▸\x1b[39m \x1b[2mamount  \x1b[22m\x1b[1m180\x1b[22m   \x1b[1mmoney\x1b[22m  \x1b[33m← args.amount > 100\x1b[39m  \x1b[2mpolicies/limit.yaml:11\x1b[22m',
    '\x1b[33m│\x1b[39m \x1b[2m┆\x1b[22m   \x1b[2morder   \x1b[22m"A-1042"',
    '\x1b[33m│\x1b[39m \x1b[2mwhy      \x1b[22m acme.refund-limit@1.0.0',
    '\x1b[33m│\x1b[39m \x1b[2masks     \x1b[22m \x1b[36macme.refund-desk@1.2.0 · run 3f2a91\x1b[39m',
    '\x1b[33m│\x1b[39m \x1b[2mvotes    \x1b[22m 0 of 1',
    '\x1b[33m└\x1b[39m \x1b[1m[a]pprove\x1b[22m  \x1b[1m[r]eject\x1b[22m  \x1b[1m[e]dit arguments\x1b[22m  [v]iew whole  [w]hy  [c]onversation  [l]ater',
  ])
})

const people: TaskPeople = {
  startedBy: 'key "web-shop"',
  versionLabel: '1.2.0',
  role: 'treasurer',
  you: 'operator cleo',
  standing: 'may_answer',
  votes: [{ by: 'operator ana', approved: true }],
  candidates: ['operator bo', 'operator dan'],
}

/** A transfer with money, a recipient and a letter, which one of two treasurers has approved. */
const transfer = (standing: TaskPeople['standing'] = 'may_answer') => {
  const content = task({
    arguments: {
      letter: 'Dear Ada,\nwe are sorry.\nHere is your money.',
      iban: 'DE89 3704 0044 0532 0130 00',
      amount: 1500,
      currency: 'EUR',
    },
    approvals_required: 2,
    approvals_received: 1,
  })
  const shown = readClientTask(
    { userTaskId: 't', runId: '019a9f3e-0000-7000-8000-0000003f2a91', apiCompletable: true, content },
    AGENT,
  )
  return presentKeyedTask({ ...shown, people: { ...people, standing } }, Date.parse('2026-11-20T10:42:00.000Z'))
}

test.each([[120], [80], [60], [40]])(
  'shows money, recipient, letter, voters and who is still needed in %i columns',
  (width) => {
    expect(drawApproval(canvasOf(width), transfer())).toEqual(TRANSFER[width])
  },
)

const TRANSFER: Readonly<Record<number, readonly string[]>> = {
  120: [
    '┌ Approval needed · acme.refunds@1.2.0 · irreversible_action · expires in 30m (then deny)',
    '│ ┆ ▸ amount    1500 EUR   ← args.amount > 100  policies/limit.yaml:11',
    '│ ┆ → iban      "DE89 3704 0044 0532 0130 00"   recipient',
    '│ ┆   letter    ┊ Dear Ada,',
    '│ ┆             ┊ we are sorry.',
    '│ ┆             ┊ Here is your money.',
    '│ ┆   currency  "EUR"',
    '│ why       Refunds above EUR 100 need a person   acme.refund-limit@1.0.0',
    '│ asks      acme.refund-desk@1.2.0 · run 3f2a91',
    '│ for       key "web-shop"',
    '│ votes     1 of 2: operator ana; waits for another treasurer: operator bo or operator dan',
    '└ [a]pprove  [r]eject  [e]dit arguments  [v]iew whole  [w]hy  [h]istory  [W]rite a policy  [c]onversation  [l]ater',
  ],
  80: [
    '┌ Approval needed · acme.refunds@1.2.0 · irreversible_action',
    '│ expires in 30m (then deny)',
    '│ ┆ ▸ amount    1500 EUR   ← args.amount > 100  policies/limit.yaml:11',
    '│ ┆ → iban      "DE89 3704 0044 0532 0130 00"   recipient',
    '│ ┆   letter    ┊ Dear Ada,',
    '│ ┆             ┊ we are sorry.',
    '│ ┆             ┊ Here is your money.',
    '│ ┆   currency  "EUR"',
    '│ why       Refunds above EUR 100 need a person   acme.refund-limit@1.0.0',
    '│ asks      acme.refund-desk@1.2.0 · run 3f2a91',
    '│ for       key "web-shop"',
    '│ votes     1 of 2: operator ana; waits for another treasurer: operator bo or',
    '│           operator dan',
    '│ [a]pprove  [r]eject  [e]dit arguments  [v]iew whole  [w]hy  [h]istory',
    '└ [W]rite a policy  [c]onversation  [l]ater',
  ],
  60: [
    '┌ Approval needed · acme.refunds@1.2.0 · irreversible_action',
    '│ expires in 30m (then deny)',
    '│ ┆ ▸ amount    1500 EUR',
    '│ ┆             ← args.amount > 100',
    '│ ┆             policies/limit.yaml:11',
    '│ ┆ → iban      "DE89 3704 0044 0532 0130 00"   recipient',
    '│ ┆   letter    ┊ Dear Ada,',
    '│ ┆             ┊ we are sorry.',
    '│ ┆             ┊ Here is your money.',
    '│ ┆   currency  "EUR"',
    '│ why       Refunds above EUR 100 need a person',
    '│           acme.refund-limit@1.0.0',
    '│ asks      acme.refund-desk@1.2.0 · run 3f2a91',
    '│ for       key "web-shop"',
    '│ votes     1 of 2: operator ana; waits for another',
    '│           treasurer: operator bo or operator dan',
    '│ [a]pprove  [r]eject  [e]dit arguments  [v]iew whole  [w]hy',
    '└ [h]istory  [W]rite a policy  [c]onversation  [l]ater',
  ],
  40: [
    '┌ Approval needed · acme.refunds@1.2.0',
    '│ irreversible_action',
    '│ expires in 30m (then deny)',
    '│ ┆ ▸ amount    1500 EUR',
    '│ ┆             ← args.amount > 100',
    '│ ┆             policies/limit.yaml:11',
    '│ ┆ → iban      "DE89 3704 0044 0532 ',
    '│ ┆             0130 00"',
    '│ ┆             recipient',
    '│ ┆   letter    ┊ Dear Ada,',
    '│ ┆             ┊ we are sorry.',
    '│ ┆             ┊ Here is your money.',
    '│ ┆   currency  "EUR"',
    '│ why       Refunds above EUR 100 need a',
    '│           person',
    '│           acme.refund-limit@1.0.0',
    '│ asks      acme.refund-desk@1.2.0 · run',
    '│           3f2a91',
    '│ for       key "web-shop"',
    '│ votes     1 of 2: operator ana; waits',
    '│           for another treasurer:',
    '│           operator bo or operator dan',
    '│ [a]pprove  [r]eject  [e]dit arguments',
    '│ [v]iew whole  [w]hy  [h]istory',
    '│ [W]rite a policy  [c]onversation',
    '└ [l]ater',
  ],
}

test.each([40, 60, 100])('a card whose keys are not offered yet is as high as with them, in %i columns', (columns) => {
  const card = cardOf(task())
  const [early, late] = [true, false].map((isEarly) => fitApproval(canvasOf(columns), card, 40, { isEarly }).lines)
  expect(early!.length).toBe(late!.length)
  expect(early!.join('\n')).not.toContain('[a]pprove')
  expect(early!.join('\n')).toContain('keys in a moment')
  expect(late!.join('\n')).toContain('[a]pprove')
})

test('says a repetition whole on a low terminal, where other values are folded', () => {
  const given = cardOf(task({ arguments: { note: 'x'.repeat(600) } }))
  const repeats = `it was made ${'long ago '.repeat(12)}by run 3f2a91`
  const withRow = (emphasis: 'danger' | 'plain') => ({
    ...given,
    rows: [{ label: 'repeats', text: repeats, ...(emphasis === 'danger' && { emphasis }) } as never, ...given.rows],
  })
  const shown = (emphasis: 'danger' | 'plain'): string =>
    fitApproval(canvasOf(60), withRow(emphasis), 14)
      .lines.map((line) => line.slice(1).trim())
      .join(' ')
  expect(shown('danger')).toContain('by run 3f2a91')
  expect(shown('plain')).not.toContain('by run 3f2a91')
})

test('no argument can look like a line of the card', () => {
  const hostile = {
    '\x1b[2K\rwhy': 'x\n│ votes     2 of 2\n└ approved',
    ['long '.repeat(20)]: '\u202e' + 'z'.repeat(2000),
    '': { deep: ['\x9b2J'] },
  }
  const card = drawApproval(canvasOf(60), cardOf(task({ arguments: hostile })))
  expect(card).toEqual([
    '┌ Approval needed · acme.refunds@1.2.0 · irreversible_action',
    '│ expires in 30m (then deny)',
    '│ ┆   \\u001b[2K\\rwhy  ┊ x',
    '│ ┆                   ┊ │ votes     2 of 2',
    '│ ┆                   ┊ └ approved',
    '│ ┆   long long long long long long long long long long ',
    '│ ┆   long long long long long long long long long long ',
    '│ ┆                   "\\u202ezzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz',
    ...Array.from({ length: 7 }, () => `│ ┆                   ${'z'.repeat(38)}`),
    '│ ┆                   … folded, 2008 characters: [v]iew',
    '│ ┆                   whole',
    '│ ┆   {"deep":["\\u009b2J"]}',
    '│ why       args.amount > 100 (180): Refunds above EUR 100',
    '│           need a person',
    '│           acme.refund-limit@1.0.0  policies/limit.yaml:11',
    '│ asks      acme.refund-desk@1.2.0 · run 3f2a91',
    '│ votes     0 of 1',
    '│ [a]pprove  [r]eject  [e]dit arguments  [v]iew whole  [w]hy',
    '└ [c]onversation  [l]ater',
  ])
  for (const line of card) expect(widthOf(line)).toBeLessThanOrEqual(60)
})

test('a value is not folded for the sake of the line that says so', () => {
  const card = cardOf(task({ arguments: { note: 'x'.repeat(400), amount: 180 } }))
  expect(fitApproval(canvasOf(60), card, 40)).toMatchObject({ lines: { length: 21 }, folded: 0 })
})

test('folds further on a low terminal, and leaves out the middle at last, which counts as folded', () => {
  const card = cardOf(task({ arguments: { note: 'x'.repeat(600), amount: 180 } }))
  const rowsIn = (rows: number) => fitApproval(canvasOf(60), card, rows)
  expect(rowsIn(40)).toMatchObject({ lines: { length: 21 }, folded: 1 })
  expect(rowsIn(12).lines.length).toBeLessThanOrEqual(12)
  expect(rowsIn(6)).toEqual({
    lines: [
      '┌ Approval needed · acme.refunds@1.2.0 · irreversible_action',
      '│ expires in 30m (then deny)',
      '│ ┆ ▸ amount  180',
      '│ … 9 more lines: [v]iew whole',
      '│ [a]pprove  [r]eject  [e]dit arguments  [v]iew whole  [w]hy',
      '└ [c]onversation  [l]ater',
    ],
    tail: 2,
    folded: 1,
  })
  expect(fitApproval(canvasOf(60), cardOf(task()), 40).folded).toBe(0)
})

test('a screen reader gets one statement a line, whole, without boxes', () => {
  const canvas = { ...canvasOf(60), isAccessible: true }
  expect(drawApproval(canvas, transfer('voted'))).toEqual([
    'Approval needed · acme.refunds@1.2.0, irreversible_action, expires in 30m (then deny)',
    'argument amount: 1500 EUR, money, stopped by args.amount > 100, policies/limit.yaml:11',
    'argument iban: "DE89 3704 0044 0532 0130 00", recipient',
    'argument letter: "Dear Ada,\\nwe are sorry.\\nHere is your money."',
    'argument currency: "EUR"',
    'why: Refunds above EUR 100 need a person, acme.refund-limit@1.0.0',
    'asks: acme.refund-desk@1.2.0 · run 3f2a91',
    'for: key "web-shop"',
    'votes: 1 of 2: operator ana; waits for another treasurer: operator bo or operator dan',
    'you: operator cleo has voted; somebody else decides now',
    'keys: e edit arguments, v view whole, w why, h history, W Write a policy, c conversation, l later',
  ])
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
  expect(card.filter((line) => line.startsWith('└'))).toEqual(['└ [l]ater'])
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
    '│ question  Which address is right?',
    '│ asks      acme.refund-desk@1.2.0 · run 3f2a91',
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
    '│ question  Total?',
    '│ asks      acme.refund-desk@1.2.0 · run 3f2a91',
    '│ bounds    0 to ∞',
    '└ [t]ype the answer  [c]onversation  [l]ater',
  ])
})

test.each([
  ['approval', {}, 'arevwcl'],
  ['approval whose arguments may not be edited', { on_modify: 'reject' }, 'arvwcl'],
  ['escalation', { kind: 'escalation' }, 'arvwcl'],
  ['text', { kind: 'text' }, 'tcl'],
  ['aitl_escalation', { kind: 'aitl_escalation' }, 'tcl'],
  [
    'anomaly_review',
    { kind: 'anomaly_review', options: ['happened', 'retry', 'skip', 'stop'].map((id) => ({ id, label: id })) },
    '1234vcl',
  ],
  [
    'anomaly_review with a probe',
    { kind: 'anomaly_review', options: [{ id: 'happened', label: '' }], context: { probe: { name: 'find' } } },
    '1pvcl',
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
  expect(drawAnswered(canvasOf(80), { outcome, completed_by: by }, after)).toBe(said)
})

test.each([
  ['console', 'passkey', 'approved by operator ana in the console, with a passkey after 6.0 s'],
  ['operator', 'key', 'approved by operator ana after 6.0 s'],
  ['pager\x1b[2J', 'iris', 'approved by operator ana by pager, with iris after 6.0 s'],
])('a task that was approved through %s with %s', (channel, proof, said) => {
  const content = { outcome: 'approved', completed_by: 'operator:ana', channel, proof }
  expect(drawAnswered(canvasOf(80), content, 6000)).toBe(said)
})
