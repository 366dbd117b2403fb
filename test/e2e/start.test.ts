import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { svc, svcJson } from './binary.ts'
import { caller } from './caller.ts'
import { openClerk, type Clerk } from './clerk.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

let clerk: Clerk
let runs: string
beforeAll(async () => {
  clerk = await openClerk()
  runs = `/v1/agents/${clerk.agentId}/runs`
})
afterAll(() => clerk.close())

const sessions = async (): Promise<number> => (await clerk.api.get(`/v1/agents/${clerk.agentId}/sessions`)).body.total

test('a start is answered with 202 and the ids to go on with', async () => {
  const { status, body, headers } = await clerk.api.post(runs, { input: { case: 'hello' } })
  expect(status).toBe(202)
  expect(headers.get('content-type')).toMatch(/^application\/json/)
  expect(headers.get('x-request-id')).toBeTruthy()
  expect(body).toEqual({
    sessionId: expect.stringMatching(UUID),
    runId: expect.stringMatching(UUID),
    status: 'Running',
    totalTokensUsed: 0,
    output: null,
    agentId: clerk.agentId,
    triggerId: clerk.access.triggerId,
    pending: [],
  })
  expect(await clerk.api.settled(body.runId)).toEqual({
    pending: [],
    runId: body.runId,
    status: 'Completed',
    output: 'Hello.',
    sessionId: body.sessionId,
    agentId: clerk.agentId,
    agentVersionId: expect.stringMatching(UUID),
    versionLabel: '1.0.0',
    totalTokensUsed: 10,
    startedAt: expect.stringMatching(TIME),
    finishedAt: expect.stringMatching(TIME),
  })
})

test('a run that fails says so in error and errorCode, and its rows do too', async () => {
  const runId = await clerk.begin('down')
  const { body } = await clerk.api.get(`/v1/runs/${runId}`)
  expect(body).toMatchObject({ status: 'Failed', output: null, error: 'The model is down.', errorCode: 'model_error' })
  const { session, runs: summaries, items } = (await clerk.api.get(`/v1/runs/${runId}/conversation`)).body
  expect([session.status, session.error]).toEqual(['Failed', 'The model is down.'])
  expect([summaries[0].status, summaries[0].error]).toEqual(['Failed', 'The model is down.'])
  expect(items.at(-1)).toMatchObject({
    type: 'SessionCompleted',
    content: { status: 'Failed', error: 'The model is down.' },
  })
})

test('a limit ends the run with an error that names it, its value and what was used', async () => {
  const { error, errorCode, status } = await clerk.api.settled(await clerk.begin('loop'))
  expect({ status, errorCode }).toEqual({ status: 'Failed', errorCode: 'limit_exceeded' })
  expect(error).toMatch(/max_loop_iterations.*6.*6/)
})

test('errors of tools go to the model, each in its place, and the run goes on', async () => {
  const runId = await clerk.begin('tools')
  expect(await clerk.api.settled(runId)).toMatchObject({ status: 'Completed', output: 'All tried.' })
  const results = (await clerk.api.items(runId)).filter(({ type }) => type === 'ToolResult')
  const told = Object.fromEntries(
    results.map(({ content }) => [content.tool_call_id, [content.is_error, JSON.stringify(content.result)]]),
  )
  expect(told).toEqual({
    call_1_1: [false, '{"sky":"snow"}'],
    call_1_2: [true, expect.stringContaining('no such city')],
    call_1_3: [true, expect.stringContaining('the printer is on fire')],
    call_1_4: [true, expect.stringContaining('/city')],
    call_1_5: [true, expect.stringContaining('nothing')],
  })
})

describe('what is refused, with its code, leaves no session behind', () => {
  test.each<[string, unknown, number, string, string[]]>([
    ['input that breaks the contract', { input: {} }, 422, 'input_contract_violation', ['/input/case']],
    ['no body at all where the contract wants something', undefined, 422, 'input_contract_violation', ['/input/case']],
    [
      'a value out of bounds',
      { input: { case: 'hello', amount: 0 } },
      422,
      'input_contract_violation',
      ['/input/amount'],
    ],
    ['a property too many', { input: { case: 'hello', more: 1 } }, 422, 'input_contract_violation', ['/input/more']],
    ['input that is a list', { input: [] }, 400, 'validation_failed', ['/input']],
    ['input that is text', { input: 'hello' }, 400, 'validation_failed', ['/input']],
    ['input that is null', { input: null }, 400, 'validation_failed', ['/input']],
    ['a body that is a list', [], 400, 'validation_failed', ['']],
    [
      'a file that the workspace does not have',
      { input: { case: 'file', document: { svcFile: true, filename: 'none.txt', mediaType: 'text/plain' } } },
      422,
      'file_not_found',
      ['/input/document/filename'],
    ],
  ])('%s', async (_, body, status, code, paths) => {
    const before = await sessions()
    const answer = await clerk.api.post(runs, body)
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(answer.body.error).toMatch(/^[A-Z].*\.$/)
    expect(answer.body.requestId).toBe(answer.headers.get('x-request-id'))
    expect((answer.body.details ?? []).map(({ path }: { path: string }) => path)).toEqual(paths)
    expect(await sessions()).toBe(before)
  })

  const raw = (body: string, type?: string) =>
    fetch(clerk.server.url + runs, {
      method: 'POST',
      headers: { 'X-API-Key': clerk.access.secret, ...(type !== undefined && { 'Content-Type': type }) },
      body: new TextEncoder().encode(body),
    })
  test.each<[string, string, string | undefined, number, string]>([
    ['a body that is no JSON', '{"input": ', 'application/json', 400, 'invalid_json'],
    ['a body without a type', '{"input":{"case":"hello"}}', undefined, 415, 'unsupported_media_type'],
    ['a form', 'input=hello', 'application/x-www-form-urlencoded', 415, 'unsupported_media_type'],
    [
      'a body beyond 1 MiB',
      JSON.stringify({ pad: 'x'.repeat(1024 * 1024) }),
      'application/json',
      413,
      'body_too_large',
    ],
  ])('%s', async (_, body, type, status, code) => {
    const before = await sessions()
    const response = await raw(body, type)
    const said = (await response.json()) as { code: string; requestId: string }
    expect([response.status, said.code]).toEqual([status, code])
    expect(said.requestId).toBe(response.headers.get('x-request-id'))
    expect(await sessions()).toBe(before)
  })

  test('a charset in the media type is fine', async () => {
    expect((await raw('{"input":{"case":"hello"}}', 'application/json; charset=utf-8')).status).toBe(202)
  })
})

test('unknown properties beside input are ignored', async () => {
  const { status } = await clerk.api.post(runs, { input: { case: 'hello' }, priority: 'high', idempotencyKey: 'x' })
  expect(status).toBe(202)
})

describe('an Idempotency-Key', () => {
  test('starts one run however often and however fast it is sent', async () => {
    const before = await sessions()
    const send = () => clerk.api.post(runs, { input: { case: 'hello' } }, { 'Idempotency-Key': 'order-1' })
    const answers = await Promise.all(Array.from({ length: 8 }, send))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(202))
    const first = answers.filter(({ body }) => body.duplicateDelivery === undefined)
    expect(first).toHaveLength(1)
    await clerk.api.settled(first[0]!.body.runId)
    // The first answer's body again, although the run has ended meanwhile.
    expect((await send()).body).toEqual({ ...first[0]!.body, duplicateDelivery: true })
    for (const { body } of answers)
      expect({ ...body, duplicateDelivery: true }).toEqual({ ...first[0]!.body, duplicateDelivery: true })
    expect(await sessions()).toBe(before + 1)
  })

  test('is refused with another body', async () => {
    const headers = { 'Idempotency-Key': 'order-2' }
    await clerk.api.post(runs, { input: { case: 'hello' } }, headers)
    const again = await clerk.api.post(runs, { input: { case: 'down' } }, headers)
    expect([again.status, again.body.code]).toEqual([409, 'idempotency_key_reused'])
  })

  test('of a refused start can be used for the right one', async () => {
    const headers = { 'Idempotency-Key': 'order-3' }
    expect((await clerk.api.post(runs, { input: {} }, headers)).status).toBe(422)
    expect((await clerk.api.post(runs, { input: { case: 'hello' } }, headers)).status).toBe(202)
  })

  test('of another API key is another one', async () => {
    const other = await clerk.key()
    const headers = { 'Idempotency-Key': 'order-4' }
    const one = await clerk.api.post(runs, { input: { case: 'hello' } }, headers)
    const two = await other.post(runs, { input: { case: 'hello' } }, headers)
    expect(two.status).toBe(202)
    expect(two.body.runId).not.toBe(one.body.runId)
  })
})

describe('an agent without a contract', () => {
  let helper: string
  let api: ReturnType<typeof caller>
  beforeAll(async () => {
    const at = ['--data', clerk.project.data]
    const where = { cwd: clerk.project.directory }
    await svcJson(['publish', 'agents/helper.yaml', '--deploy', ...at], where)
    const made = await svcJson<{ agentId: string }>(
      ['triggers', 'create', 'acme.helper', '--type', 'api', '--name', 'web', ...at],
      where,
    )
    const { secret } = await svcJson<{ secret: string }>(
      ['keys', 'create', '--agent', 'acme.helper', '--trigger', 'web', ...at],
      where,
    )
    helper = made.agentId
    api = caller(clerk.server.url, secret)
  })

  test('starts without a body, with an empty one and with any object', async () => {
    for (const body of [undefined, {}, { input: {} }, { input: { any: ['thing', 1, null] } }]) {
      const { status } = await api.post(`/v1/agents/${helper}/runs`, body)
      expect(status).toBe(202)
    }
  })

  test('the first message is Begin. for an empty input, the text of a message alone, else the JSON', async () => {
    const said = async (input: object): Promise<string> => {
      const runId = await api.start(helper, input)
      await api.settled(runId)
      return (await api.items(runId))[0].content.text
    }
    expect(await said({})).toBe('Begin.')
    expect(await said({ question: 'Why?' })).toBe('Why?')
    expect(await said({ message: 'Hi', more: 1 })).toBe('{\n  "message": "Hi",\n  "more": 1\n}')
    expect(await said({ other: 'Hi' })).toBe('{\n  "other": "Hi"\n}')
  })

  test('runs of the deployed version only: a published one changes nothing until it is deployed', async () => {
    const { writeFileSync, readFileSync } = await import('node:fs')
    const file = `${clerk.project.directory}/agents/helper.yaml`
    writeFileSync(file, readFileSync(file, 'utf8').replace('version: 1.0.0', 'version: 1.1.0'))
    const labelOf = async () => (await api.get(`/v1/runs/${await api.start(helper)}`)).body.versionLabel
    const at = ['--data', clerk.project.data]
    await svcJson(['publish', 'agents/helper.yaml', ...at], { cwd: clerk.project.directory })
    expect(await labelOf()).toBe('1.0.0')
    await svcJson(['deploy', 'acme.helper@1.1.0', ...at])
    expect(await labelOf()).toBe('1.1.0')
    const back = await svc(['deploy', 'acme.helper', '--rollback', '--yes', '--json', ...at])
    expect([back.code, JSON.parse(back.stdout)]).toMatchObject([0, { from: '1.1.0', to: '1.0.0' }])
    expect(await labelOf()).toBe('1.0.0')
  })
})
