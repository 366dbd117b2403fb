/** Who starts does not approve: a key answers approvals only where its trigger says so. */
import { expect, test } from 'vitest'
import type {
  Conversation,
  ErrorBody,
  MessageAccepted,
  RunStatusBody,
  TaskContent,
  TaskItem,
  TaskList,
} from '../../src/spec/api.ts'
import type { TriggerView } from '../../src/operations/triggers.ts'
import { waitUntil } from '../wait-until.ts'
import { ask, desk, DESK, running, scripted, tool } from './running.ts'

/** Every way in which a key could answer an approval; a new field of messages belongs here. */
const ANSWERS: readonly (readonly [string, object])[] = [
  ['an approval', { approved: true }],
  ['a rejection', { approved: false }],
  ['the default', {}],
  ['the digest of the arguments', { approved: true, metadata: { 'svc/arguments_digest': 'sha256:0' } }],
  ['other arguments', { approved: true, metadata: { 'svc/arguments': { amount: 1 } } }],
  ['an acknowledgement', { approved: true, metadata: { 'svc/acknowledged': true } }],
  ['a text', { textValue: 'yes' }],
  ['an option', { selectedOptionId: 'approve' }],
  ['a name that is claimed', { approved: true, completedByEmail: 'ana@acme.example' }],
  ['a word in the conversation', { text: 'approved' }],
]

async function waiting(given: Parameters<typeof running>[0], input: object = { order: 'A-1042', amount: 180 }) {
  const served = await running(given)
  const { runId } = (await served.start(input)).body as { runId: string }
  await served.until(runId, 'engine.session.paused')
  const { pending } = await served.get<RunStatusBody>(`/v1/runs/${runId}`)
  const userTaskId = pending![0]!.userTaskId!
  const task = () => served.get<TaskItem>(`/v1/tasks/${userTaskId}`)
  const answer = (body: object, path = 'messages') =>
    served.post<MessageAccepted & ErrorBody>(`/v1/runs/${runId}/${path}`, { runId, userTaskId, ...body })
  const [{ triggerId }] = (await ask<{ items: [TriggerView] }>(served.server.operator, 'GET /triggers')).items
  return { ...served, runId, userTaskId, task, answer, triggerId }
}

test.each(['messages', 'input'])(
  'a key of a new trigger answers no approval over %s, whatever it sends',
  async (path) => {
    const { answer, task, get, runId, triggerId } = await waiting({ trigger: { allowApprovals: undefined } })
    const [before, run] = [await task(), await get(`/v1/runs/${runId}`)]
    for (const [way, body] of ANSWERS) {
      const refused = await answer(body, path)
      expect({ way, ...refused }).toEqual({
        way,
        status: 403,
        body: {
          error:
            'This API key may not answer approvals: its trigger starts the runs, and who starts does not approve. An operator can, with svc inbox or in the console.',
          code: 'approval_not_allowed',
          fix: `svc triggers update ${triggerId} --allow-approvals`,
          requestId: expect.any(String),
        },
      })
      expect(await task()).toEqual(before)
      expect(await get(`/v1/runs/${runId}`)).toEqual(run)
    }
  },
)

test('the same answer with the same Idempotency-Key counts once the trigger allows it', async () => {
  const { server, runId, userTaskId, secret, triggerId, until } = await waiting({ trigger: { allowApprovals: false } })
  const send = async () => {
    const response = await fetch(`${server.url}/v1/runs/${runId}/messages`, {
      method: 'POST',
      headers: { 'x-api-key': secret, 'content-type': 'application/json', 'idempotency-key': 'k1' },
      body: JSON.stringify({ runId, userTaskId, approved: true }),
    })
    return response.status
  }
  expect(await send()).toBe(403)
  await ask(server.operator, `PATCH /triggers/${triggerId}`, { allowApprovals: true })
  expect(await send()).toBe(202)
  await until(runId, 'engine.session.completed')
})

test('a key whose trigger says so approves, until the trigger says otherwise', async () => {
  const { server, answer, triggerId, until, runId } = await waiting({ trigger: { allowApprovals: true } })
  await ask(server.operator, `PATCH /triggers/${triggerId}`, { allowApprovals: false })
  expect((await answer({ approved: true })).body.code).toBe('approval_not_allowed')
  await ask(server.operator, `PATCH /triggers/${triggerId}`, { allowApprovals: true })
  expect((await answer({ approved: true })).status).toBe(202)
  await until(runId, 'engine.session.completed')
})

test('an operator approves, and so does the key that a command of theirs made for itself', async () => {
  const first = await waiting({ trigger: { allowApprovals: false } })
  const { runId, userTaskId, server, until } = first
  await ask(server.operator, `POST /runs/${runId}/messages`, { userTaskId, approved: true })
  await until(runId, 'engine.session.completed')

  const second = await waiting({ trigger: { allowApprovals: false }, key: { oneCommand: true, expiresInSeconds: 60 } })
  expect((await second.answer({ approved: true })).status).toBe(202)
})

test.each([
  [{ kind: 'text', prompt: 'Why?' }, { textValue: 'Damaged.' }],
  [{ kind: 'number', prompt: 'How many?' }, { numberValue: 2 }],
  [{ kind: 'multi_option', prompt: 'Where to?', options: ['Rome', 'Oslo'] }, { selectedOptionId: 'Oslo' }],
])('a key answers the question %o without the right', async (asked, given) => {
  const snapshot = scripted(
    [{ call: { tool: 'request_input', arguments: asked } }, { say: 'Thanks.' }],
    [tool('svc.request_input', { builtin: true })],
  )
  const { answer } = await waiting({ snapshot, trigger: { allowApprovals: false } }, {})
  expect(await answer(given)).toMatchObject({ status: 202, body: { status: 'Running' } })
})

test('a key without the right learns nothing of approvals that its trigger hides', async () => {
  const { server, start, post } = await running({ trigger: { allowApprovals: false, exposeTimeline: false } })
  const { runId } = (await start({ order: 'A-1042', amount: 180 })).body as { runId: string }
  const tasks = () => ask<{ items: { userTaskId: string }[] }>(server.operator, 'GET /tasks')
  await waitUntil(async () => (await tasks()).items.length > 0)
  const { userTaskId } = (await tasks()).items[0]!
  const answer = await post(`/v1/runs/${runId}/messages`, { runId, userTaskId, approved: true })
  expect(answer).toMatchObject({ status: 202, body: { code: 'task_not_found' } })
})

test(`the trigger of ${DESK} is made without the right, and shows whether it has it`, async () => {
  const { server } = await running({ snapshot: desk })
  const made = await ask<TriggerView>(server.operator, 'POST /triggers', { agent: DESK, type: 'api', name: 'web' })
  expect(made.allowApprovals).toBe(false)
  const changed = await ask<TriggerView>(server.operator, `PATCH /triggers/${made.triggerId}`, { allowApprovals: true })
  expect(changed).toEqual({ ...made, allowApprovals: true })
})

test.each([
  [{ allowApprovals: false }, ['operator']],
  [{ allowApprovals: true }, ['api', 'operator']],
])('with %o a key is told that %o may answer an approval, wherever it reads of it', async (trigger, via) => {
  const { get, events, operator, runId, task } = await waiting({ trigger })
  const { items } = await get<Conversation>(`/v1/runs/${runId}/conversation`)
  const { items: listed } = await get<TaskList>('/v1/tasks')
  await operator(`POST /runs/${runId}/cancel`, {})
  const told = (await events(runId)).events as unknown as {
    data: { task?: TaskContent; step?: { type: string; content: TaskContent } }
  }[]
  expect([
    (await task()).completable_via,
    listed[0]!.completable_via,
    ...items.flatMap(({ type, content }) => (type === 'UserTaskReq' ? [(content as TaskContent).completable_via] : [])),
    ...told.flatMap(({ data: { task, step } }) => [
      ...(task ? [task.completable_via] : []),
      ...(step?.type === 'UserTaskReq' ? [step.content.completable_via] : []),
    ]),
  ]).toEqual([via, via, via, via, via, via, via])
  const { items: shown } = (await operator('GET /tasks?all=true')) as { items: { apiCompletable: boolean }[] }
  expect(shown[0]!.apiCompletable).toBe(true)
})
