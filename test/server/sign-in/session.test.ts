/** What a session of a person whom a provider named is good for, and when it ends. Source: docs/design/security.md#sign-in-for-teams */
import { createServer, request } from 'node:http'
import { expect, test } from 'vitest'
import {
  createApiKeySecret,
  createCommandHalf,
  hashCommandHalves,
  joinCommandHalves,
} from '../../../src/base/api-key.ts'
import { createRedactor } from '../../../src/base/secret.ts'
import { identifyByCredential } from '../../../src/server/operator/people/identify.ts'
import { openServer } from '../../../src/server/open.ts'
import { readSignInSettings } from '../../../src/server/sign-in/settings.ts'
import type { SignInConfig } from '../../../src/spec/project/config.ts'
import { freePort } from '../../fakes/company.ts'
import { listen as listenTo, stop } from '../../fakes/model-server.ts'
import { aConsoleSession } from '../../store/makers.ts'
import { openFixture } from '../fixtures.ts'
import { closing, options } from '../running.ts'

const config: SignInConfig = {
  name: 'Acme',
  issuer: 'https://login.acme.example',
  client_id: 'svc',
  groups: { treasury: { may: 'approve', roles: ['finance'] }, platform: { may: 'operate' } },
  ends_unused_after: '2h',
}

/** A session of `svc login` with these groups, and who it is under a configuration. */
async function signedIn(groups: readonly string[]) {
  const { services, clock } = openFixture()
  const [given, { half, challenge }] = [createApiKeySecret(), createCommandHalf()]
  await services.store.createConsoleSession(
    aConsoleSession('ana', {
      workspaceId: services.workspace.id,
      purpose: 'command',
      hash: hashCommandHalves(given, challenge),
      provider: { issuer: config.issuer, subject: 'u-1', groups },
      createdAt: clock.now(),
      lastUsedAt: clock.now(),
      expiresAt: clock.now() + 5 * HOUR,
    }),
  )
  const who = (changed: Partial<SignInConfig> | null = {}, credential = joinCommandHalves(given, half)) => {
    const parts = { env: {}, configDirectory: '.', redactor: createRedactor() }
    const signIn = changed && { settings: readSignInSettings({ ...config, ...changed }, parts) }
    return identifyByCredential({ ...services, ...(signIn && { signIn: signIn as never }) }, credential).then(
      ({ operator: { id, roles, proof }, may }) => ({ id, roles, proof, may }),
      (error: { readonly code: string }) => error.code,
    )
  }
  return { who, clock, given, half }
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  const address = await listenTo(server)
  closing(() => stop(server))
  return address
}

const HOUR = 3_600_000
const REFUSED = 'invalid_operator_key'
const ana = { id: 'ana@acme.example', roles: ['finance'], proof: 'credential', may: 'approve' }

test('what its groups allow is what the configuration says now, and none of it without the provider', async () => {
  const { who } = await signedIn(['treasury', 'platform'])
  expect(await who()).toEqual({ ...ana, may: 'operate' })
  expect(await who({ groups: { treasury: { may: 'read' } } })).toEqual({ ...ana, roles: [], may: 'read' })
  expect(await who({ groups: { others: { may: 'administer' } } })).toBe(REFUSED)
  expect(await who({ issuer: 'https://login.other.example' })).toBe(REFUSED)
  expect(await who(null)).toBe(REFUSED)
})

test('it needs both halves of its credential', async () => {
  const { who, given, half } = await signedIn(['treasury'])
  const other = createCommandHalf().half
  for (const credential of [given, half, `${half}.${given}`, `${given}.${other}`, `${given}.${half}.${half}`])
    expect(await who({}, credential)).toBe(REFUSED)
  expect(await who()).toEqual(ana)
})

test('it ends when nobody uses it, and at its time however much it is used', async () => {
  const used = await signedIn(['treasury'])
  for (let hours = 0; hours < 5; hours++) {
    expect(await used.who()).toEqual(ana)
    used.clock.wind(HOUR)
  }
  expect(await used.who()).toBe(REFUSED)
  const unused = await signedIn(['treasury'])
  unused.clock.wind(2 * HOUR)
  expect(await unused.who()).toBe(REFUSED)
})

test('behind a proxy that ends TLS, what is begun is a cookie of this host alone, for the address of the console', async () => {
  const issuer = await listen(
    createServer((_, response) => {
      const endpoints = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'].map((name) => [name, `${issuer}/x`])
      response.end(JSON.stringify({ issuer, ...Object.fromEntries(endpoints) }))
    }),
  )
  const [own, port] = [options(), await freePort()]
  const server = await openServer({
    ...own,
    config: {
      ...own.config,
      console: { url: 'https://Desk.example:443' },
      network: { hosts: ['desk.example'], proxies: ['127.0.0.1'] },
      sign_in: { ...config, issuer },
    },
    console: { port },
  })
  closing(() => server.close())
  const begin = (host: string, protocol = 'https') =>
    new Promise<{ readonly cookie: string | undefined; readonly body: Record<string, string> }>((resolve, reject) => {
      const origin = new URL(`https://${host}`).origin
      const proxied = { 'x-forwarded-proto': protocol, origin, 'x-svc-console': '1' }
      const headers = { host, 'content-type': 'application/json', ...proxied }
      const sent = request({ port, path: '/sign-in/provider', method: 'POST', headers }, (response) => {
        let text = ''
        response.on('data', (chunk) => (text += String(chunk)))
        response.on('end', () =>
          resolve({ cookie: response.headers['set-cookie']?.[0], body: JSON.parse(text) as Record<string, string> }),
        )
      })
      sent.on('error', reject).end('{}')
    })
  const { cookie, body } = await begin('desk.example')
  expect(cookie).toMatch(/^__Host-svc-sign-in=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/)
  expect(new URL(body['address']!).searchParams.get('redirect_uri')).toBe('https://desk.example/sign-in/callback')
  // As some proxies name it, and several in a row.
  expect((await begin('desk.example:443', 'https, http')).body['address']).toBeDefined()
  expect((await begin('desk.example', 'http, https')).body['code']).toBe('origin_not_allowed')
  // Whatever a request says of its own name has no say in it.
  expect((await begin('evil.example')).body['code']).toBe('host_not_allowed')
})

test.each([
  ['a secret that is not there', { client_secret: { fromEnv: 'NOT_SET' } }],
  ['plain http', { issuer: 'http://login.acme.example' }],
])('a server with %s does not start', async (_, changed) => {
  const own = options()
  const opening = openServer({ ...own, config: { ...own.config, sign_in: { ...config, ...changed } } })
  await expect(opening).rejects.toMatchObject({ code: 'config_invalid' })
})
