import { expect, test } from 'vitest'
import {
  cancelRun,
  continueSession,
  deleteSession,
  followRun,
  getSession,
  getTask,
  getValue,
  isValueReference,
  listTasks,
  pendingTasks,
  stepOf,
  SvcClient,
  updateSession,
  type StreamEvent,
} from '../../clients/typescript/src/index.ts'
import { json, world } from './fake-fetch.ts'

const ROOT = 'run-root'
const GET = `GET /v1/runs/${ROOT}`
const STREAM = `GET /v1/runs/${ROOT}/stream`
const MESSAGES = `POST /v1/runs/${ROOT}/messages`

const frame = (id: number, subject: string, data: object = {}): string =>
  `id: ${id}\ndata: ${JSON.stringify({ ts: '', kind: subject.split('.')[1], subject, data: { sessionId: 's', runId: ROOT, ...data } })}\n\n`
const stream = (...frames: string[]) =>
  new Response(frames.join(''), { headers: { 'content-type': 'text/event-stream' } })
const run = (status: string, more: object = {}) => ({ runId: ROOT, status, output: null, ...more })
const task = (id: string, more: object = {}) => ({
  user_task_id: id,
  run_id: ROOT,
  root_run_id: ROOT,
  kind: 'approval',
  title: id,
  status: 'pending',
  completable_via: ['api', 'operator'],
  ...more,
})

test('cancels a run, with a reason', async () => {
  const { client, asked, bodies } = world({ [`POST /v1/runs/${ROOT}/cancel`]: [{ runId: ROOT, status: 'Cancelled' }] })
  expect(await cancelRun(client, ROOT, { reason: 'too late' })).toEqual({ runId: ROOT, status: 'Cancelled' })
  expect([asked, bodies]).toEqual([[`POST /v1/runs/${ROOT}/cancel`], [{ reason: 'too late' }]])
})

test('continues a session by a start that names it', async () => {
  const started = { runId: 'next', sessionId: 's', status: 'Running' }
  const { client, bodies } = world({ 'POST /v1/agents/agent/runs': [started] })
  expect(await continueSession(client, 'agent', 's', { input: { message: 'And now?' } })).toEqual(started)
  expect(bodies).toEqual([{ input: { message: 'And now?' }, sessionId: 's' }])
})

test('reads, changes and erases a session', async () => {
  const path = '/v1/sessions/s'
  const session = { id: 's', title: 'Order' }
  const { client, asked, bodies } = world({
    [`GET ${path}`]: [session],
    [`PATCH ${path}`]: [session],
    [`DELETE ${path}`]: [{ ...session, title: null }],
  })
  expect(await getSession(client, 's')).toEqual(session)
  expect(await updateSession(client, 's', { title: 'Order' })).toEqual(session)
  expect(await deleteSession(client, 's')).toEqual({ ...session, title: null })
  expect([asked, bodies]).toEqual([[`GET ${path}`, `PATCH ${path}`, `DELETE ${path}`], [{ title: 'Order' }]])
})

test('reads the tasks that a status names as pending, without the timeline', async () => {
  const pending = [
    { kind: 'approval', userTaskId: 'a', runId: ROOT },
    { kind: 'approval', userTaskId: 'answered meanwhile', runId: ROOT },
    { kind: 'reply', runId: ROOT },
    { kind: 'escalation', userTaskId: 'b', runId: 'child' },
  ]
  const { client, asked } = world({
    [GET]: [run('WaitingForHITL', { pending })],
    'GET /v1/tasks/a': [task('a')],
    'GET /v1/tasks/answered%20meanwhile': [task('answered meanwhile', { status: 'completed' })],
    'GET /v1/tasks/b': [task('b', { run_id: 'child', kind: 'escalation', completable_via: ['operator'] })],
  })
  expect((await pendingTasks(client, ROOT)).map((each) => ({ ...each, content: undefined }))).toEqual([
    { userTaskId: 'a', runId: ROOT, kind: 'approval', title: 'a', apiCompletable: true },
    { userTaskId: 'b', runId: 'child', kind: 'escalation', title: 'b', apiCompletable: false },
  ])
  expect(asked).toEqual([GET, 'GET /v1/tasks/a', 'GET /v1/tasks/answered%20meanwhile', 'GET /v1/tasks/b'])
})

test('asks nothing more where nothing is pending', async () => {
  const { client, asked } = world({ [GET]: [run('Running', { pending: [] })] })
  expect(await pendingTasks(client, ROOT)).toEqual([])
  expect(asked).toEqual([GET])
})

test('lists tasks, and reads one', async () => {
  const page = { items: [task('a')], nextCursor: null }
  const { client, asked } = world({ 'GET /v1/tasks': [page], 'GET /v1/tasks/a': [task('a')] })
  expect(await listTasks(client, { status: 'pending', take: 10 })).toEqual(page)
  expect(await getTask(client, 'a')).toEqual(task('a'))
  expect(asked).toEqual(['GET /v1/tasks?status=pending&take=10', 'GET /v1/tasks/a'])
})

test('reads the value behind a reference, and sends the key to no other address', async () => {
  const url = `/v1/runs/${ROOT}/values/sha256:1?ordinal=2`
  const reference = { svcValue: 'sha256:1', bytes: 5000, url }
  const { client, asked } = world({ [`GET /v1/runs/${ROOT}/values/sha256:1`]: [json(['large'])] })
  expect(await getValue(client, reference)).toEqual(['large'])
  expect(asked).toEqual([`GET ${url}`])
  for (const other of ['https://evil.example/v1/runs/', '@evil.example/', '//evil.example/v1/runs/'])
    expect(() => getValue(client, { ...reference, url: other })).toThrow('is not the address of a value')
  expect([reference, {}, null, 'text', { svcValue: 1, url }].map(isValueReference)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ])
})

test('follows a run to its end: its tasks are decided, and its events come once and in order', async () => {
  const step = { type: 'Output', content: { step_kind: 'Output', output: 1 } }
  const { client } = world({
    [GET]: [
      run('WaitingForHITL', { pending: [{ kind: 'approval', userTaskId: 'a', runId: ROOT }] }),
      run('Completed', { pending: [] }),
    ],
    'GET /v1/tasks/a': [task('a')],
    [MESSAGES]: [{ status: 'Running' }],
    [STREAM]: [
      stream(
        frame(1, 'engine.session.started'),
        frame(2, 'engine.step.completed', { step }),
        frame(3, 'engine.run.completed'),
        frame(4, 'engine.session.completed'),
      ),
    ],
  })
  const events: StreamEvent[] = []
  const ended = await followRun(client, ROOT, { onTask: () => true, onEvent: (event) => void events.push(event) })
  expect(ended.status).toBe('Completed')
  expect(events.map(({ subject }) => subject)).toEqual([
    'engine.session.started',
    'engine.step.completed',
    'engine.run.completed',
    'engine.session.completed',
  ])
  expect(events.map(stepOf)).toEqual([undefined, step, undefined, undefined])
})

test('stops reading events when it leaves a task open', async () => {
  let reading: AbortSignal | null | undefined
  const client = new SvcClient({
    apiKey: 'svc_test',
    fetch: async (url, init) => {
      if (!url.endsWith('/stream')) return json(run('WaitingForResponse'))
      reading = init?.signal
      return new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  expect((await followRun(client, ROOT, { onEvent: () => undefined })).status).toBe('WaitingForResponse')
  expect(reading?.aborted).toBe(true)
})

test('a function says so when it is given a client of another copy', () => {
  expect(() => cancelRun({} as SvcClient, ROOT)).toThrow('may come from a second copy')
})
