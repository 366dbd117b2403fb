import { expect, test } from 'vitest'
import { verifies } from '../api/verifies.ts'
import { openFixture } from './fixtures.ts'

const DESK = 'acme.refund-desk'
const TASK = '019f1111-1111-7111-8111-111111111111'
const OTHER = '019f2222-2222-7222-8222-222222222222'

async function waiting(trigger: Record<string, unknown> = {}) {
  const fixture = openFixture()
  await fixture.deploy(DESK)
  const { secret: key, keyId, triggerId } = await fixture.keyFor(DESK, { trigger })
  const { runId } = await fixture.storeRun(DESK, { triggerId, status: 'WaitingForHITL' })
  const send = (json: unknown, path = 'messages') => fixture.api(`/v1/runs/${runId}/${path}`, { key, json })
  return { ...fixture, key, keyId, runId, send }
}

verifies('messages.two-paths', async () => {
  const { send, runId, asked } = await waiting()
  const body = { runId, userTaskId: TASK, approved: true }
  const answers = await Promise.all(['input', 'messages'].map(async (path) => (await send(body, path)).json()))
  expect(answers).toEqual([
    { status: 'Running', pending: [] },
    { status: 'Running', pending: [] },
  ])
  expect(asked.answers[0]).toEqual(asked.answers[1])
})

verifies('messages.accepted', async () => {
  const { send, runId } = await waiting()
  const response = await send({ runId, text: 'Yes' })
  expect([response.status, await response.json()]).toEqual([202, { status: 'Running', pending: [] }])
})

test('hands over every field of the body, with the key as who answers', async () => {
  const { send, runId, asked, keyId } = await waiting()
  await send({
    runId: runId.toUpperCase(),
    userTaskId: TASK,
    approved: false,
    selectedOptionId: 'a',
    textValue: 't',
    numberValue: 1.5,
    metadata: { 'svc/comment': 'no' },
    text: 'because',
    message: 'unused',
    completedByEmail: 'bo@acme.example',
    extra: 1,
  })
  expect(asked.answers).toMatchObject([
    {
      runId,
      hidden: false,
      answer: {
        taskId: TASK,
        approved: false,
        selectedOptionId: 'a',
        textValue: 't',
        numberValue: 1.5,
        metadata: { 'svc/comment': 'no' },
        text: 'because',
        claimedEmail: 'bo@acme.example',
        by: { type: 'api_key', id: keyId },
      },
    },
  ])
})

verifies('messages.alias', async () => {
  const { send, runId, asked } = await waiting()
  await send({ runId, message: 'Yes' })
  await send({ runId, text: '', message: 'Yes' })
  expect(asked.answers.map(({ answer }) => answer.text)).toEqual(['Yes', 'Yes'])
})

verifies('messages.rejected', async () => {
  const { send, runId, doors } = await waiting()
  doors.answer = async () => ({
    status: 'WaitingForHITL',
    error: 'The run has no such user task.',
    code: 'task_not_found',
  })
  const response = await send({ runId, userTaskId: TASK })
  expect([response.status, await response.json()]).toEqual([
    202,
    { status: 'WaitingForHITL', error: 'The run has no such user task.', code: 'task_not_found', pending: [] },
  ])
})

test('tells the engine that the timeline is hidden', async () => {
  const { send, runId, asked } = await waiting({ exposeTimeline: false })
  await send({ runId, userTaskId: TASK })
  expect(asked.answers.map(({ hidden }) => hidden)).toEqual([true])
})

const refusals: readonly [string, (runId: string) => unknown, readonly { path: string; message: string }[]][] = [
  ['without runId', () => ({ userTaskId: TASK }), [{ path: '/runId', message: 'is required' }]],
  [
    'with the runId of another run',
    () => ({ runId: OTHER, userTaskId: TASK }),
    [{ path: '/runId', message: 'must equal the path' }],
  ],
  [
    'with nothing',
    (runId) => ({ runId }),
    [{ path: '', message: 'needs userTaskId, a non-empty text or message, or at least one file' }],
  ],
  [
    'with empty texts and no files',
    (runId) => ({ runId, text: '', message: '', files: [] }),
    [{ path: '', message: 'needs userTaskId, a non-empty text or message, or at least one file' }],
  ],
  [
    'with only a decision',
    (runId) => ({ runId, approved: true }),
    [{ path: '', message: 'needs userTaskId, a non-empty text or message, or at least one file' }],
  ],
  [
    'with a task id that is no UUID',
    (runId) => ({ runId, userTaskId: 'x' }),
    [{ path: '/userTaskId', message: 'must be a UUID' }],
  ],
  [
    'with values of wrong types',
    (runId) => ({
      runId,
      userTaskId: TASK,
      approved: 'yes',
      selectedOptionId: 1,
      textValue: {},
      numberValue: '1',
      metadata: [],
      completedByEmail: 'nobody',
    }),
    [
      { path: '/approved', message: 'must be true or false' },
      { path: '/selectedOptionId', message: 'must be a string' },
      { path: '/textValue', message: 'must be a string' },
      { path: '/numberValue', message: 'must be a number' },
      { path: '/metadata', message: 'must be an object' },
      { path: '/completedByEmail', message: 'must be an email address' },
    ],
  ],
  [
    'with files beside a task',
    (runId) => ({ runId, userTaskId: TASK, files: [{ svcFile: true, objectKey: 'k' }] }),
    [{ path: '/files', message: 'cannot come with userTaskId' }],
  ],
  [
    'with broken file items',
    (runId) => ({
      runId,
      files: [{ svcFile: false, objectKey: 'k' }, { objectKey: '' }, 'x', { svcFile: true, objectKey: 'k', size: 1 }],
    }),
    [
      { path: '/files/0/svcFile', message: 'must be true' },
      { path: '/files/1/svcFile', message: 'is required' },
      { path: '/files/1/objectKey', message: 'must have 1 to 1024 characters' },
      { path: '/files/2', message: 'must be an object' },
      { path: '/files/3/size', message: 'is not a known property' },
    ],
  ],
]

test.each([
  [
    'a list of too many files',
    { files: Array(90_000).fill(0) },
    [{ path: '/files', message: 'must have at most 100 entries' }],
  ],
  [
    'many unknown properties of a file',
    {
      files: [
        { svcFile: true, objectKey: 'k', ...Object.fromEntries([...Array(5000).keys()].map((n) => [`x${n}`, n])) },
      ],
    },
    [{ path: '/files/0/x0', message: 'is not a known property' }],
  ],
])('what is wrong with %s is not told at greater length than the body', async (_what, body, details) => {
  const { send, runId } = await waiting()
  expect(((await (await send({ runId, ...body })).json()) as { details: unknown }).details).toEqual(details)
})

test.each(refusals)('refuses a body %s', async (_what, body, details) => {
  const { send, runId, asked } = await waiting()
  const response = await send(body(runId))
  expect([response.status, ((await response.json()) as { details: unknown }).details]).toEqual([400, details])
  expect(asked.answers).toEqual([])
})

verifies('messages.run-id', async () => {
  const { send, runId } = await waiting()
  expect((await send({ runId: OTHER, text: 'x' })).status).toBe(400)
  expect((await send({ text: 'x' })).status).toBe(400)
  expect((await send({ runId, text: 'x' })).status).toBe(202)
})

verifies('messages.something', async () => {
  const { send, runId } = await waiting()
  const statuses = await Promise.all(
    [{}, { text: '' }, { files: [] }, { userTaskId: TASK }, { text: 'x' }, { message: 'x' }].map(
      async (each) => (await send({ runId, ...each })).status,
    ),
  )
  expect(statuses).toEqual([400, 400, 400, 202, 202, 202])
})

test('a body is needed', async () => {
  const { api, runId, key } = await waiting()
  const response = await api(`/v1/runs/${runId}/messages`, { key, method: 'POST' })
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([400, 'validation_failed'])
})

test('a file that is not finalized is 422', async () => {
  const { send, runId } = await waiting()
  const response = await send({ runId, files: [{ svcFile: true, objectKey: 'acme/files/receipt.png' }] })
  const { code, error } = (await response.json()) as { code: string; error: string }
  expect([response.status, code, error]).toEqual([
    422,
    'file_not_found',
    'No finalized file of the workspace is named receipt.png.',
  ])
})
