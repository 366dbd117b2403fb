/** Signals, reports from outside and pauses through a whole server. Source: docs/design/steering.md#waits-outside */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { RunStatusBody } from '../../src/spec/api.ts'
import type { OperatorRoutes } from '../../src/operations/operations.ts'
import { openServer } from '../../src/server/open.ts'
import { closing, DESK, directory, options, running, scripted, tool } from './running.ts'

const JOB = tool('acme.job', { sideEffectClass: 'non_idempotent_write', labels: { 'svc/completion': 'external' } })
const EVENT = tool('svc.wait_event', { sideEffectClass: 'read_only', builtin: true, wire: 'wait_event' })

type Pauses = OperatorRoutes['GET /pauses']['answer']
type Paused = OperatorRoutes['POST /pauses']['answer']

/** A job whose program keeps the token that it was given. */
async function withJob() {
  const file = `${directory()}.token`
  const keep = `
    let text = ''
    process.stdin.on('data', (chunk) => (text += chunk)).on('end', () => {
      require('node:fs').writeFileSync(process.env.TOKEN_FILE, JSON.parse(text).completion_token)
      console.log('"accepted"')
    })`
  const house = await running({
    snapshot: scripted([{ call: { tool: 'job', arguments: {} } }, { say: 'Rows: ${results.job.rows}' }], [JOB]),
    config: { tools: { 'acme.job': { command: ['node', '-e', keep], env: ['TOKEN_FILE'] } } },
    env: { TOKEN_FILE: file },
  })
  const { body } = await house.start()
  const runId = body['runId']!
  await house.until(runId, 'engine.run.paused')
  const report = async (token: string, given: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${house.server.url}/v1/completions/${token}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(given),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return { house, runId, report, token: readFileSync(file, 'utf8') }
}

test('a program reports the end of its job with the token alone, once', async () => {
  const { house, runId, report, token } = await withJob()
  expect((await house.get<RunStatusBody>(`/v1/runs/${runId}`)).hold?.reason).toBe('external')
  expect(await report(token, {})).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
  expect(await report(token, { result: 1, error: 'x' })).toMatchObject({ status: 400 })
  expect(await report(`${token}x`, { result: 1 })).toMatchObject({
    status: 404,
    body: { code: 'completion_not_found' },
  })
  expect(await report(token, { result: { rows: 12 } })).toEqual({ status: 202, body: { runId, status: 'Running' } })
  await house.until(runId, 'engine.run.completed')
  expect((await house.get<RunStatusBody>(`/v1/runs/${runId}`)).output).toBe('Rows: 12')
  expect(await report(token, { result: { rows: 12 } })).toMatchObject({ status: 202, body: { duplicate: true } })
  expect(await report(token, { result: { rows: 13 } })).toMatchObject({
    status: 409,
    body: { code: 'completion_used' },
  })
  // The token stands in nothing that a reader of the run sees.
  expect(JSON.stringify(await house.get(`/v1/runs/${runId}/conversation`))).not.toContain(token)
})

test('a signal of the key that started the run ends its wait; that of another key is refused', async () => {
  const house = await running({
    snapshot: scripted(
      [{ call: { tool: 'wait_event', arguments: { name: 'parcel' } } }, { say: 'Got ${results.wait_event.data.id}.' }],
      [EVENT],
    ),
  })
  const runId = (await house.start()).body['runId']!
  await house.until(runId, 'engine.run.paused')
  await house.operator('POST /triggers', { agent: DESK, type: 'api', name: 'other' })
  const { secret } = (await house.operator('POST /keys', { agent: DESK, trigger: 'other' })) as { secret: string }
  const signal = async (key: string, name: string, body: unknown) => {
    const response = await fetch(`${house.server.url}/v1/runs/${runId}/signals/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  expect(await signal(secret, 'parcel', { data: { id: 'P-1' } })).toMatchObject({ status: 403 })
  expect(await signal('svc_none', 'parcel', {})).toMatchObject({ status: 401 })
  expect(await signal(house.secret, 'letter', {})).toMatchObject({
    status: 202,
    body: { status: 'Running', code: 'signal_not_awaited' },
  })
  expect(await signal(house.secret, 'parcel', { datum: 1 })).toMatchObject({ status: 400 })
  expect(await signal(house.secret, 'parcel', { data: { id: 'P-7' } })).toMatchObject({ status: 202 })
  await house.until(runId, 'engine.run.completed')
  expect((await house.get<RunStatusBody>(`/v1/runs/${runId}`)).output).toBe('Got P-7.')
})

test('an operator stops a tool, sees what that holds, and lets it go on', async () => {
  const house = await running()
  const stopped = (await house.operator('POST /pauses', {
    kind: 'tool',
    name: 'acme.orders.lookup',
    paused: true,
    reason: 'wrong orders',
  })) as Paused
  expect(stopped).toMatchObject({ changed: true, paused: true, by: 'operator:ana@acme.example', total: 0, inFlight: 0 })
  const runId = (await house.start({ order: 'A-1', amount: 1 })).body['runId']!
  await house.until(runId, 'engine.run.paused')
  expect((await house.get<RunStatusBody>(`/v1/runs/${runId}`)).hold?.reason).toBe('paused')
  const again = (await house.operator('POST /pauses', {
    kind: 'tool',
    name: 'acme.orders.lookup',
    paused: true,
  })) as Paused
  expect(again).toMatchObject({
    changed: false,
    reason: 'wrong orders',
    total: 1,
    items: [{ runId, hold: { reason: 'paused' } }],
  })
  expect(((await house.operator('GET /pauses')) as Pauses).items).toMatchObject([
    { kind: 'tool', name: 'acme.orders.lookup', paused: true, reason: 'wrong orders' },
  ])
  await house.operator('POST /pauses', { kind: 'tool', name: 'acme.refunds', paused: true })
  const { hold } = await house.get<RunStatusBody>(`/v1/runs/${runId}`)
  expect(await house.operator(`GET /runs/${runId}/holders`)).toEqual({
    runId,
    hold,
    // Not the pause of a tool that the run does not call now.
    pauses: [
      {
        kind: 'tool',
        name: 'acme.orders.lookup',
        paused: true,
        at: expect.any(String) as string,
        by: 'operator:ana@acme.example',
        reason: 'wrong orders',
      },
    ],
    outages: [],
  })
  await house.operator('POST /pauses', { kind: 'tool', name: 'acme.refunds', paused: false })
  await house.operator('POST /pauses', { kind: 'tool', name: 'acme.orders.lookup', paused: false })
  await house.until(runId, 'engine.user_task.created')
  expect(await house.operator(`GET /runs/${runId}/holders`)).toEqual({ runId, hold: null, pauses: [], outages: [] })
  expect(((await house.operator('GET /pauses')) as Pauses).items).toEqual([])
  expect(((await house.operator('GET /pauses?all=true')) as Pauses).total).toBe(4)
})

test.each([
  [{ kind: 'agent', name: 'acme.refund-deks', paused: true }, 'agent \\"acme.refund-deks\\"'],
  [{ kind: 'version', name: `${DESK}@9.9.9`, paused: true }, `version \\"${DESK}@9.9.9\\"`],
  [{ kind: 'tool', name: 'acme.refundss', paused: true }, 'no published version uses it'],
  [{ kind: 'provider', name: 'opnai', paused: true }, 'no published version uses it'],
  [{ kind: 'everything', paused: true }, 'kind'],
])('a pause of %j names nothing, and stops nothing', async (body, why) => {
  const house = await running()
  await expect(house.operator('POST /pauses', body)).rejects.toThrow(why)
  expect(((await house.operator('GET /pauses?all=true')) as Pauses).items).toEqual([])
})

test("an agent's key neither pauses nor lets go on", async () => {
  const house = await running()
  for (const path of ['/pauses', '/v1/pauses']) {
    const { status } = await house.post(path, { kind: 'all', paused: true })
    expect(status).toBe(404)
  }
  expect(((await house.operator('GET /pauses?all=true')) as Pauses).items).toEqual([])
  await house.operator('POST /pauses', { kind: 'agent', name: DESK, paused: true })
  expect(await house.start({ order: 'A-1', amount: 1 })).toMatchObject({ status: 409, body: { code: 'agent_paused' } })
})

test('the log of requests names no token', async () => {
  const lines: string[] = []
  const log = { write: (...entry: unknown[]) => void lines.push(JSON.stringify(entry)) }
  const server = await openServer({ ...options(), log })
  closing(() => server.close())
  await fetch(`${server.url}/v1/completions/svcc_secret`, { method: 'POST', body: '{}' })
  const requests = lines.filter((line) => line.includes('/v1/completions/'))
  expect(requests).toHaveLength(1)
  expect(requests[0]).toContain('/v1/completions/:token')
  expect(requests[0]).not.toContain('svcc_secret')
})
