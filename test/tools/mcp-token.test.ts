/** The scheme `client_credentials` of MCP servers, against an authorization server on loopback. */
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createRedactor, type Redactor } from '../../src/base/secret.ts'
import type { McpServer } from '../../src/spec/document.ts'
import { listMcpTools } from '../../src/tools/mcp/mcp-listing.ts'
import type { Toolbox } from '../../src/tools/tool.ts'
import { startFakeMcp, type FakeMcp } from '../fakes/mcp.ts'
import { startFakeOauth, type FakeOauth } from '../fakes/oauth.ts'
import { waitUntil } from '../wait-until.ts'
import { agentWith, invocationOf, timeless, toolboxWith, toolNamed } from './invocation.ts'

let oauth: FakeOauth
let mcp: FakeMcp
let redactor: Redactor
let toolbox: Toolbox
let now = 0

beforeEach(async () => {
  now = 0
  oauth = await startFakeOauth()
  mcp = await startFakeMcp('stateless', [
    { name: 'look', answer: () => ({ content: [{ type: 'text', text: 'seen' }] }) },
  ])
  mcp.intercept = (_, { headers }, response) =>
    !oauth.valid.has((headers.authorization ?? '').replace('Bearer ', '')) && Boolean(response.writeHead(401).end('no'))
  redactor = createRedactor()
  toolbox = toolboxWith(
    {},
    {
      redactor,
      env: { CRM_SECRET: 'client-secret-1' },
      clock: { now: () => Date.UTC(2026, 0, 1) + now, monotonic: () => now },
    },
  )
})
afterEach(async () => {
  await toolbox.close()
  await mcp.close()
  await oauth.close()
})

const serverOf = (issuer = oauth.issuer): McpServer => ({
  name: 'crm',
  url: mcp.url,
  auth: { scheme: 'client_credentials', secret: 'crm', client_id: 'svc', issuer, scope: 'orders:read' },
})
const secrets = { crm: { fromEnv: 'CRM_SECRET' } }
const call = async (issuer?: string): Promise<object> => {
  const tool = toolNamed('acme.look', { mcp: { server: 'crm', tool: 'look' } })
  const agent = agentWith({ mcpServers: [serverOf(issuer)], secrets })
  return timeless(await toolbox.route(agent, tool)!.invoke(invocationOf(tool, {}), new AbortController().signal))
}
const SEEN = { at: 'returned', isError: false, result: 'seen' }

test('one token is asked for, for this server, and sent with every request; nobody sees it or the secret', async () => {
  expect([await call(), await call()]).toEqual([SEEN, SEEN])
  expect(oauth.asked).toEqual([
    { client: 'svc:client-secret-1', grant_type: 'client_credentials', scope: 'orders:read', resource: mcp.url },
  ])
  expect(new Set(mcp.requests.map(({ headers }) => headers.authorization))).toEqual(
    new Set(['Bearer token-of-the-test-1']),
  )
  expect(redactor.text('token-of-the-test-1 client-secret-1')).toBe('*** ***')
})

test.each([
  [300, 239_000, 241_000],
  [10, 7900, 8100],
])(
  'a token of %d seconds is renewed before it ends, and the old one is no secret any more',
  async (seconds, before, after) => {
    oauth.expiresIn = seconds
    await call()
    now = before
    await call()
    expect(oauth.asked).toHaveLength(1)
    now = after
    expect(await call()).toEqual(SEEN)
    expect(oauth.asked).toHaveLength(2)
    expect(redactor.text('token-of-the-test-1 token-of-the-test-2')).toBe('token-of-the-test-1 ***')
  },
)

test('a token that does not say when it ends lasts until the server refuses it; the call is then made once', async () => {
  oauth.expiresIn = undefined
  await call()
  now = 1e12
  await call()
  expect(oauth.asked).toHaveLength(1)
  oauth.valid.clear()
  expect(await call()).toEqual(SEEN)
  expect(oauth.asked).toHaveLength(2)
})

test('a new token that the server does not accept either holds the call, and names the secret', async () => {
  mcp.intercept = (_, __, response) => Boolean(response.writeHead(401).end('no'))
  expect(await call()).toEqual({
    at: 'not_sent',
    code: 'secret_missing',
    error:
      'MCP server "crm" answered 401: It does not accept a token that was given for the secret "crm" (environment variable CRM_SECRET).',
  })
  expect(oauth.asked.length).toBeLessThanOrEqual(2)
})

test('a client that the authorization server refuses holds the call, and names the secret', async () => {
  oauth.secret = 'another-secret'
  expect(await call()).toEqual({
    at: 'not_sent',
    code: 'secret_missing',
    error: `MCP server "crm": The authorization server ${oauth.issuer} gives the client "svc" no token: invalid_client, wrong secret. Check the secret "crm" (environment variable CRM_SECRET).`,
  })
  expect(mcp.requests).toEqual([])
})

test('metadata of another issuer gets no secret', async () => {
  oauth.named = 'https://evil.example'
  expect(await call()).toMatchObject({
    code: 'unreachable',
    error: `MCP server "crm": The authorization server ${oauth.issuer} cannot be asked for a token: its metadata is that of "https://evil.example"`,
  })
  expect(oauth.asked).toEqual([])
})

test.each(['with', 'without'])('an issuer is the same %s a slash at its end', async (how) => {
  const { issuer } = oauth
  oauth.named = how === 'with' ? issuer : `${issuer}/`
  expect(await call(how === 'with' ? `${issuer}/` : issuer)).toEqual(SEEN)
})

test.each([0, -5, 'soon', '', null, [300], 1e308, 2 ** 60])(
  'a token whose time is %j lasts until the server refuses it',
  async (time) => {
    oauth.more = { expires_in: time }
    await call()
    now = 1e12
    expect(await call()).toEqual(SEEN)
    expect(oauth.asked).toHaveLength(1)
  },
)

test.each(['bearer', 'BEARER', undefined, null, 7])('a token of the type %j is a bearer token', async (type) => {
  oauth.more = { token_type: type }
  expect(await call()).toEqual(SEEN)
})

test.each(['a\nb', 'a\u0000b', 'a\u{1F511}'])(
  'a token that no header takes (%j) is an outage that does not show it',
  async (token) => {
    oauth.more = { access_token: token }
    expect(await call()).toEqual({
      at: 'not_sent',
      code: 'unreachable',
      error: `MCP server "crm": The authorization server ${oauth.issuer} cannot be asked for a token: it gave a token with a character that no header takes`,
    })
  },
)

test.each([
  [200, { error: 'invalid_client' }, 'secret_missing'],
  [400, { error: 'invalid_scope' }, 'secret_missing'],
  [403, {}, 'secret_missing'],
  [400, { error: 'temporarily_unavailable' }, 'unreachable'],
  [400, { error: 'server_error' }, 'unreachable'],
  [503, { error: 'invalid_client' }, 'unreachable'],
  [429, { error: 'invalid_client' }, 'unreachable'],
  [307, {}, 'unreachable'],
  [200, {}, 'unreachable'],
])('an answer of %i with %j holds the call: %s', async (status, body, code) => {
  oauth.broken = { status, body: JSON.stringify(body) }
  expect(await call()).toMatchObject({ at: 'not_sent', code })
  expect(mcp.requests).toEqual([])
})

test('no part of the secret is shown where the words of an authorization server are cut', async () => {
  for (let before = 0; before < 20; before++) {
    const words = `${'x'.repeat(300 - before)}client-secret-1`
    oauth.broken = { status: 400, body: JSON.stringify({ error: 'no', error_description: words }) }
    expect(JSON.stringify(redactor.json(await call()))).not.toContain('xc')
  }
})

test('an authorization server that never answers is named, before the time of the call is over', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const timeout = vi.spyOn(AbortSignal, 'timeout')
  onTestFinished(() => timeout.mockRestore())
  const silent = new AbortController()
  timeout.mockReturnValueOnce(silent.signal)
  oauth.isSilent = true
  const called = call()
  await waitUntil(() => oauth.asked.length === 1)
  // The time for the newest handshake is over.
  await vi.advanceTimersByTimeAsync(10_000)
  silent.abort(new Error('too late'))
  expect(await called).toEqual({
    at: 'not_sent',
    code: 'unreachable',
    error: `MCP server "crm": The authorization server ${oauth.issuer} cannot be asked for a token: too late`,
  })
  expect(oauth.asked).toHaveLength(1)
})

test('a server that reads the secret from the form alone gets it there', async () => {
  oauth.methods = ['client_secret_post']
  await call()
  expect(oauth.asked).toMatchObject([{ client: '', client_id: 'svc', client_secret: 'client-secret-1' }])
})

test.each([
  ['is broken', { status: 503, body: 'no' }],
  ['answers without end', { status: 200, body: `{"access_token":"${'x'.repeat(300_000)}"}` }],
])('an authorization server that %s is an outage, and nothing was sent', async (_, broken) => {
  oauth.broken = broken
  expect(await call()).toMatchObject({
    at: 'not_sent',
    code: 'unreachable',
    error: expect.stringContaining(`The authorization server ${oauth.issuer} cannot be asked for a token: `) as string,
  })
  expect(mcp.requests).toEqual([])
  oauth.broken = undefined
  expect(await call()).toEqual(SEEN)
})

test('tools are listed with a token, and an error shows neither token nor secret', async () => {
  const { fetch } = globalThis
  const parts = { env: { CRM_SECRET: 'client-secret-1' }, redactor, fetch, version: '0', timeoutMs: 5000 }
  expect(await listMcpTools(agentWith({ secrets }), serverOf(), parts)).toMatchObject({ faults: [] })
  oauth.broken = { status: 400, body: '{"error":"invalid_scope","error_description":"client-secret-1"}' }
  const { problem } = (await listMcpTools(agentWith({ secrets }), serverOf(), parts)) as { problem: string }
  expect(problem).toBe(
    `MCP server "crm" does not list its tools: The authorization server ${oauth.issuer} gives the client "svc" no token: invalid_scope, ***.`,
  )
})
