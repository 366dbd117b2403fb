import { afterEach, expect, test, vi } from 'vitest'
import {
  answerTask,
  completeCall,
  followRun,
  isTerminal,
  isWaiting,
  iterateSessions,
  pendingTasks,
  runToEnd,
  sendSignal,
  waitForRun,
  type ConversationTimelineItem,
  type TaskDecision,
  type UserTask,
} from '../../clients/typescript/src/index.ts'
import { json, world } from './fake-fetch.ts'

const ROOT = 'run-root'
const CHILD = 'run-child'

afterEach(() => vi.useRealTimers())

const status = (status: string) => ({ runId: ROOT, status, output: status === 'Completed' ? { ok: true } : null })
const GET = `GET /v1/runs/${ROOT}`
const MESSAGES = `POST /v1/runs/${ROOT}/messages`

test.each([
  ['Running', false, false],
  ['WaitingForHITL', false, true],
  ['WaitingForAITL', false, true],
  ['WaitingForResponse', false, true],
  ['WaitingForGodot', false, true],
  ['Completed', true, false],
  ['Failed', true, false],
  ['Cancelled', true, false],
  ['Paused', false, false],
])('%s: terminal %s, waiting %s', (word, terminal, waiting) => {
  expect([isTerminal(word), isWaiting(word)]).toEqual([terminal, waiting])
})

/** A request that the server holds for so many seconds. */
const held = (seconds: number, answer: object) => () =>
  new Promise((resolve) => setTimeout(() => resolve(answer), seconds * 1000))

test('waits in requests that the server holds, one after the other', async () => {
  vi.useFakeTimers()
  const { client, asked } = world({
    [GET]: [held(20, status('Running')), held(20, status('Running')), held(5, status('WaitingForHITL'))],
  })
  const began = Date.now()
  const waiting = waitForRun(client, ROOT).then((run) => [run, Date.now() - began])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await waiting).toEqual([status('WaitingForHITL'), 45_000])
  expect(asked).toEqual([GET, GET, GET])
})

/** A request that something between cuts after so many seconds of silence. */
const cut = (seconds: number) => () =>
  new Promise((_, reject) => setTimeout(() => reject(new Error('cut')), seconds * 1000))

test('waits on where a proxy allows less, in shorter requests', async () => {
  vi.useFakeTimers()
  const { client, headers } = world({
    [GET]: [
      cut(5),
      status('Running'),
      cut(5),
      status('Running'),
      held(1, status('Running')),
      held(1, status('Completed')),
    ],
  })
  const began = Date.now()
  const waiting = waitForRun(client, ROOT).then((run) => [run, Date.now() - began])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await waiting).toEqual([status('Completed'), 12_000])
  expect(headers.map((each) => each.get('prefer'))).toEqual(['wait=20', null, 'wait=5', null, 'wait=1', 'wait=1'])
})

test.each([502, 504])('waits on after the %s of a proxy', async (word) => {
  const { client } = world({ [GET]: [json({}, word), status('Completed')] })
  expect(await waitForRun(client, ROOT)).toEqual(status('Completed'))
})

test('waits for a server that starts again once it has answered, and gives up in time where it never did', async () => {
  vi.useFakeTimers()
  const away = Array.from({ length: 6 }, () => cut(0))
  const restarted = world({ [GET]: [cut(3), ...away, status('Completed')] })
  const waiting = waitForRun(restarted.client, ROOT)
  const never = world({ [GET]: [cut(0)] })
  const refused = waitForRun(never.client, ROOT).catch((error: Error) => error.name)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await waiting).toEqual(status('Completed'))
  expect(await refused).toBe('SvcConnectionError')
  expect(never.asked.length).toBe(4)
})

test('waits through a pause where only the end counts', async () => {
  const { client } = world({ [GET]: [status('WaitingForHITL'), status('WaitingForHITL'), status('Completed')] })
  expect(await waitForRun(client, ROOT, { until: 'terminal', pollMs: 1 })).toEqual(status('Completed'))
})

test('asks ever more seldom where the server answers at once', async () => {
  vi.useFakeTimers()
  const running = Array.from({ length: 7 }, () => status('Running'))
  const { client, asked } = world({ [GET]: [...running, status('Completed')] })
  const began = Date.now()
  const waiting = waitForRun(client, ROOT).then((run) => [run, Date.now() - began])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await waiting).toEqual([status('Completed'), 250 + 500 + 1000 + 2000 + 4000 + 5000 + 5000])
  expect(asked).toEqual(Array.from({ length: 8 }, () => GET))
})

test('says what the server says of an unknown run', async () => {
  const { client } = world({})
  await expect(waitForRun(client, ROOT)).rejects.toMatchObject({ status: 404 })
})

/** A run that waits for these tasks, and where they are read. */
const waitsFor = (...ids: readonly string[]) => ({
  ...status('WaitingForHITL'),
  pending: ids.map((userTaskId) => ({ kind: 'approval', runId: ROOT, userTaskId, expiresAt: null, onTimeout: null })),
})
const taskOf = (id: string, more: object = {}) => ({
  [`GET /v1/tasks/${id}`]: [
    {
      user_task_id: id,
      run_id: ROOT,
      root_run_id: ROOT,
      kind: 'approval',
      title: id,
      status: 'pending',
      completable_via: ['api', 'operator'],
      ...more,
    },
  ],
})

test('finds the tasks of a run and of its descendants that nobody has answered', async () => {
  const { client, asked } = world({
    [GET]: [waitsFor('b', 'c', 'answered meanwhile')],
    ...taskOf('b', { run_id: CHILD, completable_via: ['operator'], kind: 'escalation' }),
    ...taskOf('c', { run_id: 'grandchild' }),
    ...taskOf('answered%20meanwhile', { status: 'completed' }),
  })
  expect((await pendingTasks(client, ROOT)).map((task) => ({ ...task, content: 0 }))).toEqual([
    { userTaskId: 'b', runId: CHILD, kind: 'escalation', title: 'b', apiCompletable: false, content: 0 },
    { userTaskId: 'c', runId: 'grandchild', kind: 'approval', title: 'c', apiCompletable: true, content: 0 },
  ])
  expect(asked.length).toBe(4)
})

test('a run that waits for a reply has no task', async () => {
  const pending = [{ kind: 'reply', runId: ROOT, prompt: 'Which?', expiresAt: null, onTimeout: null }]
  const { client, asked } = world({ [GET]: [{ ...status('WaitingForResponse'), pending }] })
  expect(await pendingTasks(client, ROOT)).toEqual([])
  expect(asked).toEqual([GET])
})

const task = (digest?: string): UserTask =>
  ({
    userTaskId: 'task',
    runId: ROOT,
    kind: 'approval',
    title: '',
    apiCompletable: true,
    content: { ...(digest && { arguments_digest: digest }) },
  }) as UserTask

test.each<[string, UserTask, boolean | TaskDecision, object]>([
  ['yes', task(), true, { approved: true }],
  ['no', task(), false, { approved: false }],
  [
    'yes to the arguments that were shown',
    task('sha256:1'),
    true,
    { approved: true, metadata: { 'svc/arguments_digest': 'sha256:1' } },
  ],
  [
    'no, with a reason',
    task(),
    { approved: false, comment: 'late' },
    { approved: false, metadata: { 'svc/comment': 'late' } },
  ],
  ['an option', task(), { selectedOptionId: 'a' }, { selectedOptionId: 'a' }],
  ['a text', task(), { textValue: '' }, { textValue: '' }],
  ['a number', task(), { numberValue: 0 }, { numberValue: 0 }],
  [
    'edited arguments, acknowledged',
    task('sha256:1'),
    {
      approved: true,
      arguments: { amount: 90 },
      acknowledged: true,
      metadata: { mine: 1, 'svc/comment': 'x' },
      comment: 'less',
    },
    {
      approved: true,
      metadata: {
        mine: 1,
        'svc/arguments_digest': 'sha256:1',
        'svc/comment': 'less',
        'svc/acknowledged': true,
        'svc/arguments': { amount: 90 },
      },
    },
  ],
])('answers %s', async (_, asked, decision, body) => {
  const { client, bodies } = world({ [MESSAGES]: [{ status: 'Running' }] })
  expect(await answerTask(client, ROOT, asked, decision)).toEqual({ status: 'Running' })
  expect(bodies).toEqual([{ runId: ROOT, userTaskId: 'task', ...body }])
})

test('walks over the pages of sessions', async () => {
  const page = (nextCursor: string | null, ...ids: string[]) => ({
    items: ids.map((id) => ({ id })),
    total: 5,
    nextCursor,
  })
  const { client, asked } = world({
    'GET /v1/agents/agent/sessions': [page('one', 'd', 'c'), page('two', 'b'), page(null, 'a')],
  })
  const ids: string[] = []
  for await (const session of iterateSessions(client, 'agent', { take: 2, skip: 1 })) ids.push(session.id)
  expect(ids).toEqual(['d', 'c', 'b', 'a'])
  expect(asked.map((each) => each.split('?')[1])).toEqual(['take=2&skip=1', 'take=2&cursor=one', 'take=2&cursor=two'])
})

const start = { 'POST /v1/agents/agent/runs': [{ runId: ROOT, sessionId: 's', status: 'Running' }] }

test('stays with a run to its end, asking for each task once', async () => {
  const { client, bodies } = world({
    ...start,
    [GET]: [waitsFor('a'), status('WaitingForResponse'), status('Completed')],
    ...taskOf('a'),
    [MESSAGES]: [{ status: 'Running' }],
  })
  const asked: string[] = []
  const result = await runToEnd(
    client,
    'agent',
    { order: 'A-1' },
    {
      onTask: (each) => (asked.push(each.userTaskId), true),
      onReply: () => 'The blue one.',
    },
  )
  expect(result).toEqual(status('Completed'))
  expect(asked).toEqual(['a'])
  expect(bodies).toEqual([
    { input: { order: 'A-1' } },
    { runId: ROOT, userTaskId: 'a', approved: true },
    { runId: ROOT, text: 'The blue one.' },
  ])
})

test('sends a reply again whose connection broke, with the key by which the server knows it', async () => {
  vi.useFakeTimers()
  const { client, asked, headers } = world({
    [GET]: [status('WaitingForResponse'), status('Completed')],
    [MESSAGES]: [cut(1), { status: 'Running' }],
  })
  const run = followRun(client, ROOT, { onReply: () => 'blue' })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await run).toEqual(status('Completed'))
  expect(asked).toEqual([GET, MESSAGES, MESSAGES, GET])
  const [, first, second] = headers.map((each) => each.get('idempotency-key'))
  expect(first).toMatch(/^[0-9a-f-]{36}$/)
  expect(second).toBe(first)
})

test('does not ask twice for a task that needs another approver, and waits for him', async () => {
  vi.useFakeTimers()
  const { client } = world({
    ...start,
    [GET]: [waitsFor('a'), waitsFor('a'), waitsFor('a'), status('Completed')],
    ...taskOf('a', { approvals_required: 2 }),
    [MESSAGES]: [{ status: 'WaitingForHITL' }],
  })
  let asked = 0
  const ending = runToEnd(client, 'agent', {}, { onTask: () => (asked++, true) })
  await vi.advanceTimersByTimeAsync(1000)
  expect(await ending).toEqual(status('Completed'))
  expect(asked).toBe(1)
})

test.each([
  ['a task that is left alone', waitsFor('a')],
  ['a question that is left alone', status('WaitingForResponse')],
])('gives back the waiting run for %s', async (_, there) => {
  const { client } = world({ ...start, [GET]: [there], ...taskOf('a') })
  expect(await runToEnd(client, 'agent', {}, { onTask: () => undefined })).toEqual(there)
  expect(await runToEnd(client, 'agent', {})).toEqual(there)
})

test('throws an answer that was refused, but not one that came second', async () => {
  const refusal = (code: string) => ({
    ...start,
    [GET]: [waitsFor('a'), status('Completed')],
    ...taskOf('a'),
    [MESSAGES]: [{ status: 'WaitingForHITL', error: 'Refused.', code }],
  })
  await expect(
    runToEnd(world(refusal('invalid_value')).client, 'agent', {}, { onTask: () => true }),
  ).rejects.toMatchObject({
    status: 202,
    code: 'invalid_value',
  })
  expect(await runToEnd(world(refusal('task_already_completed')).client, 'agent', {}, { onTask: () => true })).toEqual(
    status('Completed'),
  )
})

test('the type of a row narrows its content for the type checker', () => {
  const said = (item: ConversationTimelineItem): string => {
    if (item.content === null) return 'erased'
    switch (item.type) {
      case 'Reasoning':
        return `${item.content.usage.output_tokens} tokens`
      case 'ToolCall':
        return `${item.content.name} of class ${item.content.side_effect_class}`
      case 'RunCompleted':
        return item.content.status
      default:
        return item.type
    }
  }
  const row = { runId: ROOT, id: 'i', sequence: 1, ordinal: 1, tokensUsed: null, error: null }
  const times = { startedAt: null, finishedAt: null }
  expect([
    said({
      ...row,
      ...times,
      type: 'RunCompleted',
      content: { step_kind: 'RunCompleted', status: 'Failed', output: null, error: 'no' },
    }),
    said({ ...row, ...times, type: 'Output', content: { step_kind: 'Output', output: 1 } }),
    said({ ...row, ...times, type: 'Output', content: null }),
  ]).toEqual(['Failed', 'Output', 'erased'])
})

test('a signal and a report go to their routes, and no error names a token', async () => {
  const { client, asked } = world({
    [`POST /v1/runs/${ROOT}/signals/parcel.delivered`]: [status('Running')],
    'POST /v1/completions/svcc_1': [{ runId: ROOT, status: 'Running' }],
  })
  expect(await sendSignal(client, ROOT, 'parcel.delivered', { id: 'P-7' })).toEqual(status('Running'))
  expect(await completeCall(client, 'svcc_1', { result: 1 })).toEqual({ runId: ROOT, status: 'Running' })
  expect(asked).toHaveLength(2)
  const error = await completeCall(client, 'svcc_2', { error: 'no' }).catch((thrown: unknown) => thrown)
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('svcc_2')
})
