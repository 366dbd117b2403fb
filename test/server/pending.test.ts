/** What a run waits for, and the tasks of a key. Source: docs/design/http.md#waiting-and-pending */
import { expect, test } from 'vitest'
import { digestOfJson } from '../../src/base/digest.ts'
import type { PendingAnswer, RunStatusBody, TaskItem, TaskList, ValueReference } from '../../src/spec/api.ts'
import type { RecordedDecision } from '../../src/operations/decisions.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import { snapshotOf } from './fixtures.ts'
import { ask, caller, DESK, policiesFor, running, scripted, tool } from './running.ts'

const ORDER = { input: { order: 'A-1042', amount: 180 } }

/** Asks for the order, and answers with the reply. */
const asking: AgentSnapshot = snapshotOf(DESK, '1.0.0', {
  model: {
    provider: 'scripted',
    name: 'script',
    script: [{ call: { tool: 'ask_user', arguments: { message: 'Which order?' } } }, { say: 'Thank you.' }],
  },
  tools: [tool('svc.ask_user', { builtin: true })],
  policies: policiesFor('ask_user'),
})

async function paused(given: Parameters<typeof running>[0] = {}, body: object = ORDER) {
  const made = await running(given)
  const api = caller(made.server.url, made.secret)
  const started = await api.post<{ runId: string; pending: unknown }>(`/v1/agents/${made.agentId}/runs`, body)
  const { runId } = started.body
  await api.until(runId, 'engine.session.paused')
  const run = async () => api.get<RunStatusBody>(`/v1/runs/${runId}`)
  return { ...made, api, started: started.body, runId, run }
}

/** Events as a reader gets them. */
async function pausedEvent(url: string, secret: string, runId: string): Promise<readonly PendingAnswer[]> {
  const stop = new AbortController()
  const response = await fetch(`${url}/v1/runs/${runId}/stream`, {
    headers: { 'x-api-key': secret },
    signal: stop.signal,
  })
  let text = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const found = /^data: (.*"engine\.run\.paused".*)$/m.exec(text)
    if (!found) continue
    stop.abort()
    return (JSON.parse(found[1]!) as { data: { pending: readonly PendingAnswer[] } }).data.pending
  }
  throw new Error('The stream ended without a pause.')
}

test('an approval is pending in the status, the paused event and the task list, until it is given', async () => {
  const { api, started, runId, run, server, secret } = await paused()
  const { pending } = await run()
  const { items } = await api.get<TaskList>('/v1/tasks?status=pending')
  const userTaskId = items[0]!.user_task_id
  expect(started.pending).toEqual([])
  expect(pending).toEqual([
    {
      kind: 'approval',
      runId,
      userTaskId,
      prompt: 'An irreversible_action requires an approval, and no policy grants it.',
      call: { name: 'refunds', arguments: { amount: 180 }, digest: digestOfJson({ amount: 180 }) },
      expiresAt: null,
      onTimeout: null,
      votes: { have: 0, need: 1 },
    },
  ])
  expect(await pausedEvent(server.url, secret, runId)).toEqual(pending)
  expect(items).toMatchObject([{ user_task_id: userTaskId, status: 'pending', run_id: runId, root_run_id: runId }])
  expect(await api.get<TaskItem>(`/v1/tasks/${userTaskId}`)).toEqual(items[0])
  const answer = await api.post(`/v1/runs/${runId}/messages`, { runId, userTaskId, approved: true })
  expect(answer.body).toEqual({ status: 'Running', userTaskId, pending: [] })
  await api.until(runId, 'engine.session.completed')
  expect((await run()).pending).toEqual([])
  expect(await api.get('/v1/tasks?status=pending')).toEqual({ items: [], nextCursor: null })
  expect(await api.get('/v1/tasks')).toMatchObject({ items: [{ status: 'completed' }], nextCursor: null })
})

test('while the timeline is hidden, an approval is neither pending nor a task', async () => {
  const { api, runId, run, server, secret } = await paused({ trigger: { exposeTimeline: false } })
  const { status, pending } = await run()
  expect([status, pending]).toEqual(['WaitingForHITL', []])
  expect(await pausedEvent(server.url, secret, runId)).toEqual([])
  expect(await api.get('/v1/tasks')).toEqual({ items: [], nextCursor: null })
  const [task] = await server.store.tasksOfSession((await run()).sessionId as never)
  expect(await api.get(`/v1/tasks/${task!.id}`)).toMatchObject({ code: 'not_found', error: 'No such user task.' })
})

test('while the timeline is hidden, the question that waits for a reply is pending, and can be answered', async () => {
  const { api, runId, run, server, secret } = await paused({ snapshot: asking, trigger: { exposeTimeline: false } }, {})
  const question = [{ kind: 'reply', runId, prompt: 'Which order?', expiresAt: null, onTimeout: null }]
  const { status, pending } = await run()
  expect([status, pending]).toEqual(['WaitingForResponse', question])
  expect(await pausedEvent(server.url, secret, runId)).toEqual(question)
  const refused = await api.post(`/v1/runs/${runId}/messages`, { runId, userTaskId: runId })
  expect(refused.body).toMatchObject({ code: 'task_not_found', pending: question })
  const answer = await api.post(`/v1/runs/${runId}/messages`, { runId, text: 'A-1042' })
  expect(answer.body).toEqual({ status: 'Running', pending: [] })
})

test('a key finds the tasks of its own trigger alone', async () => {
  const { api, server, agentId } = await paused()
  const { items } = await api.get<TaskList>('/v1/tasks')
  await ask(server.operator, 'POST /triggers', { agent: DESK, type: 'api', name: 'other' })
  const { secret } = await ask(server.operator, 'POST /keys', { agent: DESK, trigger: 'other' })
  const other = caller(server.url, secret)
  expect(await other.get('/v1/tasks')).toEqual({ items: [], nextCursor: null })
  expect(await other.get(`/v1/tasks/${items[0]!.user_task_id}`)).toMatchObject({ code: 'run_out_of_scope' })
  expect(await other.get(`/v1/tasks/${agentId}`)).toMatchObject({ code: 'not_found' })
  expect(await ask(server.operator, 'GET /v1/tasks')).toMatchObject({ items: [{ run_id: items[0]!.run_id }] })
})

test('tasks come newest first, by cursor', async () => {
  const { api, agentId } = await paused()
  for (let n = 0; n < 2; n++) {
    const { body } = await api.post<{ runId: string }>(`/v1/agents/${agentId}/runs`, ORDER)
    await api.until(body.runId, 'engine.session.paused')
  }
  const all = (await api.get<TaskList>('/v1/tasks')).items.map(({ user_task_id }) => user_task_id)
  expect([all.length, all.toSorted().toReversed()]).toEqual([3, all])
  const first = await api.get<TaskList>('/v1/tasks?take=2&status=pending,completed')
  const second = await api.get<TaskList>(`/v1/tasks?take=2&cursor=${first.nextCursor}`)
  expect([...first.items, ...second.items].map(({ user_task_id }) => user_task_id)).toEqual(all)
  expect(second.nextCursor).toBe(null)
  expect(await api.get('/v1/tasks?status=open')).toMatchObject({ code: 'validation_failed' })
})

test('large arguments are whole in the status, and a reference in the event', async () => {
  const note = 'x'.repeat(5000)
  const refunds = tool('acme.refunds', { sideEffectClass: 'irreversible_action' })
  const snapshot = scripted([{ call: { tool: 'refunds', arguments: { note } } }], [refunds])
  const { api, runId, run, server, secret } = await paused({ snapshot })
  expect((await run()).pending![0]!.call!.arguments).toEqual({ note })
  const [pending] = await pausedEvent(server.url, secret, runId)
  const svcValue = digestOfJson({ note })
  const url = `/v1/runs/${runId}/values/${svcValue}`
  expect(pending!.call).toEqual({
    name: 'refunds',
    arguments: { svcValue, bytes: 5011, url } satisfies ValueReference,
    digest: svcValue,
  })
  expect(await api.get(url)).toEqual({ note })
  const decisions = async (query: string) =>
    (await ask<{ items: RecordedDecision[] }>(server.operator, `GET /decisions?run=${runId}${query}`)).items
  expect((await decisions('')).map(({ arguments: given }) => given)).toEqual([{ note }])
  expect((await decisions('&values=ref')).map(({ arguments: given }) => given)).toEqual([
    { svcValue, bytes: 5011, url },
  ])
  await ask(server.operator, `POST /runs/${runId}/cancel`, {})
  expect(await api.get(url), 'also when nobody waits for it any more').toEqual({ note })
})
