/** The scheme `client_credentials` of MCP servers against a certified authorization server, which the MCP server asks about each token. */
import { existsSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRedactor } from '../../src/base/secret.ts'
import type { ClientCredentialsAuth } from '../../src/spec/document.ts'
import { startFakeMcp, type FakeMcp } from '../fakes/mcp.ts'
import { listen, stop } from '../fakes/model-server.ts'
import { agentWith, invocationOf, timeless, toolboxWith, toolNamed } from './invocation.ts'

const PACKAGE = join(import.meta.dirname, 'oidc/package.json')
const isInstalled = existsSync(join(import.meta.dirname, 'oidc/node_modules'))

/** What the test uses of the package, which has no types. */
interface Provider {
  callback(): RequestListener
  readonly ClientCredentials: {
    find(
      token: string,
    ): Promise<{ readonly aud?: string; readonly scope?: string; readonly clientId?: string } | undefined>
  }
}
type ProviderClass = new (issuer: string, configuration: object) => Provider

const SECRET = 'client-secret: 100% "odd" & long'

describe.skipIf(!isInstalled)('with npm ci --prefix test/tools/oidc --ignore-scripts', () => {
  let provider: Provider
  let http: Server
  let issuer: string
  let mcp: FakeMcp
  let asked = 0

  beforeAll(async () => {
    let answer: RequestListener = () => {}
    http = createServer((request, response) => answer(request, response))
    issuer = await listen(http)
    mcp = await startFakeMcp('stateless', [
      { name: 'look', answer: () => ({ content: [{ type: 'text', text: 'seen' }] }) },
    ])
    const path = createRequire(PACKAGE).resolve('oidc-provider')
    const { default: OidcProvider } = (await import(pathToFileURL(path).href)) as { default: ProviderClass }
    const client = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [], client_secret: SECRET }
    provider = new OidcProvider(issuer, {
      clients: [
        { ...client, client_id: 'svc:basic' },
        { ...client, client_id: 'svc-post', token_endpoint_auth_method: 'client_secret_post' },
      ],
      scopes: ['orders:read'],
      ttl: { ClientCredentials: 300 },
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_: unknown, resource: string) => ({ scope: 'orders:read', audience: resource }),
        },
      },
    })
    const callback = provider.callback()
    answer = (request, response) => {
      if (request.url === '/token') asked++
      callback(request, response)
    }
    let accepted: ReadonlySet<string> = new Set()
    mcp.intercept = (_, { headers }, response) => {
      const token = (headers.authorization ?? '').replace('Bearer ', '')
      return !accepted.has(token) && Boolean(response.writeHead(401).end())
    }
    // The MCP server of the test answers at once, so what it asks about a token is asked as the token is given.
    const { prototype } = provider.ClientCredentials as unknown as {
      prototype: { save(this: { aud?: string; scope?: string }, ...args: unknown[]): Promise<string> }
    }
    const save = Reflect.get(prototype, 'save') as typeof prototype.save
    prototype.save = async function (...args) {
      const value = await save.apply(this, args)
      const found = await provider.ClientCredentials.find(value)
      if (found?.aud === mcp.url && found.scope === 'orders:read') accepted = new Set([...accepted, value])
      return value
    }
  })
  afterAll(async () => {
    await mcp.close()
    await stop(http)
  })

  const call = async (auth: Partial<ClientCredentialsAuth>, secret = SECRET) => {
    const redactor = createRedactor()
    const toolbox = toolboxWith({}, { redactor, env: { CRM_SECRET: secret } })
    const tool = toolNamed('acme.look', { mcp: { server: 'crm', tool: 'look' } })
    const scheme = { scheme: 'client_credentials', secret: 'crm', issuer, scope: 'orders:read' } as const
    const agent = agentWith({
      mcpServers: [{ name: 'crm', url: mcp.url, auth: { client_id: 'svc:basic', ...scheme, ...auth } }],
      secrets: { crm: { fromEnv: 'CRM_SECRET' } },
    })
    const route = toolbox.route(agent, tool)!
    const invoke = async (key: string) =>
      timeless(await route.invoke(invocationOf(tool, {}, { idempotencyKey: key }), new AbortController().signal))
    const before = asked
    try {
      return { outcomes: [await invoke('a'), await invoke('b')], asked: asked - before }
    } finally {
      await toolbox.close()
    }
  }
  const seen = { at: 'returned', isError: false, result: 'seen' }

  test.each<[string, Partial<ClientCredentialsAuth>]>([
    ['in the header', {}],
    ['although it is registered for the form', { client_id: 'svc-post' }],
    ['where the issuer is written with a slash', { issuer: 'slash' }],
  ])(
    'one token for this server and its scope is enough for all calls: the client authenticates %s',
    async (_, auth) => {
      const given = auth.issuer === undefined ? auth : { ...auth, issuer: `${issuer}/` }
      expect(await call(given)).toEqual({ outcomes: [seen, seen], asked: 1 })
    },
  )

  test.each<[string, Partial<ClientCredentialsAuth>, string, RegExp]>([
    [
      'a wrong secret',
      {},
      'not-the-secret',
      /^MCP server "crm": .+ gives the client "svc:basic" no token: invalid_client/,
    ],
    ['an unknown client', { client_id: 'nobody' }, SECRET, /gives the client "nobody" no token: invalid_client/],
    // The authorization server leaves the scope out of the token.
    [
      'a scope that is not its',
      { scope: 'orders:write' },
      SECRET,
      /^MCP server "crm" answered 401: It does not accept a token/,
    ],
  ])('%s holds the call as a missing secret does', async (_, auth, secret, error) => {
    const held = { at: 'not_sent', code: 'secret_missing', error: expect.stringMatching(error) as string }
    expect((await call(auth, secret)).outcomes).toEqual([held, held])
  })
})
