/** Credentials of persons at the operator channel. Source: docs/design/approvals.md#who-may-decide */
import { expect, test } from 'vitest'
import { createOperatorApp } from '../../src/server/operator-app.ts'
import { openFixture } from './fixtures.ts'

const channel = () => {
  const fixture = openFixture()
  const app = createOperatorApp(fixture.services)
  const ask = async (line: string, key?: string, body?: object) => {
    const [method, path] = line.split(' ') as [string, string]
    const headers = { 'content-type': 'application/json', ...(key !== undefined && { 'x-operator-key': key }) }
    const response = await app.fetch(
      new Request(`http://operator.svc${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) }),
    )
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return { ...fixture, ask, who: async (key?: string) => (await ask('GET /status', key)).body['operator'] }
}

test('a request comes from the person whose credential it carries, else from the local identity', async () => {
  const { ask, who, operator } = channel()
  const { secret } = await operator('POST /operator-keys', {
    body: { email: 'Ben@Acme.example', roles: ['b', 'a', 'b'] },
  })
  expect([await who(), await who(secret)]).toEqual(['ana@acme.example', 'ben@acme.example'])
  const { body } = await ask('POST /operator-keys', secret, { email: 'carl@acme.example', name: 'laptop' })
  expect(body).toEqual({
    keyId: expect.any(String),
    email: 'carl@acme.example',
    roles: [],
    name: 'laptop',
    prefix: (body['secret'] as string).slice(0, 8),
    createdAt: '2026-11-20T10:00:00.000Z',
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    secret: expect.stringMatching(/^svc_[0-9A-Za-z]{38}$/),
  })
})

test('is refused on every route once it has expired, was revoked or never was one', async () => {
  const { ask, who, operator, clock, deploy, keyFor } = channel()
  await deploy('acme.desk')
  const apiKey = await keyFor('acme.desk')
  const short = await operator('POST /operator-keys', { body: { email: 'ben@acme.example', expiresInSeconds: 60 } })
  const long = await operator('POST /operator-keys', { body: { email: 'ben@acme.example' } })
  clock.wind(59_999)
  expect(await who(short.secret)).toBe('ben@acme.example')
  clock.wind(1)
  await operator('POST /keys/:id/revoke', { id: long.keyId })
  for (const key of [short.secret, long.secret, apiKey.secret, 'svc_', ''])
    for (const line of ['GET /status', 'GET /tasks', 'POST /keys'])
      expect(await ask(line, key)).toMatchObject({ status: 401, body: { code: 'invalid_operator_key' } })
})

test('tells when it was last used, to ten seconds', async () => {
  const { who, operator, clock } = channel()
  const { secret } = await operator('POST /operator-keys', { body: { email: 'ben@acme.example' } })
  const lastUsed = async () => (await operator('GET /keys', { query: {} })).items[0]!.lastUsedAt
  const seen = [await lastUsed()]
  for (const ms of [1000, 9999, 1]) {
    clock.wind(ms)
    await who(secret)
    seen.push(await lastUsed())
  }
  expect(seen).toEqual([null, '2026-11-20T10:00:01.000Z', '2026-11-20T10:00:01.000Z', '2026-11-20T10:00:11.000Z'])
})

test('a credential takes no other name, not even where a developer may', async () => {
  const fixture = openFixture()
  const { secret } = await fixture.operator('POST /operator-keys', {
    body: { email: 'ben@acme.example', roles: ['a'] },
  })
  await fixture.deploy('acme.desk')
  const { runId } = await fixture.storeRun('acme.desk')
  const app = createOperatorApp({ ...fixture.services, development: true })
  const send = async (as: string, key?: string) => {
    const request = new Request(`http://operator.svc/runs/${runId}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key !== undefined && { 'x-operator-key': key }) },
      body: JSON.stringify({ text: 'Hello.', as }),
    })
    await app.fetch(request)
    return fixture.asked.answers.splice(0).map(({ answer }) => answer.by)
  }
  const by = { type: 'operator', workspaceId: fixture.services.workspace.id }
  expect(await send('zoe@acme.example')).toEqual([{ ...by, id: 'zoe@acme.example', proof: 'claimed', roles: [] }])
  expect(await send('zoe@acme.example', secret)).toEqual([])
  const ben = { ...by, id: 'ben@acme.example', proof: 'credential', roles: ['a'] }
  expect(await send('Ben@acme.example', secret)).toEqual([ben])
  expect(await send('ｂｅｎ@acme.example', secret)).toEqual([ben])
  // Whose name has a credential is named by nobody else, however it is spelt.
  for (const as of ['ben@acme.example', 'BEN@acme.example', 'ｂｅｎ@acme.example']) expect(await send(as)).toEqual([])
})
