/** Which authorization server an MCP server names, and what tokens for it are asked for. Source: RFC 9728. */
import { shortenText } from '../../base/text/cut-text.ts'
import { isLoopback } from '../../base/net/loopback.ts'
import type { JsonObject } from '../../base/json/json.ts'
import type { AskOauth } from './authorization-server.ts'
import type { LoginServer } from './login.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

export interface ProtectedResource {
  readonly issuer: string
  readonly resource: string
  /** What the server asks for; absent where it does not say. */
  readonly scope?: string
}

/** The document's own issuer and scope come first. @throws an error whose message goes on after the name of the server */
export async function readProtectedResource({ url, auth }: LoginServer, ask: AskOauth): Promise<ProtectedResource> {
  const challenge = await readChallenge(url, ask)
  const { metadata, from } = await readMetadata(url, challenge['resource_metadata'], ask)
  const resource = typeof metadata['resource'] === 'string' ? metadata['resource'] : url
  // Another server's tokens could be asked for in this one's name. Source: RFC 9728, 7.3.
  if (!isWithin(url, resource)) throw new Error(`says in ${from} that it is ${shorten(resource)}`)
  const named = firstText(metadata['authorization_servers'])
  // Servers of earlier revisions are their own authorization server.
  const issuer = auth.issuer ?? named ?? new URL(url).origin
  if (parseUrl(issuer) === undefined)
    throw new Error(`names an authorization server that is no address: ${shorten(issuer)}`)
  if (auth.issuer === undefined && isLoopback(new URL(issuer).hostname) && !isLoopback(new URL(url).hostname))
    throw new Error(`names an authorization server of this machine: ${shorten(issuer)}`)
  const scope = auth.scope ?? challenge['scope'] ?? scopesOf(metadata)
  return { issuer, resource, ...(scope !== undefined && scope !== '' && { scope }) }
}

/** The parameters of `WWW-Authenticate`, as a request without a token is answered. */
async function readChallenge(url: string, ask: AskOauth): Promise<Readonly<Record<string, string | undefined>>> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'svc', version: '0' } }
  const { status, headers } = await ask(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
  if (status !== 401) return {}
  const header = shortenText(headers.get('www-authenticate') ?? '', MAX_CHALLENGE)
  // Some servers leave out the quotes.
  const found = header.matchAll(/([a-z_]+)\s*=\s*(?:"([^"\\]*)"|([^\s",]+))/gi)
  return Object.fromEntries([...found].map(([, name = '', quoted, plain]) => [name.toLowerCase(), quoted ?? plain]))
}

const MAX_CHALLENGE = 8192

async function readMetadata(
  url: string,
  named: string | undefined,
  ask: AskOauth,
): Promise<{ readonly metadata: JsonObject; readonly from: string }> {
  const { origin, pathname } = new URL(url)
  const path = pathname.replace(/\/+$/, '')
  const guesses = [path, ''].map((each) => `${origin}/.well-known/oauth-protected-resource${each}`)
  for (const from of new Set([...(named !== undefined && parseUrl(named) !== undefined ? [named] : []), ...guesses])) {
    const { status, value } = await ask(from)
    if (status === 200 && firstText(value['authorization_servers']) !== undefined) return { metadata: value, from }
  }
  return { metadata: {}, from: url }
}

/** The resource is the server, or has it below its path. */
function isWithin(url: string, resource: string): boolean {
  const [server, named] = [new URL(url), parseUrl(resource)]
  if (named === undefined) return false
  const below = named.pathname.endsWith('/') ? named.pathname : `${named.pathname}/`
  return server.origin === named.origin && `${server.pathname}/`.startsWith(below)
}

const scopesOf = ({ scopes_supported: scopes }: JsonObject): string | undefined =>
  Array.isArray(scopes) ? scopes.filter((each) => typeof each === 'string').join(' ') : undefined

const firstText = (value: unknown): string | undefined =>
  Array.isArray(value) ? value.find((each): each is string => typeof each === 'string') : undefined

const shorten = (text: string): string => JSON.stringify(shortenText(text, 200))
