/** What svc asks of authorization servers: their metadata, and tokens. What they answer is foreign, and bounded. */
import { shortenText } from '../../base/text/cut-text.ts'
import { innermostMessage } from '../../base/failure.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { parseKeepingDigits } from '../../base/json/keep-digits.ts'
import type { FetchFunction } from '../../base/net/transport.ts'
import type { Redactor } from '../../base/secret.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

/** No token could be had. The message names the authorization server and the client. */
export class McpTokenError extends Error {
  override readonly name = 'McpTokenError'
  /** True where the authorization server refused the client: waiting does not help, another secret or login may. */
  readonly isRefused: boolean
  /** The code of its answer, where it gave one. Source: RFC 6749, 5.2. */
  readonly oauthCode: string | undefined
  constructor(message: string, isRefused: boolean, cause?: unknown, oauthCode?: string) {
    super(message, { cause })
    this.isRefused = isRefused
    this.oauthCode = oauthCode
  }
}

/** The failure to get a token behind an error of the client; undefined for any other error. */
export function tokenErrorOf(error: unknown): McpTokenError | undefined {
  for (let here = error, depth = 0; here instanceof Error && depth < 8; here = here.cause as unknown, depth++)
    if (here instanceof McpTokenError) return here
  return undefined
}

/** For an authorization server to answer all requests for one token. */
export const TOKEN_MS = 15_000

/** Answers of authorization servers are short. */
const MAX_ANSWER_BYTES = 256 * 1024

export interface OauthRequest {
  readonly method?: 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Of the answer, where it may be longer than others. */
  readonly maxBytes?: number
}

export interface OauthAnswer {
  readonly status: number
  readonly headers: Headers
  /** Empty where the answer is no object. */
  readonly value: JsonObject
  /** What it says of an error, fit to be shown. */
  readonly said: string | undefined
}

export type AskOauth = (url: string, request?: OauthRequest) => Promise<OauthAnswer>

/** @param redactor knows what is sent: a server may say it in its error */
export const createOauthAsker =
  (fetch: FetchFunction, signal: AbortSignal, redactor?: Redactor): AskOauth =>
  async (url, { maxBytes = MAX_ANSWER_BYTES, ...request } = {}) => {
    const headers = { accept: 'application/json', ...request.headers }
    const answer = await readAnswer(await fetch(url, { ...request, headers, signal }), maxBytes)
    return { ...answer, said: describeOauthError(answer.value, redactor) }
  }

/** What the metadata of an authorization server says. */
export interface AuthorizationServer {
  readonly issuer: string
  readonly tokenEndpoint: string
  /** It takes the secret of a client in the header. */
  readonly isBasic: boolean
  /** The whole document. */
  readonly metadata: JsonObject
}

/**
 * Only what `issuer` names gets secrets and refresh tokens: the MCP server has no say in it.
 * Source: RFC 8414; OpenID Connect Discovery 1.0.
 */
export async function readAuthorizationServer(
  issuer: string,
  ask: AskOauth,
  addresses: readonly string[] = metadataAddresses(issuer),
): Promise<AuthorizationServer> {
  let refusal = ''
  for (const url of addresses) {
    const { status, value } = await ask(url)
    if (status !== 200 && status !== 404) refusal = `: it answered ${status} to ${url}`
    if (status === 429 || status >= 500) throw new Error(`it answered ${status} to ${url}`)
    const { issuer: named, token_endpoint: endpoint, token_endpoint_auth_methods_supported: methods } = value
    if (typeof endpoint !== 'string' || parseUrl(endpoint) === undefined) continue
    // Metadata of another server is an attempt to get the secret. Source: RFC 8414, 3.3.
    if (typeof named !== 'string' || !isSameIssuer(named, issuer))
      throw new Error(`its metadata is that of ${describeIssuer(named)}`)
    const isBasic = !Array.isArray(methods) || methods.includes('client_secret_basic') || methods.length === 0
    return { issuer: named, tokenEndpoint: endpoint, isBasic, metadata: value }
  }
  throw new Error(`it publishes no metadata with a token_endpoint${refusal}`)
}

/** Entra ID writes `{tenantid}` for what is common to its tenants. */
function describeIssuer(named: JsonValue | undefined): string {
  const shown = shortenText(JSON.stringify(named ?? null), 200)
  return shown.includes('{') ? `${shown}, which stands for many: name the issuer of one` : shown
}

/** Some servers name themselves with a slash at the end in one document and without it in another; their metadata is at one address. */
export const isSameIssuer = (a: string, b: string): boolean => withoutEndSlash(a) === withoutEndSlash(b)

const withoutEndSlash = (issuer: string): string => issuer.replace(/\/$/, '')

function metadataAddresses(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/+$/, '')
  const openId = `${origin}/.well-known/openid-configuration${path}`
  return [...new Set([`${origin}/.well-known/oauth-authorization-server${path}`, openId, openIdAddress(issuer)])]
}

/** Source: OpenID Connect Discovery 1.0, 4. */
export const openIdAddress = (issuer: string): string =>
  `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`

export interface OauthClient {
  readonly id: string
  /** Absent for a public client. */
  readonly secret?: string
}

export interface GivenToken {
  readonly accessToken: string
  readonly refreshToken?: string
  /** Milliseconds; Infinity where the server does not say. */
  readonly lifeMs: number
  readonly scope?: string
  /** Source: OpenID Connect Core 1.0, 3.1.3.3. */
  readonly idToken?: string
}

/** @throws McpTokenError that is refused, or an error of a server that is away or cannot be understood */
export async function askForToken(
  server: Omit<AuthorizationServer, 'metadata'>,
  client: OauthClient,
  grant: Readonly<Record<string, string>>,
  ask: AskOauth,
): Promise<GivenToken> {
  const { status, value, said } = await ask(server.tokenEndpoint, toClientRequest(server, client, grant))
  const { access_token: accessToken, refresh_token: refreshToken, scope, id_token: idToken, error } = value
  if (typeof accessToken === 'string' && accessToken !== '') {
    if (!TOKEN.test(accessToken)) throw new Error('it gave a token with a character that no header takes')
    return {
      accessToken,
      lifeMs: readSeconds(value['expires_in']) * 1000,
      ...(typeof refreshToken === 'string' && refreshToken !== '' && { refreshToken }),
      ...(typeof scope === 'string' && { scope }),
      ...(typeof idToken === 'string' && { idToken }),
    }
  }
  const code = typeof error === 'string' && error !== '' ? error : undefined
  if (isAway(status, code))
    throw new Error(`it answered ${status} without a token${said === undefined ? '' : `: ${said}`}`)
  throw new McpTokenError(
    `The authorization server ${server.issuer} gives the client "${client.id}" no token: ${said ?? `it answered ${status}`}.`,
    true,
    undefined,
    code,
  )
}

/** What stands in a header. Source: RFC 6749, A.12. */
const TOKEN = /^[\x20-\x7E]+$/

/** Codes by which a server says that it cannot answer now. Source: RFC 6749, 4.1.2.1. */
const AWAY_CODES: ReadonlySet<string> = new Set(['temporarily_unavailable', 'server_error'])

export const isAwayCode = (code: string | null | undefined): boolean => AWAY_CODES.has(code ?? '')

/** An answer without a token says no where it has a code, in whatever status, or where its status alone says so. */
function isAway(status: number, code: string | undefined): boolean {
  if (status === 429 || status >= 500) return true
  return code === undefined ? status < 400 : isAwayCode(code)
}

/** A form from a client, which names itself and proves it with its secret. */
export function toClientRequest(
  { isBasic }: Pick<AuthorizationServer, 'isBasic'>,
  { id, secret }: OauthClient,
  fields: Readonly<Record<string, string>>,
): OauthRequest {
  const form = new URLSearchParams(fields)
  const inHeader = isBasic && secret !== undefined
  if (!inHeader) form.set('client_id', id)
  if (!inHeader && secret !== undefined) form.set('client_secret', secret)
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(inHeader && { authorization: basicAuthorization(id, secret) }),
    },
    body: form.toString(),
  }
}

/** Its code and its words, of an answer or of the address to which it sends a browser back. */
export function describeOauthError(
  { error, error_description: words }: JsonObject,
  redactor?: Redactor,
): string | undefined {
  const said = [error, words].filter((each): each is string => typeof each === 'string' && each !== '').join(', ')
  return said === '' ? undefined : shortenText(redactor?.text(said) ?? said, 300)
}

/** As an error of a server that is away: the call waits for it. */
export function toTokenError(issuer: string, error: unknown): McpTokenError {
  if (error instanceof McpTokenError) return error
  const why = shortenText(innermostMessage(error), 300)
  return new McpTokenError(`The authorization server ${issuer} cannot be asked for a token: ${why}`, false, error)
}

/** Source: RFC 6749, 2.3.1: both parts are encoded as in a form. */
const basicAuthorization = (id: string, secret: string): string => {
  const encode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`
}

/** Some servers write the number as text. A token without a time, or with one that is none, lasts until it is refused. */
function readSeconds(value: JsonValue | undefined): number {
  const seconds = typeof value === 'string' ? Number(value) : value
  return typeof seconds === 'number' && seconds > 0 ? seconds : Infinity
}

async function readAnswer(response: Response, maxBytes: number): Promise<Omit<OauthAnswer, 'said'>> {
  // An MCP server that wants no token may answer with a stream that does not end.
  if (response.headers.get('content-type')?.includes('text/event-stream') === true) {
    await response.body?.cancel()
    return { status: response.status, headers: response.headers, value: {} }
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new Error(`its answer is longer than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  const value = readJson(Buffer.concat(chunks).toString())
  return { status: response.status, headers: response.headers, value: isJsonObject(value) ? value : {} }
}

function readJson(text: string): JsonValue {
  try {
    return parseKeepingDigits(text.replace(/^\uFEFF/, ''))
  } catch {
    return null
  }
}
