import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { svcJson } from './binary.ts'
import { caller, type Caller, type Json } from './caller.ts'
import { openClerk, type Clerk } from './clerk.ts'

let clerk: Clerk
let at: readonly string[]
let waiting: string
beforeAll(async () => {
  clerk = await openClerk()
  at = ['--data', clerk.project.data]
  waiting = await clerk.begin('sign')
})
afterAll(() => clerk.close())

const NOBODY = '01a1fc2b-1d46-7001-8f16-ba4d0d7ecc03'

/** Every route of the document that needs a key. */
const routes = (agentId: string, runId: string): readonly [string, string][] => [
  ['POST', `/v1/agents/${agentId}/runs`],
  ['GET', `/v1/agents/${agentId}/sessions`],
  ['GET', `/v1/runs/${runId}`],
  ['GET', `/v1/runs/${runId}/conversation`],
  ['GET', `/v1/runs/${runId}/stream`],
  ['POST', `/v1/runs/${runId}/input`],
  ['POST', `/v1/runs/${runId}/messages`],
  ['POST', `/v1/runs/${runId}/cancel`],
  ['POST', '/v1/file-library/presign'],
  ['POST', '/v1/file-library/finalize'],
]

const send = async (api: Caller, [method, path]: readonly [string, string]) => {
  const { status, body } = method === 'GET' ? await api.get(path) : await api.post(path, {})
  return [status, body.code]
}

const trigger = async (...options: string[]): Promise<Caller & { id: string; secret: string }> => {
  const name = `t${Math.trunc(performance.now() * 1000)}`
  const { triggerId } = await svcJson<Json>([
    'triggers',
    'create',
    'acme.clerk',
    '--type',
    'api',
    '--name',
    name,
    ...options,
    ...at,
  ])
  const { secret } = await svcJson<Json>([
    'keys',
    'create',
    '--agent',
    'acme.clerk',
    '--trigger',
    triggerId,
    '--allow-uploads',
    ...at,
  ])
  return { ...caller(clerk.server.url, secret), id: triggerId, secret }
}

test('every route needs a key', async () => {
  for (const route of routes(clerk.agentId, waiting)) {
    const response = await fetch(clerk.server.url + route[1], { method: route[0] })
    const body = (await response.json()) as Json
    expect([route[1], response.status, body.code]).toEqual([route[1], 401, 'missing_api_key'])
    expect(body.requestId).toBe(response.headers.get('x-request-id'))
  }
})

test.each([
  ['of another kind', 'sk-1234'],
  ['with a wrong checksum', `svc_${'a'.repeat(38)}`],
  ['empty', ''],
])('a key that is %s is refused on every route', async (_, secret) => {
  const api = caller(clerk.server.url, secret)
  for (const route of routes(clerk.agentId, waiting)) {
    expect(await send(api, route)).toEqual([401, secret === '' ? 'missing_api_key' : 'invalid_api_key'])
  }
})

test('a revoked key is refused at once', async () => {
  const key = await clerk.key()
  expect((await key.get(`/v1/runs/${waiting}`)).status).toBe(200)
  await svcJson(['keys', 'revoke', key.keyId, '--yes', ...at])
  expect(await send(key, ['GET', `/v1/runs/${waiting}`])).toEqual([401, 'invalid_api_key'])
})

test('a key that has expired is refused', async () => {
  const key = await clerk.key('--expires', '1s')
  let answer
  do answer = await send(key, ['GET', `/v1/runs/${waiting}`])
  while (answer[0] === 200)
  expect(answer).toEqual([401, 'invalid_api_key'])
})

test('a key is read from the header X-API-Key, in any case, and from nowhere else', async () => {
  const path = `${clerk.server.url}/v1/runs/${waiting}`
  const { secret } = clerk.access
  expect((await fetch(path, { headers: { 'x-api-key': secret } })).status).toBe(200)
  expect((await fetch(path, { headers: { Authorization: `Bearer ${secret}` } })).status).toBe(401)
  expect((await fetch(`${path}?api_key=${secret}`)).status).toBe(401)
})

test('what does not exist is 404 with any good key', async () => {
  for (const id of [NOBODY, 'not-a-uuid', '..%2f..%2fetc']) {
    for (const route of routes(id, id).filter(([, path]) => path.includes(id))) {
      expect([...route, ...(await send(clerk.api, route))]).toEqual([...route, 404, 'not_found'])
    }
  }
  for (const path of [
    '/',
    '/v1',
    '/v2/runs',
    '/v1/runs',
    '/v1/agents',
    `/v1/runs/${waiting}/nothing`,
    '/admin',
    '/publish',
  ]) {
    expect([path, ...(await send(clerk.api, ['GET', path]))]).toEqual([path, 404, 'not_found'])
  }
})

test('another method is 405 with the ones there are', async () => {
  const response = await fetch(`${clerk.server.url}/v1/runs/${waiting}/messages`, {
    method: 'DELETE',
    headers: { 'X-API-Key': clerk.access.secret },
  })
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  expect(((await response.json()) as Json).code).toBe('method_not_allowed')
})

describe('a key of another agent', () => {
  let other: Caller
  let helper: string
  beforeAll(async () => {
    await svcJson(['publish', 'agents/helper.yaml', '--deploy', ...at], { cwd: clerk.project.directory })
    const { agentId } = await svcJson<Json>([
      'triggers',
      'create',
      'acme.helper',
      '--type',
      'api',
      '--name',
      'web',
      ...at,
    ])
    const { secret } = await svcJson<Json>([
      'keys',
      'create',
      '--agent',
      'acme.helper',
      '--trigger',
      'web',
      '--allow-uploads',
      ...at,
    ])
    helper = agentId
    other = caller(clerk.server.url, secret)
  })

  test('reaches neither the agent nor its runs', async () => {
    for (const route of routes(clerk.agentId, waiting).slice(0, 8)) {
      const code = route[1].startsWith('/v1/agents') ? 'agent_out_of_scope' : 'run_out_of_scope'
      expect([...route, ...(await send(other, route))]).toEqual([...route, 403, code])
    }
    expect(await send(clerk.api, ['GET', `/v1/agents/${helper}/sessions`])).toEqual([403, 'agent_out_of_scope'])
  })

  test('does not reach runs of its own agent that are sub-agent runs of another', async () => {
    const root = await clerk.begin('child')
    const child = (await clerk.api.get(`/v1/runs/${root}/conversation`)).body.runs[1]
    expect(child.agentId).toBe(helper)
    expect(await send(other, ['GET', `/v1/runs/${child.id}`])).toEqual([403, 'run_out_of_scope'])
    expect((await clerk.api.get(`/v1/runs/${child.id}`)).status).toBe(200)
  })
})

describe('a key of another trigger', () => {
  test('does not reach the runs, but lists the sessions of the agent', async () => {
    const other = await trigger()
    expect(await send(other, ['GET', `/v1/runs/${waiting}`])).toEqual([403, 'run_out_of_scope'])
    const { total } = (await other.get(`/v1/agents/${clerk.agentId}/sessions`)).body
    expect(total).toBeGreaterThan(0)
  })

  test('of which the trigger is not active is refused before all else', async () => {
    const other = await trigger()
    await svcJson(['triggers', 'update', other.id, '--no-active', ...at])
    for (const route of routes(NOBODY, NOBODY)) expect(await send(other, route)).toEqual([403, 'trigger_inactive'])
  })

  test('of which the trigger is deleted is refused, while what it started stays', async () => {
    const other = await trigger()
    const runId = await other.start(clerk.agentId, { case: 'hello' })
    await other.settled(runId)
    await svcJson(['triggers', 'delete', other.id, '--yes', ...at])
    expect([401, 403]).toContain((await send(other, ['GET', `/v1/runs/${runId}`]))[0])
    const { items } = (await clerk.api.get(`/v1/agents/${clerk.agentId}/sessions?take=1`)).body
    expect(items[0]).toMatchObject({ rootRunId: runId, triggerId: other.id })
  })

  test('of which the trigger allows other addresses is refused', async () => {
    const other = await trigger('--allow-ip', '192.0.2.0/24')
    expect(await send(other, ['GET', `/v1/agents/${clerk.agentId}/sessions`])).toEqual([403, 'ip_not_allowed'])
    // Nobody in between is trusted to say where a request came from.
    const claimed = await other.get(`/v1/agents/${clerk.agentId}/sessions`, { 'X-Forwarded-For': '192.0.2.7' })
    expect(claimed.status).toBe(403)
    const loopback = await trigger('--allow-ip', '127.0.0.0/8')
    expect((await loopback.get(`/v1/agents/${clerk.agentId}/sessions`)).status).toBe(200)
  })

  test('starts as many runs as its trigger allows a minute', async () => {
    const limited = await trigger('--rate', '2/m')
    const path = `/v1/agents/${clerk.agentId}/runs`
    const body = { input: { case: 'hello' } }
    expect([(await limited.post(path, body)).status, (await limited.post(path, body)).status]).toEqual([202, 202])
    const third = await limited.post(path, body)
    expect([third.status, third.body.code]).toEqual([429, 'rate_limited'])
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(Number(third.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    expect(third.headers.get('ratelimit')).toBeTruthy()
    expect(third.headers.get('ratelimit-policy')).toBeTruthy()
  })

  test('runs as many at once as its trigger allows, waiting ones included', async () => {
    const limited = await trigger('--max-concurrent', '1')
    const runId = await limited.start(clerk.agentId, { case: 'sign' })
    await limited.settled(runId)
    const path = `/v1/agents/${clerk.agentId}/runs`
    const second = await limited.post(path, { input: { case: 'hello' } })
    expect([second.status, second.body.code]).toEqual([429, 'concurrency_limited'])
    expect(second.headers.get('retry-after')).toBeTruthy()
    await limited.post(`/v1/runs/${runId}/cancel`)
    expect((await limited.post(path, { input: { case: 'hello' } })).status).toBe(202)
  })
})

describe('where the trigger hides the timeline', () => {
  let hidden: Caller & { secret: string }
  beforeAll(async () => {
    hidden = await trigger('--no-expose-timeline')
  })
  test('the conversation has its completion rows alone, and inputs and outputs of runs are cleared', async () => {
    const runId = await hidden.start(clerk.agentId, { case: 'question' })
    await hidden.settled(runId)
    const { session, runs, items } = (await hidden.get(`/v1/runs/${runId}/conversation`)).body
    expect([session.input, session.startContext]).toEqual([null, null])
    expect(session.output).toContain('I was told form B.')
    expect(runs.map(({ input, output, error, depth }: Json) => [depth, input, output, error])).toEqual([
      [0, null, null, null],
      [1, null, null, null],
    ])
    expect(items.map(({ type, runId: of }: Json) => [type, of])).toEqual([
      ['RunCompleted', runId],
      ['SessionCompleted', runId],
    ])
    // The poll route is never redacted.
    expect((await hidden.get(`/v1/runs/${runId}`)).body.output).toContain('I was told form B.')
  })

  test('the stream has no steps, tasks, questions or sub-agents', async () => {
    const runId = await hidden.start(clerk.agentId, { case: 'question' })
    await hidden.settled(runId)
    const response = await fetch(`${clerk.server.url}/v1/runs/${runId}/stream`, {
      headers: { 'X-API-Key': hidden.secret },
    })
    const text = await response.text()
    const events = text.split('\n').flatMap((line) => (line.startsWith('data:') ? [JSON.parse(line.slice(5))] : []))
    expect(new Set(events.map(({ kind }: Json) => kind))).toEqual(new Set(['session', 'run']))
    expect(events.map(({ subject }: Json) => subject).filter((each: string) => each.includes('subagent'))).toEqual([])
    expect(events.at(-1).data.output).toContain('I was told form B.')
    const ofChildren = events.filter(({ data }: Json) => data.runId !== runId)
    expect(ofChildren.filter(({ data }: Json) => 'output' in data || 'error' in data)).toEqual([])
  })

  test('no task can be answered with a key, though the run shows that it waits', async () => {
    const runId = await hidden.start(clerk.agentId, { case: 'sign' })
    expect((await hidden.settled(runId)).status).toBe('WaitingForHITL')
    expect((await hidden.get(`/v1/runs/${runId}/conversation`)).body.items).toEqual([])
    const { items } = await svcJson<Json>(['inbox', ...at])
    const userTaskId = items.find((item: Json) => item.runId === runId).userTaskId
    const { status, body } = await hidden.send(runId, { userTaskId, approved: true })
    expect([status, body.code, body.status]).toEqual([202, 'task_not_found', 'WaitingForHITL'])
    await svcJson(['approve', userTaskId, ...at])
    expect((await hidden.settled(runId)).status).toBe('Completed')
  })

  test('a reply can still be sent', async () => {
    const runId = await hidden.start(clerk.agentId, { case: 'chat' })
    await hidden.settled(runId)
    expect((await hidden.send(runId, { text: 'Ana' })).body.error).toBeUndefined()
    expect((await hidden.settled(runId)).output).toBe('You said Ana')
  })
})

/** With a Host and an Origin of one's own, which fetch does not send. */
const raw = (headers: Record<string, string>): Promise<[number, string]> =>
  new Promise((done, failed) => {
    const { port } = new URL(clerk.server.url)
    const sent = request({
      host: '127.0.0.1',
      port,
      path: `/v1/runs/${waiting}`,
      headers: { 'X-API-Key': clerk.access.secret, ...headers },
    })
    sent.on('error', failed)
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.on('end', () => done([response.statusCode!, (JSON.parse(text) as Json).code]))
    })
    sent.end()
  })

describe('a browser', () => {
  test.each([
    [{ Host: 'evil.example' }, [403, 'host_not_allowed']],
    [{ Host: 'localhost' }, [200, undefined]],
    [{ Host: '127.0.0.1:1' }, [200, undefined]],
    [{ Origin: 'https://evil.example' }, [403, 'origin_not_allowed']],
    [{ Origin: 'null' }, [403, 'origin_not_allowed']],
  ])('with %j is answered %j', async (headers, answer) => {
    expect(await raw(headers)).toEqual(answer)
  })

  test('gets no CORS headers, and its preflight nothing', async () => {
    const response = await fetch(`${clerk.server.url}/v1/runs/${waiting}`, {
      headers: { 'X-API-Key': clerk.access.secret },
    })
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})

test('health and the description of the interface need no key', async () => {
  expect((await fetch(`${clerk.server.url}/v1/healthz`)).status).toBe(200)
  const response = await fetch(`${clerk.server.url}/v1/openapi.json`)
  const document = (await response.json()) as Json
  expect([response.status, document.openapi]).toEqual([200, expect.stringMatching(/^3\.1/)])
  const described = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => ['get', 'post'].includes(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(described.toSorted()).toEqual(
    [
      ...routes('{agentId}', '{runId}').map(([method, path]) => `${method} ${path}`),
      'GET /v1/healthz',
      'POST /v1/completions/{token}',
      'POST /v1/runs/{runId}/signals/{name}',
      'GET /v1/openapi.json',
      'GET /v1/runs/{runId}/values/{digest}',
      'GET /v1/sessions/{sessionId}',
      'GET /v1/tasks',
      'GET /v1/tasks/{taskId}',
    ].toSorted(),
  )
})
