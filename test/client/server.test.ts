/** Each function of the client against a real server over loopback: what fakes cannot show is that both mean the same. */
import { expect, test } from 'vitest'
import {
  answerTask,
  cancelRun,
  continueSession,
  deleteSession,
  fileItem,
  fileRef,
  followRun,
  getSession,
  getTask,
  getValue,
  isConflict,
  isValueReference,
  iterateSessions,
  listTasks,
  pendingTasks,
  runToEnd,
  stepOf,
  SvcClient,
  updateSession,
  waitForRun,
  type ValueReference,
} from '../../clients/typescript/src/index.ts'
import type { ScriptTurn } from '../../src/spec/snapshot.ts'
import { running, scripted, tool } from '../server/running.ts'

const ORDER = { order: 'A-1042', amount: 180 }
const ASK = tool('svc.ask_user', { builtin: true })
const INPUT = tool('svc.request_input', { builtin: true })
const ask = (message: string): ScriptTurn => ({ call: { tool: 'ask_user', arguments: { message } } })
const request = (given: object): ScriptTurn => ({ call: { tool: 'request_input', arguments: { ...given } } })

async function connected(given: Parameters<typeof running>[0] = {}) {
  const { server, secret, agentId } = await running(given)
  return { client: new SvcClient({ apiKey: secret, baseUrl: server.url }), agentId }
}

const chat = scripted([{ say: 'You said ${input.message}.' }])

test('runToEnd approves what is asked, and tells of each event once and in order', async () => {
  const { client, agentId } = await connected()
  const events: string[] = []
  const calls: string[] = []
  const run = await runToEnd(client, agentId, ORDER, {
    onTask: ({ kind, content }) => (calls.push(`${kind} ${content.tool!.name}`), { approved: true, comment: 'fine' }),
    onEvent(event) {
      const step = stepOf(event)
      if (step?.type === 'ToolCall' && event.subject === 'engine.step.completed') calls.push(step.content?.name ?? '')
      if (event.kind === 'session') events.push(event.subject)
    },
  })
  expect([run.status, run.output]).toEqual(['Completed', { refunded: 180 }])
  expect(calls).toEqual(['lookup', 'approval refunds', 'refunds'])
  expect(events).toEqual([
    'engine.session.started',
    'engine.session.paused',
    'engine.session.resumed',
    'engine.session.completed',
  ])
})

test('waitForRun comes back at a pause, with `terminal` only at the end', async () => {
  const { client, agentId } = await connected()
  const { runId } = await client.startRun(agentId, { input: ORDER })
  expect(await waitForRun(client, runId)).toMatchObject({ status: 'WaitingForHITL', pending: [{ kind: 'approval' }] })
  const ended = waitForRun(client, runId, { until: 'terminal', pollMs: 10 })
  const [task] = await pendingTasks(client, runId)
  expect(await answerTask(client, runId, task!, true)).toMatchObject({ status: 'Running', pending: [] })
  expect(await ended).toMatchObject({ status: 'Completed', pending: [] })
  expect(await getTask(client, task!.userTaskId)).toMatchObject({ status: 'completed', root_run_id: runId })
})

test('a start that waits is answered at the pause', async () => {
  const { client, agentId } = await connected()
  const started = await client.startRun(agentId, { input: ORDER }, { waitSeconds: 20 })
  expect(started).toMatchObject({ status: 'WaitingForHITL', pending: [{ kind: 'approval' }] })
  const { items } = await listTasks(client, { status: 'pending' })
  expect(items.map(({ run_id: id, arguments: given }) => [id, given])).toEqual([[started.runId, { amount: 180 }]])
})

test('a question, a text, a number and an option are answered each in its way', async () => {
  const snapshot = scripted(
    [
      ask('Which order?'),
      request({ kind: 'text', prompt: 'Why?' }),
      request({ kind: 'number', prompt: 'How many?', min: 1, max: 3 }),
      request({
        kind: 'multi_option',
        prompt: 'Which?',
        options: [
          { id: 'red', label: 'Red' },
          { id: 'blue', label: 'Blue' },
        ],
      }),
      { say: 'Thank you.' },
    ],
    [ASK, INPUT],
  )
  const { client, agentId } = await connected({ snapshot })
  const asked: string[] = []
  const run = await runToEnd(
    client,
    agentId,
    {},
    {
      onReply: ({ pending }) => (asked.push(pending![0]!.prompt), 'A-1042'),
      onTask({ kind, content }) {
        asked.push(content.prompt!)
        if (kind === 'text') return { textValue: 'It broke.' }
        return kind === 'number' ? { numberValue: 2 } : { selectedOptionId: 'blue' }
      },
    },
  )
  expect([run.status, run.output]).toEqual(['Completed', 'Thank you.'])
  expect(asked).toEqual(['Which order?', 'Why?', 'How many?', 'Which?'])
  const { items } = await client.getConversation(run.runId)
  const results = items.flatMap(({ type, content }) => (type === 'ToolResult' ? [content?.result] : []))
  expect(results).toEqual(['A-1042', 'It broke.', 2, 'blue'])
})

test('a task that is left alone leaves the run waiting, and followRun takes it up again', async () => {
  const { client, agentId } = await connected()
  const left = await runToEnd(client, agentId, ORDER, { onTask: () => undefined })
  expect(left.status).toBe('WaitingForHITL')
  const rejected = await followRun(client, left.runId, { onTask: () => ({ approved: false, comment: 'too much' }) })
  // The script has no other answer.
  expect(rejected.status).toBe('Failed')
  const { items } = await client.getConversation(left.runId)
  expect(items.find(({ type }) => type === 'UserTaskRes')?.content).toMatchObject({
    approved: false,
    comment: 'too much',
  })
})

test('cancelRun ends a run that waits, and changes nothing of one that ended', async () => {
  const { client, agentId } = await connected()
  const { runId } = await client.startRun(agentId, { input: ORDER }, { waitSeconds: 20 })
  expect(await cancelRun(client, runId, { reason: 'not wanted' })).toEqual({ runId, status: 'Cancelled' })
  expect(await cancelRun(client, runId)).toEqual({ runId, status: 'Cancelled' })
  expect(await pendingTasks(client, runId)).toEqual([])
})

test('continueSession goes on with a session that has ended and was not erased', async () => {
  const { client, agentId } = await connected({ snapshot: chat, trigger: { allowDelete: true } })
  const first = await runToEnd(client, agentId, { message: 'one' })
  const session = first.sessionId!
  const second = await continueSession(client, agentId, session, { input: { message: 'two' } }, { waitSeconds: 20 })
  expect(second).toMatchObject({ sessionId: session, output: 'You said two.' })
  expect(await updateSession(client, session, { title: 'Two words', tags: ['vip'] })).toMatchObject({
    title: 'Two words',
    tags: ['vip'],
    rootRunId: second.runId,
    entryRunId: first.runId,
  })
  expect(await getSession(client, session)).toMatchObject({ title: 'Two words', runCount: 2, output: 'You said two.' })
  expect(await deleteSession(client, session)).toMatchObject({ output: null, erasedAt: expect.any(String) as string })
  const refusal = await continueSession(client, agentId, session, { input: { message: 'three' } }).catch(
    (error) => error,
  )
  expect([isConflict(refusal), refusal.code]).toEqual([true, 'session_erased'])
})

test('iterateSessions walks over all pages, newest first', async () => {
  const { client, agentId } = await connected({ snapshot: chat })
  const started: string[] = []
  for (const message of ['a', 'b', 'c', 'd', 'e'])
    started.unshift((await client.startRun(agentId, { input: { message }, tags: [message] })).sessionId)
  const seen: string[] = []
  for await (const { id } of iterateSessions(client, agentId, { take: 2 })) {
    // One that begins meanwhile moves no other.
    if (seen.length === 1) await client.startRun(agentId, { input: { message: 'late' } })
    seen.push(id)
  }
  expect(seen).toEqual(started)
  const tagged: string[] = []
  for await (const { id } of iterateSessions(client, agentId, { tag: 'b' })) tagged.push(id)
  expect(tagged).toEqual([started[3]])
})

test('a file is uploaded and given in an input and in a message', async () => {
  const read = tool('svc.read_file', { builtin: true })
  const snapshot = scripted(
    [
      { call: { tool: 'read_file', arguments: { filename: '${input.document.filename}' } } },
      ask('Another?'),
      { say: 'Read.' },
    ],
    [read, ASK],
  )
  const { client, agentId } = await connected({ snapshot, key: { allowUploads: true } })
  const upload = await client.uploadWorkspaceFile(new File(['one,two'], 'list.csv'))
  expect(upload.mediaType).toBe('text/csv')
  const run = await runToEnd(client, agentId, { document: { ...fileRef(upload) } })
  expect(run.status).toBe('WaitingForResponse')
  const more = await client.uploadWorkspaceFile(new TextEncoder().encode('three'), { filename: 'more.txt' })
  await client.sendRunMessage(run.runId, { text: 'Here.', files: [fileItem(more)] })
  expect((await waitForRun(client, run.runId)).output).toBe('Read.')
  const { items } = await client.getConversation(run.runId)
  expect(items.find(({ type }) => type === 'ToolResult')?.content).toMatchObject({
    result: { text: 'one,two' },
  })
})

test('a large value comes as a reference, and getValue reads it', async () => {
  const { client, agentId } = await connected({ snapshot: chat })
  const message = 'word '.repeat(2000)
  const { runId } = await runToEnd(client, agentId, { message })
  const { session } = await client.getConversation(runId, { values: 'ref' })
  expect(isValueReference(session.input)).toBe(true)
  expect(await getValue(client, session.input as unknown as ValueReference)).toEqual({ message })
})
