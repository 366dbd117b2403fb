import { afterEach, expect, test, vi } from 'vitest'
import {
  answerTask,
  isTerminal,
  isWaiting,
  iterateSessions,
  pendingTasks,
  runToEnd,
  waitForRun,
  type ConversationTimelineItem,
  type TaskDecision,
  type UserTask,
} from '../../clients/typescript/src/index.ts'
import { world } from './fake-fetch.ts'

const ROOT = 'run-root'
const CHILD = 'run-child'

afterEach(() => vi.useRealTimers())

const status = (status: string) => ({ runId: ROOT, status, output: status === 'Completed' ? { ok: true } : null })
const frames = (...subjects: string[]): Response =>
  new Response(
    subjects
      .map((subject, at) => {
        const kind = subject.split('.')[1]
        return `id: ${at + 1}\ndata: ${JSON.stringify({ ts: '', kind, subject, data: { sessionId: 's', runId: ROOT } })}\n\n`
      })
      .join(''),
    { headers: { 'content-type': 'text/event-stream' } },
  )

const GET = `GET /v1/runs/${ROOT}`
const STREAM = `GET /v1/runs/${ROOT}/stream`
const CONVERSATION = `GET /v1/runs/${ROOT}/conversation`
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

test('waits along the stream, for a pause as for an end', async () => {
  const { client, asked } = world({
    [GET]: [status('Running'), status('WaitingForHITL')],
    [STREAM]: [frames('engine.session.started', 'engine.step.completed', 'engine.run.paused')],
  })
  expect(await waitForRun(client, ROOT)).toEqual(status('WaitingForHITL'))
  expect(asked).toEqual([GET, STREAM, GET])
})

test('waits through a pause where only the end counts', async () => {
  const { client } = world({
    [GET]: [status('WaitingForHITL'), status('WaitingForHITL'), status('Completed')],
    [STREAM]: [
      frames('engine.session.started', 'engine.run.paused', 'engine.run.completed', 'engine.session.completed'),
    ],
  })
  expect(await waitForRun(client, ROOT, { until: 'terminal' })).toEqual(status('Completed'))
})

test('polls where there is no stream, ever more seldom', async () => {
  vi.useFakeTimers()
  const running = Array.from({ length: 7 }, () => status('Running'))
  const { client, asked } = world({ [GET]: [...running, status('Completed')] })
  const times: number[] = []
  const began = Date.now()
  const waiting = waitForRun(client, ROOT).then((run) => (times.push(Date.now() - began), run))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await waiting).toEqual(status('Completed'))
  expect(asked.filter((each) => each === GET).length).toBe(8)
  expect(times).toEqual([250 + 500 + 1000 + 2000 + 4000 + 5000])
})

test('says what the server says of an unknown run', async () => {
  const { client } = world({})
  await expect(waitForRun(client, ROOT)).rejects.toMatchObject({ status: 404 })
})

const run = (id: string, parentRunId: string | null, depth: number, status = 'WaitingForHITL') => ({
  id,
  parentRunId,
  depth,
  status,
})
const req = (ordinal: number, runId: string, id: string, more: object = {}) => ({
  ordinal,
  runId,
  type: 'UserTaskReq',
  content: {
    user_task_id: id,
    kind: 'approval',
    title: id,
    status: 'pending',
    completable_via: ['api', 'operator'],
    ...more,
  },
})
const res = (ordinal: number, runId: string, id: string) => ({
  ordinal,
  runId,
  type: 'UserTaskRes',
  content: { user_task_id: id },
})

test('finds the tasks of a run and of its descendants that nobody has answered', async () => {
  const { client, asked } = world({
    // A server that says nothing of what is pending.
    [GET]: [status('WaitingForHITL')],
    [CONVERSATION]: [
      {
        session: {},
        runs: [run(CHILD, ROOT, 1), run('grandchild', CHILD, 2), run(ROOT, null, 0), run('ended', ROOT, 1, 'Failed')],
        items: [
          req(9, 'grandchild', 'c'),
          req(1, ROOT, 'answered'),
          req(3, CHILD, 'b', { completable_via: ['operator'], kind: 'escalation' }),
          res(2, ROOT, 'answered'),
          req(4, 'ended', 'd'),
          req(5, ROOT, 'e', { status: 'expired' }),
          { ordinal: 6, runId: ROOT, type: 'RunCompleted', content: null },
        ],
      },
    ],
  })
  expect((await pendingTasks(client, ROOT)).map((task) => ({ ...task, content: 0 }))).toEqual([
    { userTaskId: 'b', runId: CHILD, kind: 'escalation', title: 'b', apiCompletable: false, content: 0 },
    { userTaskId: 'c', runId: 'grandchild', kind: 'approval', title: 'c', apiCompletable: true, content: 0 },
  ])
  expect(asked).toEqual([GET, `${CONVERSATION}?stepContent=full`])
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

test('walks over the pages of sessions, each session once', async () => {
  const page = (total: number, ...ids: string[]) => ({ items: ids.map((id) => ({ id })), total })
  const { client, asked } = world({
    'GET /v1/agents/agent/sessions': [page(4, 'd', 'c'), page(5, 'c', 'b'), page(5, 'a')],
  })
  const ids: string[] = []
  for await (const session of iterateSessions(client, 'agent', { take: 2 })) ids.push(session.id)
  expect(ids).toEqual(['d', 'c', 'b', 'a'])
  expect(asked.map((each) => each.split('?')[1])).toEqual(['take=2&skip=0', 'take=2&skip=2', 'take=2&skip=4'])
})

test('stops at an empty page, whatever the total says', async () => {
  const { client, asked } = world({ 'GET /v1/agents/agent/sessions': [{ items: [], total: 9 }] })
  expect(await iterateSessions(client, 'agent').next()).toEqual({ done: true, value: undefined })
  expect(asked.length).toBe(1)
})

const waiting = (...items: object[]) => ({ session: {}, runs: [run(ROOT, null, 0)], items })
const start = { 'POST /v1/agents/agent/runs': [{ runId: ROOT, sessionId: 's', status: 'Running' }] }

test('stays with a run to its end, asking for each task once', async () => {
  const { client, bodies } = world({
    ...start,
    [GET]: [status('WaitingForHITL'), status('WaitingForResponse'), status('Completed')],
    [CONVERSATION]: [waiting(req(1, ROOT, 'a'))],
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

test('does not ask twice for a task that needs another approver, and waits for him', async () => {
  vi.useFakeTimers()
  const { client } = world({
    ...start,
    [GET]: [status('WaitingForHITL'), status('WaitingForHITL'), status('WaitingForHITL'), status('Completed')],
    [CONVERSATION]: [waiting(req(1, ROOT, 'a', { approvals_required: 2 }))],
    [MESSAGES]: [{ status: 'WaitingForHITL' }],
  })
  let asked = 0
  const ending = runToEnd(client, 'agent', {}, { onTask: () => (asked++, true) })
  await vi.advanceTimersByTimeAsync(1000)
  expect(await ending).toEqual(status('Completed'))
  expect(asked).toBe(1)
})

test.each([
  ['a task that is left alone', status('WaitingForHITL')],
  ['a question that is left alone', status('WaitingForResponse')],
])('gives back the waiting run for %s', async (_, there) => {
  const { client } = world({ ...start, [GET]: [there], [CONVERSATION]: [waiting(req(1, ROOT, 'a'))] })
  expect(await runToEnd(client, 'agent', {}, { onTask: () => undefined })).toEqual(there)
  expect(await runToEnd(client, 'agent', {})).toEqual(there)
})

test('throws an answer that was refused, but not one that came second', async () => {
  const refusal = (code: string) => ({
    ...start,
    [GET]: [status('WaitingForHITL'), status('Completed')],
    [CONVERSATION]: [waiting(req(1, ROOT, 'a'))],
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
  ]).toEqual(['Failed', 'Output'])
})
