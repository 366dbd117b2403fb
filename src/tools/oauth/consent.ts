/**
 * Asks a person, in a browser, to let svc use an MCP server: the grant `authorization_code` with PKCE, and a client that is registered
 * for it where the document names none. Source: RFC 6749, 4.1; RFC 7636; RFC 7591; RFC 9207.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { shortenText } from '../../base/text/cut-text.ts'
import { innermostMessage } from '../../base/failure.ts'
import type { FetchFunction } from '../../base/net/transport.ts'
import { addressOfCodeRequest, ConsentError, isSameValue, readCode, readCodeEndpoint } from './authorization-code.ts'
import {
  askForToken,
  createOauthAsker,
  McpTokenError,
  readAuthorizationServer,
  TOKEN_MS,
  toClientRequest,
  type AskOauth,
  type AuthorizationServer,
  type OauthClient,
} from './authorization-server.ts'
import type { LoginServer, McpLogin } from './login.ts'
import { readProtectedResource } from './protected-resource.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

export interface ConsentParts {
  readonly server: LoginServer
  /** That of the document's client. */
  readonly clientSecret: string | undefined
  /** On a loopback address, where the browser is sent back to. Source: RFC 8252, 7.3. */
  readonly redirectUri: string
  readonly fetch: FetchFunction
  readonly now: () => Date
}

export interface ConsentRequest {
  /** What the browser opens. */
  readonly address: string
  readonly issuer: string
  readonly scope: string | undefined
  /** Whether the browser was sent back by this request, and not by a page that guessed the address. */
  readonly isAnsweredBy: (answer: URLSearchParams) => boolean
  /** @throws ConsentError */
  finish(answer: URLSearchParams): Promise<McpLogin>
}

/** @throws ConsentError */
export async function requestConsent(parts: ConsentParts): Promise<ConsentRequest> {
  const { server, redirectUri, fetch } = parts
  const ask = createOauthAsker(fetch, AbortSignal.timeout(TOKEN_MS))
  const named = await readProtectedResource(server, ask).catch((error: unknown) => {
    throw problem(`MCP server "${server.name}" does not say who gives tokens for it`, error)
  })
  const provider = await describedBy(named.issuer, () => readAuthorizationServer(named.issuer, ask))
  const endpoint = readConsentEndpoint(provider)
  const scope = withOfflineAccess(named.scope, provider)
  const client = await describedBy(provider.issuer, () => findClient(parts, provider, scope, ask))
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(32).toString('base64url')
  const address = addressOfCodeRequest(endpoint, {
    clientId: client.id,
    redirectUri,
    scope,
    state,
    verifier,
    more: {
      resource: named.resource,
      // Without it a server that remembers an earlier consent gives no refresh token. Source: OpenID Connect Core 1.0, 11.
      ...(isOffline(scope) && { prompt: 'consent' }),
    },
  })
  return {
    address,
    issuer: provider.issuer,
    scope,
    isAnsweredBy: (answer) => isSameValue(answer.get('state') ?? '', state),
    finish: (answer) => exchangeCode(parts, { ...named, provider, client, scope, verifier }, answer),
  }
}

function readConsentEndpoint(server: AuthorizationServer): string {
  const endpoint = readCodeEndpoint(server, 'consent')
  const { code_challenge_methods_supported: methods } = server.metadata
  // Source: RFC 9700, 2.1.1.
  if (!Array.isArray(methods) || !methods.includes('S256'))
    throw new ConsentError(
      `The authorization server ${server.issuer} does not say that it checks codes (PKCE with S256).`,
    )
  return endpoint
}

const OFFLINE = 'offline_access'

const isOffline = (scope: string | undefined): boolean => scope?.split(' ').includes(OFFLINE) === true

/** The scope for which servers of OpenID Connect give a refresh token, where the server has it. */
function withOfflineAccess(scope: string | undefined, { metadata }: AuthorizationServer): string | undefined {
  const { scopes_supported: known } = metadata
  if (isOffline(scope) || !Array.isArray(known) || !known.includes(OFFLINE)) return scope
  return scope === undefined ? OFFLINE : `${scope} ${OFFLINE}`
}

interface ConsentClient extends OauthClient {
  /** It was registered for this login, so that its secret belongs to it. */
  readonly isRegistered: boolean
}

async function findClient(
  { server: { auth }, clientSecret, redirectUri }: ConsentParts,
  { issuer, metadata, isBasic }: AuthorizationServer,
  scope: string | undefined,
  ask: AskOauth,
): Promise<ConsentClient> {
  if (auth.client_id !== undefined)
    return { id: auth.client_id, isRegistered: false, ...(clientSecret !== undefined && { secret: clientSecret }) }
  const { registration_endpoint: endpoint, token_endpoint_auth_methods_supported: methods } = metadata
  if (typeof endpoint !== 'string' || parseUrl(endpoint) === undefined)
    throw new ConsentError(
      `The authorization server ${issuer} registers no clients by itself: register one there with the redirect address http://127.0.0.1/callback, and name it in auth.client_id.`,
    )
  const isPublic = !Array.isArray(methods) || methods.includes('none')
  const secretMethod = isBasic ? 'client_secret_basic' : 'client_secret_post'
  const { status, value, said } = await ask(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'svc',
      application_type: 'native',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: isPublic ? 'none' : secretMethod,
      ...(scope !== undefined && { scope }),
    }),
  })
  const { client_id: id, client_secret: secret } = value
  if (typeof id === 'string' && id !== '')
    return { id, isRegistered: true, ...(typeof secret === 'string' && secret !== '' && { secret }) }
  throw new ConsentError(
    `The authorization server ${issuer} registers no client for svc: ${said ?? `it answered ${status}`}.`,
  )
}

interface RequestedConsent {
  readonly resource: string
  readonly provider: AuthorizationServer
  readonly client: ConsentClient
  readonly scope: string | undefined
  readonly verifier: string
}

async function exchangeCode(
  { server, redirectUri, fetch, now }: ConsentParts,
  { resource, provider, client, scope, verifier }: RequestedConsent,
  answer: URLSearchParams,
): Promise<McpLogin> {
  const { issuer } = provider
  const code = readCode(provider, answer, 'consent')
  const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier, resource }
  const ask = createOauthAsker(fetch, AbortSignal.timeout(TOKEN_MS))
  const given = await describedBy(issuer, () => askForToken(provider, client, grant, ask))
  if (given.refreshToken === undefined)
    throw new ConsentError(
      `The authorization server ${issuer} gives no refresh token, so svc could use "${server.name}" only for a moment: name the scope in auth.scope for which it does, often ${OFFLINE}.`,
    )
  return {
    id: randomUUID(),
    server: server.url,
    resource,
    issuer,
    client_id: client.id,
    ...(client.isRegistered && client.secret !== undefined && { client_secret: client.secret }),
    ...((given.scope ?? scope) !== undefined && { scope: given.scope ?? scope! }),
    refresh_token: given.refreshToken,
    consented_at: now().toISOString(),
  }
}

/** Ends a refresh token, and what was given for it. False where the server cannot, or does not. Source: RFC 7009. */
export async function revokeLogin(
  login: McpLogin,
  clientSecret: string | undefined,
  fetch: FetchFunction,
): Promise<boolean> {
  const ask = createOauthAsker(fetch, AbortSignal.timeout(TOKEN_MS))
  try {
    const provider = await readAuthorizationServer(login.issuer, ask)
    const { revocation_endpoint: endpoint } = provider.metadata
    if (typeof endpoint !== 'string' || parseUrl(endpoint) === undefined) return false
    const secret = login.client_secret ?? clientSecret
    const form = { token: login.refresh_token, token_type_hint: 'refresh_token' }
    const { status } = await ask(
      endpoint,
      toClientRequest(provider, { id: login.client_id, ...(secret !== undefined && { secret }) }, form),
    )
    return status === 200
  } catch {
    return false
  }
}

async function describedBy<T>(issuer: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    throw problem(`The authorization server ${issuer} cannot be used`, error)
  }
}

const problem = (what: string, error: unknown): Error =>
  error instanceof ConsentError || error instanceof McpTokenError
    ? error
    : new ConsentError(`${what}: ${shortenText(innermostMessage(error), 300).replace(/\.$/, '')}.`, { cause: error })
