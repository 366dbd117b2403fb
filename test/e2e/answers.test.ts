import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { svc } from './binary.ts'
import { openClerk, type Clerk } from './clerk.ts'

const OTHER_ID = '01a1fc2b-1d46-7001-8f16-ba4d0d7ecc03'

let clerk: Clerk
beforeAll(async () => {
  clerk = await openClerk()
})
afterAll(() => clerk.close())

const outputOf = async (runId: string): Promise<unknown> => {
  const { status, output } = await clerk.api.settled(runId)
  expect(status).toBe('Completed')
  return output
}

describe('an approval', () => {
  test('is found in the conversation and approved by default; the call is made once', async () => {
    const runId = await clerk.begin('sign')
    expect((await clerk.api.get(`/v1/runs/${runId}`)).body).toMatchObject({ status: 'WaitingForHITL', output: null })
    const task = await clerk.api.task(runId)
    expect(task).toMatchObject({
      kind: 'approval',
      status: 'pending',
      tool: { name: 'sign', ref: 'acme.sign', version: '1.0.0', side_effect_class: 'non_idempotent_write' },
      arguments: { form: 'A-2' },
      reason: 'Forms are signed by a person',
      approvals_required: 1,
      approvals_received: 0,
      completable_via: ['api', 'operator'],
    })
    const before = clerk.ledger().length
    const { status, body } = await clerk.api.send(runId, { userTaskId: task.user_task_id })
    expect([status, body]).toEqual([
      202,
      { status: expect.stringMatching(/^(Running|Completed)$/), userTaskId: task.user_task_id, pending: [] },
    ])
    expect(await outputOf(runId)).toBe('Signed {"done":true,"form":"A-2"}')
    expect(
      clerk
        .ledger()
        .slice(before)
        .map((call) => [call.tool, call.arguments]),
    ).toEqual([['acme.sign', { form: 'A-2' }]])
  })

  test('that is rejected makes no call, and the reason reaches the model', async () => {
    const runId = await clerk.begin('sign')
    const { user_task_id: userTaskId } = await clerk.api.task(runId)
    const before = clerk.ledger().length
    const { body } = await clerk.api.send(runId, { userTaskId, approved: false, text: 'wrong form' }, 'input')
    expect(body.error).toBeUndefined()
    expect(await outputOf(runId)).toContain('wrong form')
    expect(clerk.ledger()).toHaveLength(before)
    const res = (await clerk.api.items(runId)).find(({ type }) => type === 'UserTaskRes').content
    expect(res).toMatchObject({ user_task_id: userTaskId, outcome: 'rejected', approved: false, comment: 'wrong form' })
  })

  test('is answered once: the same again is a duplicate, another answer is refused', async () => {
    const runId = await clerk.begin('sign')
    const { user_task_id: userTaskId } = await clerk.api.task(runId)
    await clerk.api.send(runId, { userTaskId, approved: true })
    await outputOf(runId)
    const again = await clerk.api.send(runId, { userTaskId, approved: true })
    expect([again.status, again.body]).toEqual([202, { status: 'Completed', userTaskId, duplicate: true, pending: [] }])
    const other = await clerk.api.send(runId, { userTaskId, approved: false })
    expect([other.status, other.body.code]).toEqual([202, 'task_already_completed'])
    expect(other.body.error).toMatch(/\.$/)
  })

  test('of ten answers that race counts once', async () => {
    const runId = await clerk.begin('sign')
    const { user_task_id: userTaskId } = await clerk.api.task(runId)
    const before = clerk.ledger().length
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => clerk.api.send(runId, { userTaskId, approved: at % 2 === 0 })),
    )
    expect(answers.every(({ status }) => status === 202)).toBe(true)
    expect(answers.filter(({ body }) => !body.error && !body.duplicate)).toHaveLength(1)
    const approved = !((await outputOf(runId)) as string).includes('error')
    expect(clerk.ledger().length - before).toBe(approved ? 1 : 0)
  })

  test('runs with the arguments that the approver wrote', async () => {
    const runId = await clerk.begin('sign')
    const { user_task_id: userTaskId } = await clerk.api.task(runId)
    const wrong = await clerk.api.send(runId, { userTaskId, metadata: { 'svc/arguments': { form: 7 } } })
    expect([wrong.status, wrong.body.code, wrong.body.status]).toEqual([202, 'invalid_value', 'WaitingForHITL'])
    await clerk.api.send(runId, { userTaskId, metadata: { 'svc/arguments': { form: 'B-9' } } })
    expect(await outputOf(runId)).toBe('Signed {"done":true,"form":"B-9"}')
    expect(clerk.ledger().at(-1).arguments).toEqual({ form: 'B-9' })
  })

  test('is refused when the arguments are not the ones that were reviewed', async () => {
    const runId = await clerk.begin('sign')
    const { user_task_id: userTaskId, arguments_digest: digest } = await clerk.api.task(runId)
    const answer = (digest: string) =>
      clerk.api.send(runId, { userTaskId, metadata: { 'svc/arguments_digest': digest } })
    expect((await answer(`sha256:${'0'.repeat(64)}`)).body).toMatchObject({
      code: 'arguments_changed',
      status: 'WaitingForHITL',
    })
    expect((await answer(digest)).body.error).toBeUndefined()
    await outputOf(runId)
  })

  test('of two people needs two credentials; no key counts', async () => {
    const runId = await clerk.begin('pay')
    const { user_task_id: userTaskId, arguments_digest: digest } = await clerk.api.task(runId)
    const vote = { userTaskId, approved: true, metadata: { 'svc/arguments_digest': digest } }
    // Neither the key that started the run, nor another one, under whatever name.
    const second = await clerk.key()
    for (const sent of [
      clerk.api.send(runId, vote),
      second.send(runId, vote),
      clerk.api.send(runId, { ...vote, completedByEmail: 'ana@acme.example' }),
    ])
      expect((await sent).body).toMatchObject({ status: 'WaitingForHITL', code: 'not_an_approver' })
    const approve = await clerk.approver('ana@acme.example')
    expect((await approve(userTaskId, digest)).stdout).toContain('1 of 2')
    expect((await approve(userTaskId, digest)).stdout).toContain('counts already')
    expect(await clerk.api.task(runId)).toMatchObject({
      approvals_required: 2,
      approvals_received: 1,
      status: 'pending',
    })
    const other = await clerk.approver('bo@acme.example')
    expect((await other(userTaskId, digest)).code).toBe(0)
    expect(await outputOf(runId)).toBe('Paid {"done":true,"amount":5}')
  })

  test('of two people ends with one rejection', async () => {
    const runId = await clerk.begin('pay')
    const { user_task_id: userTaskId, arguments_digest: digest } = await clerk.api.task(runId)
    const approve = await clerk.approver('cleo@acme.example')
    expect((await approve(userTaskId, digest)).code).toBe(0)
    const second = await clerk.key()
    const before = clerk.ledger().length
    await second.send(runId, { userTaskId, approved: false })
    expect(await outputOf(runId)).toContain('error')
    expect(clerk.ledger()).toHaveLength(before)
  })

  test('that must be understood needs the acknowledgement, and its arguments stay as they are', async () => {
    const runId = await clerk.begin('wipe')
    const task = await clerk.api.task(runId)
    expect(task).toMatchObject({ comprehension_required: true, on_reject: 'fail', on_modify: 'reject' })
    expect(Date.parse(task.expires_at)).toBeGreaterThan(Date.now())
    const userTaskId = task.user_task_id
    expect((await clerk.api.send(runId, { userTaskId, approved: true })).body).toMatchObject({
      code: 'acknowledgement_required',
      status: 'WaitingForHITL',
    })
    const edited = { 'svc/acknowledged': true, 'svc/arguments': { record: 'R-2' } }
    expect((await clerk.api.send(runId, { userTaskId, metadata: edited })).body.code).toBe('invalid_value')
    await clerk.api.send(runId, { userTaskId, approved: true, metadata: { 'svc/acknowledged': true } })
    expect(await outputOf(runId)).toBe('Wiped {"done":true,"record":"R-1"}')
  })

  test('that is rejected under on_reject fail ends the run as rejected', async () => {
    const runId = await clerk.begin('wipe')
    const { user_task_id: userTaskId } = await clerk.api.task(runId)
    await clerk.api.send(runId, { userTaskId, approved: false, metadata: { 'svc/comment': 'keep it' } })
    const { status, errorCode, error } = await clerk.api.settled(runId)
    expect([status, errorCode]).toEqual(['Failed', 'rejected'])
    expect(error).toContain('keep it')
  })

  test('of a sub-agent shows on the root, and is answered through either run', async () => {
    for (const through of ['root', 'child'] as const) {
      const root = await clerk.begin('child')
      expect((await clerk.api.get(`/v1/runs/${root}`)).body.status).toBe('WaitingForHITL')
      const { runs, items } = (await clerk.api.get(`/v1/runs/${root}/conversation`)).body
      expect(runs.map((run: any) => [run.depth, run.parentRunId, run.agentName, run.status])).toEqual([
        [0, null, 'acme.clerk', 'WaitingForHITL'],
        [1, root, 'acme.helper', 'WaitingForHITL'],
      ])
      const child = runs[1].id
      const asked = items.find(({ type }: any) => type === 'UserTaskReq')
      expect(asked.runId).toBe(child)
      const { body } = await clerk.api.send(through === 'root' ? root : child, {
        userTaskId: asked.content.user_task_id,
      })
      expect(body.error).toBeUndefined()
      expect(await outputOf(root)).toContain('signed')
      expect((await clerk.api.get(`/v1/runs/${child}`)).body).toMatchObject({ status: 'Completed', output: 'signed' })
    }
  })
})

describe('a task of kind', () => {
  test.each([
    ['text', { textValue: 'blue' }, 'Got blue'],
    ['text', { textValue: '' }, 'Got '],
    ['number', { numberValue: 10 }, 'Got 10'],
    ['option', { selectedOptionId: 'b' }, 'Got b'],
  ])('%s takes %j', async (name, value, output) => {
    const runId = await clerk.begin(name)
    const { user_task_id: userTaskId } = await clerk.api.task(runId)
    expect((await clerk.api.send(runId, { userTaskId, ...value })).body.error).toBeUndefined()
    expect(await outputOf(runId)).toBe(output)
  })

  test.each([
    ['text', {}],
    ['text', { approved: true }],
    ['text', { numberValue: 1 }],
    ['number', { numberValue: 0 }],
    ['number', { numberValue: 11 }],
    ['number', { textValue: '5' }],
    ['option', { selectedOptionId: 'green' }],
    ['option', { selectedOptionId: 'Red' }],
    ['option', { approved: true }],
    ['sign', { textValue: 'yes' }],
    ['sign', { selectedOptionId: 'yes' }],
  ])('%s refuses %j and stays pending', async (name, value) => {
    const runId = await clerk.begin(name)
    const { user_task_id: userTaskId } = await clerk.api.task(runId)
    const { status, body } = await clerk.api.send(runId, { userTaskId, ...value })
    expect([status, body.status, body.code]).toEqual([202, 'WaitingForHITL', 'invalid_value'])
    expect(await clerk.api.task(runId)).toMatchObject({ user_task_id: userTaskId, status: 'pending' })
  })

  test('multi_option shows its options, number its bounds', async () => {
    const option = await clerk.api.task(await clerk.begin('option'))
    expect(option).toMatchObject({
      kind: 'multi_option',
      prompt: 'Which colour?',
      options: [
        { id: 'r', label: 'Red' },
        { id: 'b', label: 'Blue' },
      ],
    })
    const number = await clerk.api.task(await clerk.begin('number'))
    expect(number).toMatchObject({ kind: 'number', prompt: 'How many?', min: 1, max: 10 })
  })
})

describe('a run that waits for a reply', () => {
  test.each([
    [{ text: 'Ana' }, 'Ana'],
    [{ message: 'Bo' }, 'Bo'],
    [{ text: 'Ana', message: 'Bo' }, 'Ana'],
    [{ text: '', message: 'Bo' }, 'Bo'],
  ])('takes %j', async (body, heard) => {
    const runId = await clerk.begin('chat')
    expect((await clerk.api.get(`/v1/runs/${runId}`)).body.status).toBe('WaitingForResponse')
    expect(await clerk.api.task(runId)).toBeUndefined()
    const answer = await clerk.api.send(runId, body, 'input')
    expect([answer.status, answer.body.error]).toEqual([202, undefined])
    expect(await outputOf(runId)).toBe(`You said ${heard}`)
    const said = (await clerk.api.items(runId)).filter(({ type }) => type === 'UserMessage')
    expect(said.map(({ content }) => content.text)).toEqual([expect.any(String), heard])
  })

  test('cannot be resumed by a task that is not there', async () => {
    const runId = await clerk.begin('chat')
    const { body } = await clerk.api.send(runId, { userTaskId: OTHER_ID })
    expect(body).toMatchObject({ code: 'task_not_found', status: 'WaitingForResponse' })
  })
})

describe('a run that waits for no reply refuses one with 202, an error and its own status', () => {
  test.each([
    ['hello', 'Completed'],
    ['down', 'Failed'],
    ['sign', 'WaitingForHITL'],
    ['text', 'WaitingForHITL'],
  ])('%s', async (name, status) => {
    const answer = await clerk.api.send(await clerk.begin(name), { text: 'hi' })
    expect(answer.body.pending).toHaveLength(status === 'WaitingForHITL' ? 1 : 0)
    expect([answer.status, answer.body]).toEqual([
      202,
      {
        status,
        error: expect.stringMatching(/\.$/),
        code: 'run_not_waiting',
        pending: expect.any(Array),
      },
    ])
  })
})

describe('only an operator', () => {
  test('answers what a policy escalates', async () => {
    const runId = await clerk.begin('secret')
    const task = await clerk.api.task(runId)
    expect(task).toMatchObject({ kind: 'escalation', completable_via: ['operator'] })
    const { body } = await clerk.api.send(runId, { userTaskId: task.user_task_id, approved: true })
    expect(body).toMatchObject({ status: 'WaitingForHITL', code: 'operator_only' })
    const at = ['--data', clerk.project.data]
    expect((await svc(['approve', task.user_task_id, ...at])).code).toBe(0)
    expect(await outputOf(runId)).toBe('Signed {"done":true,"form":"secret"}')
  })

  test("answers a sub-agent's question that its parent hands on", async () => {
    const runId = await clerk.begin('escalation')
    expect((await clerk.api.get(`/v1/runs/${runId}`)).body.status).toBe('WaitingForHITL')
    const task = await clerk.api.task(runId)
    expect(task).toMatchObject({ kind: 'aitl_escalation', prompt: 'Which form?', completable_via: ['operator'] })
    const { body } = await clerk.api.send(runId, { userTaskId: task.user_task_id, textValue: 'form C' })
    expect(body.code).toBe('operator_only')
    expect((await svc(['answer', task.user_task_id, '--text', 'form C', '--data', clerk.project.data])).code).toBe(0)
    expect(await outputOf(runId)).toContain('I was told form C.')
  })

  test("is not needed where the parent's model answers the question", async () => {
    const runId = await clerk.begin('question')
    expect(await outputOf(runId)).toMatch(/^After the answer .*I was told form B\./)
    const types = (await clerk.api.items(runId)).map(({ type }) => type)
    expect(types).toContain('AitlRequest')
    expect(types).toContain('AitlResponse')
  })
})

describe('a call of which nobody knows whether it happened', () => {
  let runIds: string[]
  beforeAll(async () => {
    runIds = await Promise.all(Array.from({ length: 3 }, () => clerk.begin('post')))
  })
  const answer = (task: string, ...args: string[]) =>
    svc(['answer', task, ...args, '--json', '--data', clerk.project.data])
  const sent = (runId: string): number => clerk.ledger().filter(({ run }) => run.id === runId).length

  test('is never sent again by itself, nor by a key', async () => {
    for (const runId of runIds) {
      const task = await clerk.api.task(runId)
      expect(task).toMatchObject({
        kind: 'anomaly_review',
        arguments: { letter: 'L-1' },
        completable_via: ['operator'],
      })
      expect(task.options.map(({ id }: { id: string }) => id)).toEqual(['happened', 'retry', 'skip', 'stop'])
      const { body } = await clerk.api.send(runId, { userTaskId: task.user_task_id, selectedOptionId: 'retry' })
      expect(body).toMatchObject({ status: 'WaitingForHITL', code: 'operator_only' })
      expect(sent(runId)).toBe(1)
      expect((await clerk.api.items(runId)).filter(({ type }) => type === 'ToolResult')).toEqual([])
    }
  })

  test('goes on with the result that the operator saw, which must fit the schema', async () => {
    const { user_task_id: task } = await clerk.api.task(runIds[0]!)
    const wrong = await answer(task, '--option', 'happened', '--text', '{"posted":"maybe"}')
    expect([wrong.code, wrong.stdout]).toEqual([6, ''])
    expect((await answer(task, '--option', 'happened', '--text', '{"posted":true}')).code).toBe(0)
    expect(await outputOf(runIds[0]!)).toBe('Posted {"posted":true}')
    expect(sent(runIds[0]!)).toBe(1)
  })

  test('is told to the model as not executed when the operator skips it', async () => {
    const { user_task_id: task } = await clerk.api.task(runIds[1]!)
    expect((await answer(task, '--option', 'skip')).code).toBe(0)
    expect(await outputOf(runIds[1]!)).toMatch(/Not executed/)
    expect(sent(runIds[1]!)).toBe(1)
  })

  test('ends the run when the operator stops it', async () => {
    const { user_task_id: task } = await clerk.api.task(runIds[2]!)
    expect((await answer(task, '--option', 'stop')).code).toBe(0)
    expect((await clerk.api.settled(runIds[2]!)).status).toBe('Failed')
  })
})

describe('a malformed body is 400 and names the place', () => {
  let runId: string
  beforeAll(async () => {
    runId = await clerk.begin('sign')
  })
  const task = OTHER_ID
  const file = { svcFile: true, objectKey: 'a/files/b' }
  test.each<[string, (runId: string) => unknown, ...string[]]>([
    ['no body', () => undefined, ''],
    ['no runId', () => ({ text: 'hi' }), '/runId'],
    ["another run's id", () => ({ runId: OTHER_ID, text: 'hi' }), '/runId'],
    ['nothing to resume with', (runId) => ({ runId }), ''],
    ['empty text and no files', (runId) => ({ runId, text: '', message: '', files: [] }), ''],
    ['only an approval', (runId) => ({ runId, approved: true }), ''],
    ['a task id that is no UUID', (runId) => ({ runId, userTaskId: 'abc' }), '/userTaskId'],
    ['an approval that is text', (runId) => ({ runId, userTaskId: task, approved: 'yes' }), '/approved'],
    ['a number that is text', (runId) => ({ runId, userTaskId: task, numberValue: '1' }), '/numberValue'],
    ['metadata that is a list', (runId) => ({ runId, userTaskId: task, metadata: [] }), '/metadata'],
    ['an address that is none', (runId) => ({ runId, userTaskId: task, completedByEmail: 'ana' }), '/completedByEmail'],
    ['files beside a task', (runId) => ({ runId, userTaskId: task, files: [file] }), '/files'],
    ['files that are no list', (runId) => ({ runId, files: file }), '/files'],
    ['a file without its mark', (runId) => ({ runId, files: [{ objectKey: 'a' }] }), '/files/0/svcFile'],
    ['a file with a false mark', (runId) => ({ runId, files: [{ ...file, svcFile: false }] }), '/files/0/svcFile'],
    ['a file without a key', (runId) => ({ runId, files: [{ svcFile: true }] }), '/files/0/objectKey'],
    ['a file with a property too many', (runId) => ({ runId, files: [{ ...file, path: 'x' }] }), '/files/0/path'],
  ])('%s', async (_, body, ...paths) => {
    for (const route of ['messages', 'input']) {
      const answer = await clerk.api.post(`/v1/runs/${runId}/${route}`, body(runId))
      expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed'])
      expect(answer.body.details.map((each: { path: string }) => each.path)).toEqual(paths)
    }
  })

  test('and leaves the task as it was', async () => {
    expect(await clerk.api.task(runId)).toMatchObject({ status: 'pending' })
  })

  test('while unknown properties are ignored', async () => {
    const { user_task_id: userTaskId } = await clerk.api.task(runId)
    const { body } = await clerk.api.send(runId, { userTaskId, approved: true, source: 'mobile', userId: 7 })
    expect(body.error).toBeUndefined()
    await outputOf(runId)
  })
})

describe('a cancelled run', () => {
  test('ends with its tasks and its sub-agents, and stays cancelled', async () => {
    const root = await clerk.begin('child')
    const { user_task_id: userTaskId } = await clerk.api.task(root)
    const cancelled = await clerk.api.post(`/v1/runs/${root}/cancel`, { reason: 'no longer wanted' })
    expect([cancelled.status, cancelled.body]).toEqual([202, { runId: root, status: 'Cancelled' }])
    const { runs, session, items } = (await clerk.api.get(`/v1/runs/${root}/conversation`)).body
    expect(runs.map(({ status }: any) => status)).toEqual(['Cancelled', 'Cancelled'])
    expect(session.status).toBe('Cancelled')
    expect(items.find(({ type }: any) => type === 'UserTaskReq').content.status).toBe('cancelled')
    const late = await clerk.api.send(root, { userTaskId })
    expect(late.body).toMatchObject({ status: 'Cancelled', code: 'task_already_completed' })
    expect((await clerk.api.post(`/v1/runs/${root}/cancel`)).body).toEqual({ runId: root, status: 'Cancelled' })
    expect((await clerk.api.get(`/v1/runs/${root}`)).body).toMatchObject({
      status: 'Cancelled',
      errorCode: 'cancelled',
      output: null,
    })
  })

  test('is ended while its model still thinks', async () => {
    const runId = await clerk.api.start(clerk.agentId, { case: 'slow' })
    const { status, body } = await clerk.api.post(`/v1/runs/${runId}/cancel`)
    expect([status, body]).toEqual([202, { runId, status: 'Cancelled' }])
    expect((await clerk.api.settled(runId)).status).toBe('Cancelled')
  })

  test('that had ended before keeps its status', async () => {
    const runId = await clerk.begin('hello')
    expect((await clerk.api.post(`/v1/runs/${runId}/cancel`, {})).body).toEqual({ runId, status: 'Completed' })
    expect((await clerk.api.get(`/v1/runs/${runId}`)).body.status).toBe('Completed')
  })
})
