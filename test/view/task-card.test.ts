import { expect, test } from 'vitest'
import type { DecisionId, RunId, SessionId, TaskId } from '../../src/base/ids.ts'
import type { TaskContent } from '../../src/spec/api.ts'
import type { JsonValue } from '../../src/base/json/json.ts'
import type { Digest } from '../../src/base/digest.ts'
import type { TaskRecord } from '../../src/spec/task.ts'
import { presentKeyedTask } from '../../src/view/task/task-actions.ts'
import { describeSubject, findKeyArgument, nameOfKind } from '../../src/view/task/task-subject.ts'
import { readClientTask, readTaskContent, toTaskContent } from '../../src/view/task/task-content.ts'
import { describeTaskView } from '../../src/view/task/task-view.ts'

const ID = '019a9f3e-0000-7000-8000-0000009c1e77' as TaskId
const NOW = Date.parse('2026-11-20T10:42:00.000Z')

const request = {
  kind: 'approval',
  status: 'pending',
  title: 'Approve acme.refunds',
  prompt: 'Pay it?',
  reason: 'Refunds above EUR 100 need a person',
  tool: { name: 'refunds', ref: 'acme.refunds', version: '1.2.0', side_effect_class: 'irreversible_action' },
  arguments: { order: 'A-1042\n\x1b[2J', amount: 180 },
  argumentsDigest: `sha256:${'0'.repeat(64)}` as Digest,
  policies: [
    {
      id: 'acme.refund-limit',
      version: '1.0.0',
      decision: 'require_approval',
      matched: true,
      reason: null,
      authority_ref: 'finance-7',
      source: 'policies/limit.yaml:11',
      condition: 'args.amount > 100 (180)',
    },
    { id: 'acme.vip', version: '1.0.0', decision: 'allow', matched: false, reason: null, authority_ref: null },
  ],
  authorityRef: 'finance-7',
  effect: { key: 'refund:A-1042', previous: { run_id: '019a9f3e-0000-7000-8000-0000003f2a00', outcome: 'done' } },
  approvalsRequired: 2,
  edits: [{ approver: 'operator:olga', at: NOW - 60_000, argumentsDigest: 'sha256:1', decision: 'require_approval' }],
  comprehensionRequired: true,
  context: { ticket: 7 },
  options: [{ id: 'a', label: 'A' }],
  min: 0,
  max: 9,
  onReject: 'fail',
  onModify: 'reject',
  onTimeout: 'deny',
  expiresAt: NOW + 30 * 60_000,
} as const satisfies Partial<TaskRecord>

/** Why the agent wants the call. */
const grounds = {
  summary: 'Refund 180 (none) for "A-1042"',
  reasoning: 'It arrived broken: "refund".',
  evidence: [
    { ref: 'acme.orders', about: ['order'], result: '{"damaged":true}' },
    { ref: 'acme.fraud-check', about: [], result: '"outage"', failed: true },
  ],
} as const satisfies Partial<TaskRecord>

const record: TaskRecord = {
  ...request,
  id: ID,
  sessionId: '019a9f3e-0000-7000-8000-0000003f2a90' as SessionId,
  runId: '019a9f3e-0000-7000-8000-0000003f2a91' as RunId,
  decisionId: '019a9f3e-0000-7000-8000-0000003f2a92' as DecisionId,
  worker: 'host:1',
  createdAt: NOW,
  votes: [
    { approver: 'operator:ana', approved: true, at: NOW },
    { approver: 'operator:ben', approved: false, at: NOW },
  ],
}

test('a task that went through the interface is the one that was stored', () => {
  expect(readTaskContent(toTaskContent({ ...record, ...grounds }))).toEqual({ ...request, ...grounds })
})

test('a task that says nothing but its kind stays as short', () => {
  const bare: TaskRecord = {
    id: ID,
    sessionId: record.sessionId,
    runId: record.runId,
    kind: 'text',
    status: 'pending',
    title: 'Question',
    votes: [],
    createdAt: NOW,
  }
  const content = toTaskContent(bare)
  expect(content).toStrictEqual({
    user_task_id: ID,
    kind: 'text',
    title: 'Question',
    status: 'pending',
    completable_via: ['api', 'operator'],
  })
  expect(readTaskContent(content)).toStrictEqual({ kind: 'text', title: 'Question', status: 'pending' })
})

test('a policy that lacks fields or has others still reads', () => {
  const policies = [{ id: 'acme.limit', matched: 'maybe', source: 7 }]
  const sent = { ...toTaskContent(record), policies } as unknown as TaskContent
  expect(readTaskContent(sent).policies).toStrictEqual([
    { id: 'acme.limit', version: '', decision: '', matched: null, reason: null, authority_ref: null },
  ])
})

test('the card holds all that a person decides by, escaped and without layout', () => {
  const content = toTaskContent({ ...record, ...grounds })
  const task = readClientTask({ userTaskId: ID, runId: record.runId, apiCompletable: true, content }, 'acme.desk\u202e')
  expect(presentKeyedTask(task, NOW)).toStrictEqual({
    title: 'Approval needed · acme.refunds@1.2.0',
    sideEffect: 'irreversible_action',
    isIrreversible: true,
    needsSecondAct: true,
    deadline: 'expires in 30m (then deny)',
    rows: [
      {
        label: 'repeats',
        text: 'refund:A-1042 was made at , by run 3f2a00 of ; no approval was needed',
        emphasis: 'danger',
        runId: '019a9f3e-0000-7000-8000-0000003f2a00',
      },
      { label: 'does', text: 'Refund 180 (none) for "A-1042"', emphasis: 'strong' },
      { label: 'question', text: 'Pay it?', emphasis: 'strong' },
      {
        label: 'with',
        values: [
          {
            name: 'amount',
            text: '180',
            value: 180,
            weights: ['deciding', 'money'],
            limit: 'args.amount > 100',
            place: 'policies/limit.yaml:11',
          },
          {
            name: 'order',
            text: '"A-1042\\n\\u001b[2J"',
            lines: ['A-1042', '\\u001b[2J'],
            value: 'A-1042\n\x1b[2J',
          },
        ],
      },
      {
        label: 'says',
        values: [
          {
            name: '',
            text: String.raw`"It arrived broken: \"refund\"."`,
            value: 'It arrived broken: "refund".',
          },
        ],
        isAside: true,
      },
      {
        label: 'checked',
        values: [
          { name: 'acme.orders (about order)', text: '{"damaged":true}', value: '{"damaged":true}' },
          { name: 'acme.fraud-check', text: 'failed: "outage"', value: '"outage"' },
        ],
        isAside: true,
      },
      { label: 'edited', text: 'by operator olga; earlier votes do not count' },
      { label: 'why', text: 'acme.refund-limit@1.0.0' },
      { label: 'reason', text: 'Refunds above EUR 100 need a person' },
      { label: 'authority', text: 'finance-7' },
      { label: 'asks', text: 'acme.desk\\u202e · run 3f2a91', emphasis: 'name' },
      { label: 'context', values: [{ name: 'ticket', text: '7', value: 7 }] },
      { label: 'options', text: '1  A' },
      { label: 'bounds', text: '0 to 9' },
      { label: 'votes', text: '1 of 2; waits for another person' },
      { label: 'read', text: 'Approving needs a confirmation that the arguments were read.' },
    ],
    actions: [
      { key: 'a', label: 'approve', decides: true },
      { key: 'r', label: 'reject', decides: true },
      { key: 'v', label: 'view whole' },
      { key: 'w', label: 'why' },
      { key: 'c', label: 'conversation' },
      { key: 'l', label: 'later' },
    ],
    argumentsDigest: request.argumentsDigest,
  })
})

test.each<[JsonValue, ReturnType<typeof findKeyArgument>, string]>([
  [{ note: 'x', amount: 180, count: 2 }, { name: 'amount', value: 180 }, 'acme.refunds amount 180, note x'],
  [{ empty: '', note: 'x' }, { name: 'note', value: 'x' }, 'acme.refunds note x'],
  [
    { currency: 'EUR', order: 'A-1042', amount: 180 },
    { name: 'amount', value: 180 },
    'acme.refunds amount 180 EUR, order A-1042',
  ],
  [
    { order: 'A-1042', payee: 'DE02', amount: 180 },
    { name: 'amount', value: 180 },
    'acme.refunds amount 180, payee DE02',
  ],
  [{ order: 'A-1, approved by Ana', amount: 180 }, { name: 'amount', value: 180 }, 'acme.refunds amount 180'],
  [{ list: [1] }, undefined, 'acme.refunds'],
  ['text', undefined, 'acme.refunds'],
])('the argument that says most of %j', (args, key, subject) => {
  expect([findKeyArgument(args), describeSubject({ ...request, arguments: args })]).toEqual([key, subject])
})

test('a summary is the subject of its task, and a question that of a task without a call', () => {
  expect(describeSubject({ ...request, ...grounds })).toBe('Refund 180 (none) for "A-1042"')
  expect(describeSubject({ kind: 'text', status: 'pending', title: 'Question', prompt: 'Which\n order?' })).toBe(
    'Which order?',
  )
})

test.each([
  ['approval', 'approval'],
  ['multi_option', 'choice'],
  ['aitl_escalation', 'agent question'],
  ['some_newer_kind', 'some newer kind'],
])('a task of kind %s is called %s', (kind, name) => {
  expect(nameOfKind(kind)).toBe(name)
})

test('shows the earlier call with the same effect key, and who approved it', () => {
  const previous = {
    tool: 'acme.refunds',
    run_id: '019a9f3e-0000-7000-8000-0000003f2a00',
    agent: 'acme.desk',
    version: '1.0.0',
    at: '2026-11-20T10:00:00.000Z',
    age_seconds: 2520,
    outcome: 'unknown',
    same_args: false,
    approved_by: ['operator:ana'],
  }
  const shown = readClientTask(
    {
      userTaskId: ID,
      runId: record.runId,
      apiCompletable: true,
      content: toTaskContent({
        ...record,
        prompt: 'effect_repeated: refund:A-1042 may have been made.',
        effect: { key: 'refund:A-1042', previous },
      }),
    },
    'acme.desk',
  )
  const rows = presentKeyedTask(shown, NOW).rows
  expect(rows.filter(({ label }) => label === 'repeats' || label === 'question')).toEqual([
    {
      label: 'repeats',
      text: 'refund:A-1042 may have been made at 2026-11-20 10:00:00 UTC, by run 3f2a00 of acme.desk; approved by operator ana; with other arguments',
      emphasis: 'danger',
      runId: '019a9f3e-0000-7000-8000-0000003f2a00',
    },
  ])
})

test('the arguments of a call that was made before stand directly below those of the one that waits', () => {
  const earlier = {
    run_id: record.runId,
    call_id: 'c1',
    tool: 'acme.refunds',
    at: '2026-11-20T10:00:00.000Z',
    state: 'executed',
  }
  const shown = readClientTask(
    {
      userTaskId: ID,
      runId: record.runId,
      apiCompletable: true,
      content: toTaskContent({
        ...record,
        prompt: `acme.limit@1.0.0 requires an approval. The same tool was called with other arguments before in run ${record.runId}, which this one repeats.`,
        arguments: { amount: 180, order: 'A-1', note: 'again' },
        context: { earlier_call: { ...earlier, arguments: { amount: 180, order: 'A-1\u202e' } } },
      }),
    },
    'acme.desk',
  )
  const { rows } = presentKeyedTask(shown, NOW)
  const values = rows.flatMap((row) =>
    'values' in row ? [[row.label, row.values.map(({ name, text }) => `${name} ${text}`)]] : [],
  )
  expect(values).toEqual([
    ['with', ['amount 180', 'order "A-1"', 'note "again"']],
    ['before', ['amount 180', String.raw`order "A-1\u202e"`]],
  ])
})

test('the card of an undo says in one line what is undone, for whom and why, and a policy without a condition once', () => {
  const undone = {
    ...record,
    kind: 'approval' as const,
    prompt: 'acme.reversals@1.0.0 requires an approval.',
    reason: 'Reversals need a person',
    tool: { name: 'reversals', ref: 'acme.reversals', version: '1.0.0', side_effect_class: 'non_idempotent_write' },
    arguments: { booking: 'BK-7' },
    policies: [
      {
        id: 'acme.reversals',
        version: '1.0.0',
        decision: 'require_approval' as const,
        matched: true,
        reason: 'Reversals need a person',
        authority_ref: null,
        source: 'policies/reversals.yaml:11',
      },
    ],
    context: {
      undoes: {
        run_id: '019a9f3e-0000-7000-8000-0000003f2a91',
        tool_call_id: 'call_2_1',
        tool: 'acme.bookings',
        asked_by: 'operator:olga',
        reason: 'booked twice\x1b[2J',
      },
    },
  }
  const { effect: _effect, edits: _edits, authorityRef: _authority, options: _options, ...task } = undone
  const { min: _min, max: _max, comprehensionRequired: _read, approvalsRequired: _votes, ...short } = task
  const content = toTaskContent(short)
  const shown = readClientTask({ userTaskId: ID, runId: record.runId, apiCompletable: true, content }, 'acme.intake')
  expect(presentKeyedTask(shown, NOW).rows.slice(1)).toStrictEqual([
    { label: 'undoes', text: 'acme.bookings of run 3f2a91, for operator olga: booked twice', emphasis: 'strong' },
    { label: 'why', text: 'Reversals need a person', place: 'acme.reversals@1.0.0  policies/reversals.yaml:11' },
    { label: 'asks', text: 'acme.intake · run 3f2a91', emphasis: 'name' },
  ])
})

test('the card says who was told, when and how, and its digest is that of the card without', () => {
  const task = readClientTask(
    { userTaskId: ID, runId: ID, apiCompletable: true, content: toTaskContent(record) },
    'acme.desk',
  )
  const people = {
    startedBy: 'operator ana',
    versionLabel: '1.0.0',
    you: 'operator bo',
    standing: 'may_answer',
    votes: [],
    candidates: [],
  } as const
  const told = [
    { channel: 'ops', event: 'task.created', state: 'delivered', at: '2026-11-20T10:40:02.110Z' },
    {
      channel: 'mail\u001B[2J',
      to: ['ana@acme.example', 'bo\u001B[2J@acme.example'],
      event: 'task.created',
      state: 'dead',
      at: '2026-11-20T10:41:00.000Z',
      error: 'no such mailbox\u001B[2J',
    },
    { channel: 'ops', event: 'task.expiring', state: 'waiting', at: '2026-11-20T11:25:00.000Z' },
    { channel: 'ops', event: 'task.later', state: 'lost', at: '2026-11-20T11:26:00.000Z' },
  ]
  const card = presentKeyedTask({ ...task, people: { ...people, told } }, NOW)
  expect(card.rows.find(({ label }) => label === 'told')).toEqual({
    label: 'told',
    text: [
      'ops: asked, delivered 2026-11-20 10:40 UTC',
      'mail: asked ana@acme.example, bo@acme.example, not delivered, given up 2026-11-20 10:41 UTC (no such mailbox)',
      'ops: reminded, due 2026-11-20 11:25 UTC',
      'ops: task.later, lost 2026-11-20 11:26 UTC',
    ].join('\n'),
  })
  expect(describeTaskView({ ...task, people: { ...people, told } })).toEqual(describeTaskView({ ...task, people }))
})
