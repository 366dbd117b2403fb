import { expect, test } from 'vitest'
import { isUuid } from '../../src/base/ids.ts'
import type { Conversation, MessageAccepted, RunStatusBody, TimelineItem } from '../../src/spec/api.ts'
import { verifies } from '../api/verifies.ts'
import { DESK, running, scripted, taskOf, tool } from './running.ts'

const ORDER = { order: 'A-1042', amount: 180 }
const input = (call: object) =>
  scripted(
    [{ call: { tool: 'request_input', arguments: call as never } }, { say: 'Thanks: ${results.request_input}' }],
    [tool('svc.request_input', { builtin: true })],
  )
const chat = scripted(
  [{ call: { tool: 'ask_user', arguments: { message: 'Which colour?' } } }, { say: 'Booked.' }],
  [tool('svc.ask_user', { builtin: true })],
)

/** Started and paused; `answer` sends a message and answers how the run went on. */
async function paused(given: Parameters<typeof running>[0] = {}, start: unknown = ORDER) {
  const house = await running(given)
  const { runId } = (await house.start(start)).body as { runId: string }
  const cursor = await house.until(runId, 'engine.session.paused')
  const conversation = () => house.get<Conversation>(`/v1/runs/${runId}/conversation`)
  const status = () => house.get<RunStatusBody>(`/v1/runs/${runId}`)
  const send = async (body: object) =>
    (await house.post<MessageAccepted>(`/v1/runs/${runId}/messages`, { runId, ...body })).body
  const end = async (subject = 'engine.session.completed') => {
    await house.until(runId, subject, cursor)
    return status()
  }
  return { ...house, runId, cursor, conversation, status, send, end }
}

const typed = (items: readonly TimelineItem[], type: string) => items.filter((item) => item.type === type)
const contentOf = (items: readonly TimelineItem[], type: string) =>
  typed(items, type)[0]!.content as Record<string, unknown>

verifies('service.hitl', async () => {
  const { status, conversation } = await paused()
  expect((await status()).status).toBe('WaitingForHITL')
  expect(contentOf((await conversation()).items, 'UserTaskReq')).toMatchObject({
    kind: 'approval',
    status: 'pending',
    arguments: { amount: 180 },
  })
})

verifies('service.deployed-only', async () => {
  const { start, operator, get, until, secret } = await running({ snapshot: scripted([{ say: 'one' }]) })
  const next = scripted([{ say: 'two' }], [], { version: '1.1.0' })
  await operator('POST /publish', { bundle: { root: DESK, agents: [next], documents: [], closureDigest: 'sha256:1' } })
  const outputOf = async () => {
    const { runId } = (await start()).body as { runId: string }
    await until(runId, 'engine.session.completed')
    return (await get<RunStatusBody>(`/v1/runs/${runId}`)).output
  }
  expect(await outputOf()).toBe('one')
  await operator('POST /deploy', { agent: DESK, version: '1.1.0' })
  expect(await outputOf()).toBe('two')
  expect(secret).toMatch(/^svc_/)
})

verifies('start.running', async () => {
  const { start } = await running({ snapshot: scripted([{ say: 'Hello.' }]) })
  expect(await start()).toMatchObject({ status: 202, body: { status: 'Running', totalTokensUsed: 0, output: null } })
})

verifies('start.no-duplicate-mark', async () => {
  const { start } = await running()
  expect((await start(ORDER)).body).not.toHaveProperty('duplicateDelivery')
})

verifies('start.concurrency', async () => {
  const { start } = await running({ trigger: { maxConcurrentRuns: 1 } })
  expect((await start(ORDER)).status).toBe(202)
  expect(await start(ORDER)).toMatchObject({ status: 429, body: { code: 'concurrency_limited' } })
})

verifies('start.plan', async () => {
  const { start } = await running({ config: { plan: { runs_per_day: 1 } } })
  expect((await start(ORDER)).status).toBe(202)
  expect(await start(ORDER)).toMatchObject({ status: 403, body: { code: 'plan_limit_exceeded' } })
})

verifies('start.file-reference', async () => {
  const { start, post } = await running({ snapshot: scripted([{ say: 'Read.' }]), key: { allowUploads: true } })
  const file = { svcFile: true, filename: 'missing.txt', mediaType: 'text/plain' }
  expect(await start({ document: file })).toMatchObject({ status: 422, body: { code: 'file_not_found' } })
  const presigned = await post<{ objectKey: string; uploadUrl: string; requiredHeaders: Record<string, string> }>(
    '/v1/file-library/presign',
    { filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 9 },
  )
  const { objectKey, uploadUrl, requiredHeaders } = presigned.body
  await fetch(uploadUrl, { method: 'PUT', headers: requiredHeaders, body: 'text' })
  const { body } = await post<{ filename: string }>('/v1/file-library/finalize', { objectKey, maxContentLength: 9 })
  expect((await start({ document: { ...file, filename: body.filename } })).status).toBe(202)
})

test.each([
  [
    'names no file',
    { forms: [{}, { 'a/b': { svcFile: true, filename: 'missing.txt' } }] },
    422,
    { path: '/input/forms/1/a~1b/filename', message: 'names no finalized file' },
  ],
  [
    'has no name',
    { document: { svcFile: true, objectKey: 'x/files/y' } },
    400,
    { path: '/input/document/filename', message: 'must be the leaf name of a file' },
  ],
])('a file reference that %s is told with its place', async (_, input, status, detail) => {
  const { start } = await running({ snapshot: scripted([{ say: 'Read.' }]) })
  expect(await start(input)).toMatchObject({ status, body: { details: [detail] } })
})

verifies('files.put-limit', async () => {
  const { post } = await running({ key: { allowUploads: true } })
  const presigned = await post<{ objectKey: string; uploadUrl: string; requiredHeaders: Record<string, string> }>(
    '/v1/file-library/presign',
    { filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 3 },
  )
  const { objectKey, uploadUrl, requiredHeaders } = presigned.body
  expect((await fetch(uploadUrl, { method: 'PUT', headers: requiredHeaders, body: 'text' })).ok).toBe(false)
  expect(await post('/v1/file-library/finalize', { objectKey, maxContentLength: 3 })).toMatchObject({
    status: 409,
    body: { code: 'not_uploaded' },
  })
})

test('a file without a byte is uploaded like any other, and its address takes no byte', async () => {
  const { post } = await running({ key: { allowUploads: true } })
  const send = async (body: string) => {
    const { body: presigned } = await post<{
      objectKey: string
      uploadUrl: string
      requiredHeaders: Record<string, string>
    }>('/v1/file-library/presign', { filename: 'empty.txt', mediaType: 'text/plain', maxContentLength: 0 })
    const { objectKey, uploadUrl, requiredHeaders } = presigned
    const { ok } = await fetch(uploadUrl, { method: 'PUT', headers: requiredHeaders, body })
    const finalized = await post<object>('/v1/file-library/finalize', { objectKey, maxContentLength: 0 })
    return { ok, ...finalized }
  }
  expect(await send('')).toMatchObject({ ok: true, status: 200, body: { sizeBytes: 0, alreadyFinalized: false } })
  expect(await send('x')).toMatchObject({ ok: false, status: 409, body: { code: 'not_uploaded' } })
})

verifies('values.uuid', async () => {
  const { conversation, runId, agentId } = await paused()
  const { session, runs, items } = await conversation()
  const ids = [
    runId,
    agentId,
    session.id,
    session.tenantId,
    session.agentVersionId,
    session.triggerId!,
    ...runs.map(({ id }) => id),
    ...items.map(({ id }) => id),
    taskOf({ session, runs, items }),
  ]
  expect(ids.filter((id) => !isUuid(id))).toEqual([])
})

verifies('values.timestamps', async () => {
  const { conversation, status } = await paused()
  const { session, runs, items } = await conversation()
  const times = [
    (await status()).startedAt,
    session.startedAt,
    ...[...runs, ...items].flatMap(({ startedAt, finishedAt }) => [startedAt, finishedAt]),
  ]
  expect(times.filter((time) => time !== null && new Date(time).toISOString() !== time)).toEqual([])
})

verifies('runs.get.error', async () => {
  const { start, until, get } = await running({
    snapshot: scripted([{ fail: { status: 400, message: 'bad prompt' } }]),
  })
  const { runId } = (await start()).body as { runId: string }
  await until(runId, 'engine.session.failed')
  expect(await get<RunStatusBody>(`/v1/runs/${runId}`)).toMatchObject({
    status: 'Failed',
    output: null,
    errorCode: 'model_error',
    error: expect.stringContaining('bad prompt'),
  })
})

verifies('runs.get.never-redacted', async () => {
  const { start, get, runId } = await finished({ exposeTimeline: false })
  expect(start).toBe(202)
  expect(await get<RunStatusBody>(`/v1/runs/${runId}`)).toMatchObject({ status: 'Completed', output: 'Hello.' })
})

async function finished(trigger: object = {}) {
  const house = await running({ snapshot: scripted([{ say: 'Hello.' }]), trigger })
  const { status, body } = await house.start({ message: 'Hi' })
  await house.until(body['runId']!, 'engine.session.completed')
  return {
    ...house,
    start: status,
    runId: body['runId']!,
    conversation: () => house.get<Conversation>(`/v1/runs/${body['runId']!}/conversation`),
  }
}

verifies('states.no-task', async () => {
  const { conversation } = await finished()
  expect(typed((await conversation()).items, 'UserTaskReq')).toEqual([])
})

verifies('conversation.shape', async () => {
  const { conversation } = await finished()
  const { session, runs, items, ...rest } = await conversation()
  expect([
    runs.map(({ sessionId, depth, parentRunId }) => [sessionId, depth, parentRunId]),
    items.length > 0,
    rest,
  ]).toEqual([[[session.id, 0, null]], true, { nextCursor: null }])
})

verifies('conversation.session', async () => {
  const { conversation, agentId, keyId } = await finished()
  const { session } = await conversation()
  expect(session).toEqual({
    id: expect.any(String),
    tenantId: expect.any(String),
    agentId,
    agentVersionId: expect.any(String),
    llmModel: 'script',
    triggerType: 'api',
    triggeredBy: keyId,
    triggerId: expect.any(String),
    triggerName: 'api',
    status: 'Completed',
    totalTokensUsed: expect.any(Number),
    output: 'Hello.',
    error: null,
    startedAt: expect.any(String),
    finishedAt: expect.any(String),
    input: { message: 'Hi' },
    startContext: expect.objectContaining({ userInput: { message: 'Hi' }, version: '1.0.0', llmModel: 'script' }),
  })
})

verifies('conversation.run', async () => {
  const { conversation, agentId, keyId, runId } = await finished()
  const { runs, session } = await conversation()
  expect(runs).toEqual([
    {
      id: runId,
      sessionId: session.id,
      agentId,
      agentVersionId: session.agentVersionId,
      parentRunId: null,
      depth: 0,
      status: 'Completed',
      totalTokensUsed: session.totalTokensUsed,
      output: 'Hello.',
      error: null,
      startedAt: session.startedAt,
      finishedAt: session.finishedAt,
      triggerType: 'api',
      triggeredBy: keyId,
      triggerId: session.triggerId,
      triggerName: 'api',
      input: { message: 'Hi' },
      llmModel: 'script',
      agentName: DESK,
      versionLabel: '1.0.0',
    },
  ])
})

verifies('conversation.item', async () => {
  const { conversation, runId } = await finished()
  for (const item of (await conversation()).items)
    expect(item).toEqual({
      runId,
      id: expect.any(String),
      sequence: expect.any(Number),
      ordinal: expect.any(Number),
      type: expect.any(String),
      content: expect.objectContaining({ run_id: runId, step_kind: item.type }),
      tokensUsed: item.type === 'Reasoning' ? expect.any(Number) : null,
      error: null,
      startedAt: expect.any(String),
      finishedAt: expect.any(String),
    })
})

verifies('conversation.ordinal', async () => {
  const { items } = await (await paused()).conversation()
  expect(items.map(({ ordinal }) => ordinal)).toEqual(items.map((_, index) => index + 1))
})

verifies('conversation.sequence', async () => {
  const { items } = await (await paused()).conversation()
  const sequences = items.map(({ sequence }) => sequence)
  expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b))
})

verifies('conversation.synthetic', async () => {
  const { items } = await (await finished()).conversation()
  expect(
    items
      .slice(-2)
      .map(({ type, content }) => [
        type,
        (content as { status: string; output: string }).status,
        (content as { output: string }).output,
      ]),
  ).toEqual([
    ['RunCompleted', 'Completed', 'Hello.'],
    ['SessionCompleted', 'Completed', 'Hello.'],
  ])
})

verifies('conversation.user-task-id', async () => {
  const { conversation } = await paused()
  expect(isUuid(String(contentOf((await conversation()).items, 'UserTaskReq')['user_task_id']))).toBe(true)
})

verifies('messages.approve', async () => {
  const { send, conversation, end } = await paused()
  expect(await send({ userTaskId: taskOf(await conversation()), approved: true })).not.toHaveProperty('error')
  expect(await end()).toMatchObject({ status: 'Completed', output: { refunded: 180 } })
})

verifies('messages.approved-default', async () => {
  const { send, conversation, end } = await paused()
  await send({ userTaskId: taskOf(await conversation()) })
  expect((await end()).output).toEqual({ refunded: 180 })
})

verifies('messages.reject', async () => {
  const snapshot = scripted(
    [{ call: { tool: 'refunds', arguments: { amount: 180 } } }, { say: 'Not refunded.' }],
    [tool('acme.refunds', { sideEffectClass: 'irreversible_action' })],
  )
  const { send, conversation, end } = await paused({ snapshot })
  await send({
    userTaskId: taskOf(await conversation()),
    approved: false,
    metadata: { 'svc/comment': 'already refunded' },
  })
  expect(await end()).toMatchObject({ status: 'Completed', output: 'Not refunded.' })
  const { items } = await conversation()
  expect(typed(items, 'ToolCall')).toEqual([])
  expect(contentOf(items, 'ToolResult')).toMatchObject({ name: 'refunds', is_error: true })
})

verifies('messages.metadata', async () => {
  const { send, conversation, end } = await paused()
  await send({ userTaskId: taskOf(await conversation()), metadata: { ticket: 'T-1' } })
  await end()
  expect(contentOf((await conversation()).items, 'UserTaskRes')).toMatchObject({ metadata: { ticket: 'T-1' } })
})

verifies('messages.option', async () => {
  const options = [
    { id: 'home', label: 'Home' },
    { id: 'work', label: 'Work' },
  ]
  const { send, conversation, end } = await paused({
    snapshot: input({ kind: 'multi_option', prompt: 'Where to?', options }),
  })
  const userTaskId = taskOf(await conversation())
  expect(await send({ userTaskId, selectedOptionId: 'moon' })).toMatchObject({
    status: 'WaitingForHITL',
    code: 'invalid_value',
  })
  await send({ userTaskId, selectedOptionId: 'work' })
  await end()
  expect(contentOf((await conversation()).items, 'UserTaskRes')).toMatchObject({ selected_option_id: 'work' })
})

verifies('messages.text-value', async () => {
  const { send, conversation, end } = await paused({ snapshot: input({ kind: 'text', prompt: 'Why?' }) })
  await send({ userTaskId: taskOf(await conversation()), textValue: 'Broken.' })
  await end()
  expect(contentOf((await conversation()).items, 'UserTaskRes')).toMatchObject({ text_value: 'Broken.' })
})

verifies('messages.number-value', async () => {
  const { send, conversation, end } = await paused({
    snapshot: input({ kind: 'number', prompt: 'How many?', min: 1, max: 5 }),
  })
  const userTaskId = taskOf(await conversation())
  expect(await send({ userTaskId, numberValue: 6 })).toMatchObject({ code: 'invalid_value' })
  await send({ userTaskId, numberValue: 2 })
  await end()
  expect(contentOf((await conversation()).items, 'UserTaskRes')).toMatchObject({ number_value: 2 })
})

verifies('messages.text', async () => {
  const { send, status, end, conversation } = await paused({ snapshot: chat })
  expect((await status()).status).toBe('WaitingForResponse')
  expect(await send({ text: 'Blue.' })).not.toHaveProperty('error')
  expect(await end()).toMatchObject({ status: 'Completed', output: 'Booked.' })
  expect(
    typed((await conversation()).items, 'UserMessage').map(({ content }) => (content as { text: string }).text),
  ).toContain('Blue.')
})

verifies('messages.files', async () => {
  const { send, end, post } = await paused({ snapshot: chat, key: { allowUploads: true } })
  const presigned = await post<{ objectKey: string; uploadUrl: string; requiredHeaders: Record<string, string> }>(
    '/v1/file-library/presign',
    { filename: 'a.txt', mediaType: 'text/plain', maxContentLength: 9 },
  )
  const { objectKey, uploadUrl, requiredHeaders } = presigned.body
  await fetch(uploadUrl, { method: 'PUT', headers: requiredHeaders, body: 'blue' })
  await post('/v1/file-library/finalize', { objectKey, maxContentLength: 9 })
  expect(await send({ files: [{ svcFile: true, objectKey }] })).not.toHaveProperty('error')
  expect((await end()).status).toBe('Completed')
})

verifies('messages.hidden-timeline', async () => {
  const { send, status, operator } = await paused({ trigger: { exposeTimeline: false } })
  const { items } = (await operator('GET /tasks')) as { items: { userTaskId: string }[] }
  const before = await status()
  expect(await send({ userTaskId: items[0]!.userTaskId })).toMatchObject({
    status: 'WaitingForHITL',
    code: 'task_not_found',
  })
  expect(await status()).toEqual(before)
})

verifies('states.waiting', async () => {
  const twice = scripted(
    [
      { call: { tool: 'ask_user', arguments: { message: 'One?' } } },
      { call: { tool: 'ask_user', arguments: { message: 'Two?' } } },
      { say: 'Done.' },
    ],
    [tool('svc.ask_user', { builtin: true })],
  )
  const { send, status, until, runId, cursor, end } = await paused({ snapshot: twice })
  await send({ text: 'a' })
  await until(runId, 'engine.session.paused', cursor)
  expect((await status()).status).toBe('WaitingForResponse')
  await send({ text: 'b' })
  expect((await end()).status).toBe('Completed')
})

verifies('messages.operator-only', async () => {
  const snapshot = scripted(
    [{ call: { tool: 'lookup' } }, { call: { tool: 'lookup' } }, { say: 'Done.' }],
    [tool('acme.orders.lookup', { sideEffectClass: 'read_only' })],
    {
      limits: { max_loop_iterations: 1, on_limit: 'escalate' },
    },
  )
  const { send, conversation, operator, runId, end } = await paused({ snapshot })
  const userTaskId = taskOf(await conversation())
  expect(await send({ userTaskId, approved: true })).toMatchObject({ status: 'WaitingForHITL', code: 'operator_only' })
  await operator(`POST /runs/${runId}/messages`, { userTaskId, approved: true })
  expect((await end()).status).toBe('Completed')
})
