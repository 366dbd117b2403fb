/** A certified authorization server (`oidc-provider` from npm), an MCP server that asks it about each token, and a person with a browser. */
import { existsSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startFakeMcp, type FakeMcp } from './mcp.ts'
import { listen, stop } from './model-server.ts'

const PACKAGE = join(import.meta.dirname, '../tools/oidc/package.json')
export const isOidcInstalled = existsSync(join(import.meta.dirname, '../tools/oidc/node_modules'))

/** What tests use of the package, which has no types. */
interface OidcToken {
  readonly aud?: string
  readonly scope?: string
  destroy(): Promise<void>
}
interface TokenClass {
  readonly prototype: { save(this: OidcToken, ...args: unknown[]): Promise<string> }
  find(token: string): Promise<OidcToken | undefined>
}
type ProviderClass = new (
  issuer: string,
  configuration: object,
) => { callback(): RequestListener; readonly AccessToken: TokenClass; readonly RefreshToken: TokenClass }

export interface OidcWorld {
  readonly issuer: string
  readonly mcp: FakeMcp
  /** Paths that were asked for at the authorization server, with the method. */
  readonly asked: string[]
  /** Every refresh token that it gave. */
  readonly refreshTokens: readonly string[]
  /** Every access token that the MCP server accepts. */
  readonly accepted: Set<string>
  /** Answers requests for tokens with this status in place of a token. */
  broken: number | undefined
  /** Ends a refresh token, as the person does at the authorization server. */
  withdraw(refreshToken: string): Promise<void>
  isKnown(refreshToken: string): Promise<boolean>
  /** Opens an address, signs in and consents, and follows to the end. The text of the last page. */
  browse(address: string, answer?: 'consent' | 'abort'): Promise<string>
  /** The same in a browser that has cookies of other sites, until it comes to an address that begins so, or to the end. */
  visit(address: string, cookies: Map<string, string>, until: string): Promise<Visited>
  close(): Promise<void>
}

/** Where a browser ended. */
export interface Visited {
  /** With the fragment, where it was sent there. */
  readonly address: string
  readonly status: number
  readonly page: string
}

export async function startOidc(configuration: object = {}): Promise<OidcWorld> {
  let answer: RequestListener = () => {}
  const http = createServer((request, response) => answer(request, response))
  const issuer = await listen(http)
  const mcp = await startFakeMcp('modern', [
    { name: 'look', answer: () => ({ content: [{ type: 'text', text: 'seen' }] }) },
  ])
  const path = createRequire(PACKAGE).resolve('oidc-provider')
  const { default: OidcProvider } = (await import(pathToFileURL(path).href)) as { default: ProviderClass }
  const provider = new OidcProvider(issuer, {
    scopes: ['openid', 'offline_access', 'orders:read'],
    ttl: { AccessToken: 300, Grant: 3600, Interaction: 600, RefreshToken: 3600, Session: 600 },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        useGrantedResource: () => true,
        getResourceServerInfo: (_: unknown, resource: string) => ({ scope: 'orders:read', audience: resource }),
      },
    },
    ...configuration,
  })
  const world: OidcWorld = {
    issuer,
    mcp,
    asked: [],
    refreshTokens: [],
    accepted: new Set(),
    broken: undefined,
    async withdraw(token) {
      await (await provider.RefreshToken.find(token))?.destroy()
    },
    isKnown: async (token) => (await provider.RefreshToken.find(token)) !== undefined,
    browse: async (address, choice = 'consent') => (await browse(address, choice, new Map(), undefined)).page,
    visit: (address, cookies, until) => browse(address, 'consent', cookies, until),
    async close() {
      await mcp.close()
      await stop(http)
    },
  }
  const callback = provider.callback()
  answer = (request, response) => {
    world.asked.push(`${request.method} ${request.url?.split('?')[0]}`)
    if (request.url === '/token' && world.broken !== undefined) return void response.writeHead(world.broken).end('{}')
    callback(request, response)
  }
  onSave(provider.AccessToken, ({ aud, scope }, value) => {
    if (aud === mcp.url && scope?.includes('orders:read')) world.accepted.add(value)
  })
  onSave(provider.RefreshToken, (_, value) => void (world.refreshTokens as string[]).push(value))
  mcp.intercept = (_, { headers, url }, response) => {
    const metadata = '/.well-known/oauth-protected-resource/mcp'
    const { origin } = new URL(mcp.url)
    if (url === metadata) {
      response.writeHead(200, { 'content-type': 'application/json' })
      const body = { resource: mcp.url, authorization_servers: [issuer], scopes_supported: ['orders:read'] }
      return Boolean(response.end(JSON.stringify(body)))
    }
    if (world.accepted.has((headers.authorization ?? '').replace('Bearer ', ''))) return false
    response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${origin}${metadata}"` })
    return Boolean(response.end())
  }
  return world
}

/** What the MCP server of a test would ask about a token is told as the token is given. */
function onSave({ prototype }: TokenClass, told: (token: OidcToken, value: string) => void): void {
  const save = Reflect.get(prototype, 'save') as typeof prototype.save
  prototype.save = async function (...args) {
    const value = await save.apply(this, args)
    told(this, value)
    return value
  }
}

async function browse(
  address: string,
  choice: 'consent' | 'abort',
  cookies: Map<string, string>,
  until: string | undefined,
): Promise<Visited> {
  const open = async (url: string, form?: Record<string, string>): Promise<Visited> => {
    const response = await fetch(url, {
      method: form ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { accept: 'text/html', cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { body: new URLSearchParams(form) }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = response.headers.get('location')
    const next = location === null ? undefined : new URL(location, url).href
    if (next !== undefined && until !== undefined && next.startsWith(until))
      return { address: next, status: response.status, page: '' }
    if (next !== undefined) return open(next)
    const page = await response.text()
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1]
    const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1]
    const device = /<form[^>]* action="([^"]+\/device)"/.exec(page)?.[1]
    if (device !== undefined) {
      const inputs = page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)
      return open(new URL(device, url).href, {
        ...Object.fromEntries([...inputs].map(([, ...pair]) => pair)),
        confirm: 'yes',
      })
    }
    if (prompt === undefined || action === undefined) return { address: url, status: response.status, page }
    if (choice === 'abort') return open(`${url}/abort`)
    return open(new URL(action, url).href, { prompt, ...(prompt === 'login' && { login: 'ana', password: 'any' }) })
  }
  return open(address)
}
