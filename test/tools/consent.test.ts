/** What `svc mcp login` makes of servers that deviate, or that want a consent, a code or a secret which is not theirs. */
import { createServer, type Server } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AuthorizationCodeAuth } from '../../src/spec/document.ts'
import { requestConsent, type ConsentRequest } from '../../src/tools/oauth/consent.ts'
import type { LoginServer, McpLogin } from '../../src/tools/oauth/login.ts'
import { listen, stop } from '../fakes/model-server.ts'

/** What the server answers, by path; a function gets the form or the JSON of the request. */
type Answers = Record<string, { readonly status?: number; readonly headers?: object; readonly body?: unknown }>

let http: Server
let origin: string
let answers: Answers
let sent: { readonly path: string; readonly body: string; readonly authorization: string | undefined }[]

beforeEach(async () => {
  sent = []
  http = createServer((request, response) => {
    const path = request.url ?? ''
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      sent.push({ path, body, authorization: request.headers.authorization })
      const { status = 200, headers = {}, body: answer = {} } = answers[path] ?? { status: 404 }
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
    })
  })
  origin = await listen(http)
  answers = {
    '/mcp': { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } },
    '/.well-known/oauth-protected-resource/mcp': {
      body: { resource: `${origin}/mcp`, authorization_servers: [`${origin}/login`] },
    },
    '/.well-known/oauth-authorization-server/login': { body: metadata() },
    '/register': { status: 201, body: { client_id: 'registered' } },
    '/token': { body: { access_token: 'access-of-test', refresh_token: 'refresh-of-test', expires_in: 60 } },
  }
})
afterEach(() => stop(http))

const metadata = (more: object = {}): object => ({
  issuer: `${origin}/login`,
  authorization_endpoint: `${origin}/authorize`,
  token_endpoint: `${origin}/token`,
  registration_endpoint: `${origin}/register`,
  code_challenge_methods_supported: ['S256'],
  ...more,
})
const describe = (more: object): void => {
  answers['/.well-known/oauth-authorization-server/login'] = { body: metadata(more) }
}
const serverOf = (auth: Partial<AuthorizationCodeAuth> = {}): LoginServer => ({
  name: 'crm',
  url: `${origin}/mcp`,
  auth: { scheme: 'authorization_code', ...auth },
})
const ask = (auth: Partial<AuthorizationCodeAuth> = {}, clientSecret?: string): Promise<ConsentRequest> =>
  requestConsent({
    server: serverOf(auth),
    clientSecret,
    redirectUri: 'http://127.0.0.1:8976/callback',
    fetch: globalThis.fetch,
    now: () => new Date('2026-01-01T00:00:00Z'),
  })
const finish = async (answer: Record<string, string> = {}, auth?: Partial<AuthorizationCodeAuth>): Promise<McpLogin> =>
  (await ask(auth)).finish(new URLSearchParams({ code: 'code-of-test', ...answer }))
const formOf = (path: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(sent.find((each) => each.path === path)?.body))

test('the address asks for a code for this server alone, with a proof that only svc has', async () => {
  const { address, issuer, scope } = await ask({ scope: 'orders:read' })
  const { state, code_challenge: challenge, ...asked } = Object.fromEntries(new URL(address).searchParams)
  expect(asked).toEqual({
    response_type: 'code',
    client_id: 'registered',
    redirect_uri: 'http://127.0.0.1:8976/callback',
    code_challenge_method: 'S256',
    resource: `${origin}/mcp`,
    scope: 'orders:read',
  })
  expect([state, challenge].map((each) => each?.length)).toEqual([43, 43])
  expect([issuer, scope]).toEqual([`${origin}/login`, 'orders:read'])
})

test('a login has what a later process needs, and no access token', async () => {
  const login = await finish()
  expect(login).toEqual({
    id: expect.any(String) as string,
    server: `${origin}/mcp`,
    resource: `${origin}/mcp`,
    issuer: `${origin}/login`,
    client_id: 'registered',
    refresh_token: 'refresh-of-test',
    consented_at: '2026-01-01T00:00:00.000Z',
  })
  const { code_verifier: verifier, ...form } = formOf('/token')
  expect(form).toEqual({
    grant_type: 'authorization_code',
    client_id: 'registered',
    code: 'code-of-test',
    redirect_uri: 'http://127.0.0.1:8976/callback',
    resource: `${origin}/mcp`,
  })
  expect(verifier).toHaveLength(43)
})

test('a client that the document names proves itself with its secret, and registers nothing', async () => {
  const request = await ask({ client_id: 'desk', issuer: `${origin}/login` }, 'secret-of-desk')
  const login = await request.finish(new URLSearchParams({ code: 'code-of-test' }))
  expect(login).not.toHaveProperty('client_secret')
  expect(sent.map(({ path }) => path)).not.toContain('/register')
  expect(sent.at(-1)!.authorization).toBe(`Basic ${Buffer.from('desk:secret-of-desk').toString('base64')}`)
})

test('a secret that was given to a registered client is kept with the login', async () => {
  describe({ token_endpoint_auth_methods_supported: ['client_secret_post'] })
  answers['/register'] = { status: 201, body: { client_id: 'registered', client_secret: 'secret-of-test' } }
  expect(await finish()).toMatchObject({ client_secret: 'secret-of-test' })
  expect(formOf('/token')).toMatchObject({ client_id: 'registered', client_secret: 'secret-of-test' })
  expect(JSON.parse(sent.find(({ path }) => path === '/register')!.body)).toEqual({
    client_name: 'svc',
    application_type: 'native',
    redirect_uris: ['http://127.0.0.1:8976/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'client_secret_post',
  })
})

test.each<[string, object, string | null, string | null]>([
  ['says in the challenge which scope it wants', {}, 'orders:write', null],
  [
    'has a scope for refresh tokens',
    { scopes_supported: ['offline_access'] },
    'orders:write offline_access',
    'consent',
  ],
])('a server that %s is asked for it', async (_, more, scope, prompt) => {
  describe(more)
  answers['/mcp'] = { status: 401, headers: { 'www-authenticate': 'Bearer scope="orders:write"' } }
  const { searchParams } = new URL((await ask()).address)
  expect([searchParams.get('scope'), searchParams.get('prompt')]).toEqual([scope, prompt])
})

test.each<[string, () => void]>([
  [
    'names no authorization server, and is its own',
    () => {
      delete answers['/.well-known/oauth-protected-resource/mcp']
      answers['/.well-known/oauth-authorization-server'] = { body: metadata({ issuer: origin }) }
    },
  ],
  [
    'has its metadata where the challenge says',
    () => {
      answers['/elsewhere'] = answers['/.well-known/oauth-protected-resource/mcp']!
      delete answers['/.well-known/oauth-protected-resource/mcp']
      answers['/mcp'] = {
        status: 401,
        headers: { 'www-authenticate': `Bearer resource_metadata="${origin}/elsewhere"` },
      }
    },
  ],
  [
    'writes its challenge without quotes, behind another',
    () => {
      answers['/elsewhere'] = answers['/.well-known/oauth-protected-resource/mcp']!
      delete answers['/.well-known/oauth-protected-resource/mcp']
      const challenge = `Basic realm="a, b", Bearer Resource_Metadata=${origin}/elsewhere, error=invalid_token`
      answers['/mcp'] = { status: 401, headers: { 'www-authenticate': challenge } }
    },
  ],
  [
    'names its authorization server with a slash at the end',
    () =>
      (answers['/.well-known/oauth-authorization-server/login'] = { body: metadata({ issuer: `${origin}/login/` }) }),
  ],
  [
    'answers without a token, in a stream',
    () => (answers['/mcp'] = { headers: { 'content-type': 'text/event-stream' }, body: ': open\n\n' }),
  ],
  [
    'is described as one of OpenID Connect',
    () => {
      answers['/login/.well-known/openid-configuration'] = { body: metadata() }
      delete answers['/.well-known/oauth-authorization-server/login']
    },
  ],
])('a server that %s is understood', async (_, change) => {
  change()
  expect(await finish()).toMatchObject({ refresh_token: 'refresh-of-test' })
})

const PROVIDER = 'The authorization server ORIGIN/login'

test.each<[string, () => void, string]>([
  [
    'says that it is another server',
    () =>
      (answers['/.well-known/oauth-protected-resource/mcp'] = {
        body: { resource: 'https://bank.example/mcp', authorization_servers: [`${origin}/login`] },
      }),
    'MCP server "crm" does not say who gives tokens for it: says in ORIGIN/.well-known/oauth-protected-resource/mcp that it is "https://bank.example/mcp".',
  ],
  [
    'names what is no address',
    () => (answers['/.well-known/oauth-protected-resource/mcp'] = { body: { authorization_servers: ['login'] } }),
    'MCP server "crm" does not say who gives tokens for it: names an authorization server that is no address: "login".',
  ],
  [
    'has metadata of another issuer',
    () => describe({ issuer: 'https://evil.example' }),
    `${PROVIDER} cannot be used: its metadata is that of "https://evil.example".`,
  ],
  [
    'does not check codes',
    () => describe({ code_challenge_methods_supported: ['plain'] }),
    `${PROVIDER} does not say that it checks codes (PKCE with S256).`,
  ],
  [
    'opens a script in place of a page',
    () => describe({ authorization_endpoint: 'javascript:alert(1)//' }),
    `${PROVIDER} asks for consent at an address that is not https.`,
  ],
  [
    'asks for consent without encryption',
    () => describe({ authorization_endpoint: 'http://login.example/authorize' }),
    `${PROVIDER} asks for consent at an address that is not https.`,
  ],
  [
    'registers no clients',
    () => describe({ registration_endpoint: undefined }),
    `${PROVIDER} registers no clients by itself: register one there with the redirect address http://127.0.0.1/callback, and name it in auth.client_id.`,
  ],
  [
    'refuses to register svc',
    () =>
      (answers['/register'] = {
        status: 400,
        body: { error: 'invalid_redirect_uri', error_description: 'no loopback' },
      }),
    `${PROVIDER} registers no client for svc: invalid_redirect_uri, no loopback.`,
  ],
  [
    'answers without end',
    () => (answers['/register'] = { body: 'x'.repeat(300_000) }),
    `${PROVIDER} cannot be used: its answer is longer than 262144 bytes.`,
  ],
  [
    'refuses the code',
    () => (answers['/token'] = { status: 400, body: { error: 'invalid_grant' } }),
    `${PROVIDER} gives the client "registered" no token: invalid_grant.`,
  ],
  [
    'gives no refresh token',
    () => (answers['/token'] = { body: { access_token: 'access-of-test' } }),
    `${PROVIDER} gives no refresh token, so svc could use "crm" only for a moment: name the scope in auth.scope for which it does, often offline_access.`,
  ],
])('a server that %s gets no consent, and is named', async (_, change, message) => {
  change()
  await expect(finish()).rejects.toThrow(message.replaceAll('ORIGIN', origin))
})

test.each<[string, object, Record<string, string>, string]>([
  [
    'from another server',
    {},
    { iss: 'https://evil.example' },
    'The browser came back from https://evil.example, and not from ORIGIN/login.',
  ],
  [
    'from a server that says its name at other times',
    { authorization_response_iss_parameter_supported: true },
    {},
    'The browser came back from an unknown server, and not from ORIGIN/login.',
  ],
  ['with a refusal', {}, { error: 'access_denied' }, `${PROVIDER} gives no consent: access_denied.`],
])('a browser that comes back %s brings no code', async (_, more, answer, message) => {
  describe(more)
  await expect(finish(answer)).rejects.toThrow(message.replaceAll('ORIGIN', origin))
  expect(sent.map(({ path }) => path)).not.toContain('/token')
})

test('a server elsewhere may not name an authorization server of this machine', async () => {
  const fetch = (): Promise<Response> =>
    Promise.resolve(Response.json({ authorization_servers: ['http://127.0.0.1:9/'] }))
  const server = { ...serverOf(), url: 'https://mcp.example/mcp' }
  const parts = {
    server,
    clientSecret: undefined,
    redirectUri: 'http://127.0.0.1:8976/callback',
    now: () => new Date(0),
  }
  await expect(requestConsent({ ...parts, fetch })).rejects.toThrow(
    'MCP server "crm" does not say who gives tokens for it: names an authorization server of this machine: "http://127.0.0.1:9/".',
  )
})
