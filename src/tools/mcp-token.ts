/** Access tokens of an MCP server by the OAuth grant `client_credentials`: asked for when one is needed, and again before it ends. */
import type { Clock } from '../base/clock.ts'
import { shortenText } from '../base/cut-text.ts'
import { innermostMessage } from '../base/innermost-cause.ts'
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../base/json/json.ts'
import type { FetchFunction } from '../base/net/transport.ts'
import type { Redactor } from '../base/secret.ts'
import type { ClientCredentialsAuth } from '../spec/document.ts'

export interface TokenSource {
  /**
   * A token that does not end within the next moments.
   * @throws McpTokenError when the authorization server gives none
   */
  token(): Promise<string>
  /** The MCP server did not accept a token, so that the next one is asked for. False where that is what was just done. */
  refuse(token: string): boolean
}

/** No token could be had. The message names the authorization server and the client. */
export class McpTokenError extends Error {
  override readonly name = 'McpTokenError'
  /** True where the authorization server refused the client: waiting does not help, another secret may. */
  readonly isRefused: boolean
  constructor(message: string, isRefused: boolean, cause?: unknown) {
    super(message, { cause })
    this.isRefused = isRefused
  }
}

export interface TokenSourceParts {
  readonly auth: ClientCredentialsAuth
  readonly clientSecret: string
  /** Address of the MCP server, for which the token is asked. Source: RFC 8707. */
  readonly resource: string
  readonly fetch: FetchFunction
  readonly clock: Clock
  readonly redactor: Redactor
}

/** For the authorization server to answer all requests for one token. */
const TOKEN_MS = 15_000

/** A token is replaced when this much of its life is left, but at most a minute before it ends. */
const SHARE_LEFT = 0.2
const MOST_LEFT_MS = 60_000

/** Answers of authorization servers are short. */
const MAX_ANSWER_BYTES = 256 * 1024

interface HeldToken {
  readonly token: string
  /** By `Clock.monotonic`; Infinity where the server does not say when it ends. */
  readonly renewAt: number
}

export function createTokenSource(parts: TokenSourceParts): TokenSource {
  const { clock, redactor } = parts
  let held: HeldToken | undefined
  let asking: Promise<HeldToken> | undefined
  const ask = async (): Promise<HeldToken> => {
    const before = held?.token
    const next = await requestToken(parts)
    redactor.add(next.token)
    if (before !== undefined && before !== next.token) redactor.remove(before)
    return (held = next)
  }
  return {
    async token() {
      if (held && clock.monotonic() < held.renewAt) return held.token
      asking ??= ask().finally(() => (asking = undefined))
      return (await asking).token
    },
    refuse(token) {
      if (held?.token !== token) return true
      if (held.renewAt === REFUSED) return false
      held = { token, renewAt: REFUSED }
      return true
    },
  }
}

const REFUSED = -Infinity

async function requestToken({ auth, clientSecret, resource, fetch, clock }: TokenSourceParts): Promise<HeldToken> {
  const { issuer, client_id: clientId, scope } = auth
  const signal = AbortSignal.timeout(TOKEN_MS)
  const asked = clock.monotonic()
  try {
    const ask = async (url: string, init: TokenRequest = {}): Promise<TokenAnswer> =>
      readAnswer(await fetch(url, { ...init, headers: { accept: 'application/json', ...init.headers }, signal }))
    const { endpoint, isBasic } = await findEndpoint(issuer, ask)
    const form = new URLSearchParams({ grant_type: 'client_credentials', resource })
    if (scope !== undefined) form.set('scope', scope)
    if (!isBasic)
      for (const [name, value] of Object.entries({ client_id: clientId, client_secret: clientSecret }))
        form.set(name, value)
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      ...(isBasic && { authorization: basicAuthorization(clientId, clientSecret) }),
    }
    const { status, value } = await ask(endpoint, { method: 'POST', headers, body: form.toString() })
    if (typeof value['access_token'] === 'string' && value['access_token'] !== '') {
      const lifeMs = readSeconds(value['expires_in']) * 1000
      return { token: value['access_token'], renewAt: asked + lifeMs - Math.min(lifeMs * SHARE_LEFT, MOST_LEFT_MS) }
    }
    const why = [value['error'], value['error_description']].filter((each) => typeof each === 'string').join(', ')
    if (status < 400 || status === 429 || status >= 500) throw new Error(`it answered ${status} without a token`)
    const said = why === '' ? `it answered ${status}` : shortenText(why, 300)
    throw new McpTokenError(
      `The authorization server ${issuer} gives the client "${clientId}" no token: ${said}.`,
      true,
    )
  } catch (error) {
    if (error instanceof McpTokenError) throw error
    const why = shortenText(innermostMessage(error), 300)
    throw new McpTokenError(`The authorization server ${issuer} cannot be asked for a token: ${why}`, false, error)
  }
}

interface TokenRequest {
  readonly method?: 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

interface TokenAnswer {
  readonly status: number
  /** Empty where the answer is no object. */
  readonly value: JsonObject
}

/**
 * Where the metadata of an authorization server says that tokens are asked for. Only what `issuer` names gets the secret: the MCP
 * server has no say in it. Source: RFC 8414; OpenID Connect Discovery 1.0.
 */
async function findEndpoint(
  issuer: string,
  ask: (url: string) => Promise<TokenAnswer>,
): Promise<{ readonly endpoint: string; readonly isBasic: boolean }> {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/+$/, '')
  for (const url of [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]) {
    const { status, value } = await ask(url)
    if (status === 429 || status >= 500) throw new Error(`it answered ${status} to ${url}`)
    const { issuer: named, token_endpoint: endpoint, token_endpoint_auth_methods_supported: methods } = value
    if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) continue
    // Metadata of another server is an attempt to get the secret. Source: RFC 8414, 3.3.
    if (named !== issuer && named !== issuer.replace(/\/+$/, ''))
      throw new Error(`its metadata is that of ${shortenText(JSON.stringify(named ?? null), 200)}`)
    const isBasic = !Array.isArray(methods) || methods.includes('client_secret_basic') || methods.length === 0
    return { endpoint, isBasic }
  }
  throw new Error('it publishes no metadata with a token_endpoint')
}

/** Source: RFC 6749, 2.3.1: both parts are encoded as in a form. */
const basicAuthorization = (id: string, secret: string): string => {
  const encode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`
}

/** Some servers write the number as text. A token without a time lasts until it is refused. */
function readSeconds(value: JsonValue | undefined): number {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof seconds === 'number' && seconds >= 0 ? seconds : Infinity
}

async function readAnswer(response: Response): Promise<TokenAnswer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`its answer is longer than ${MAX_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  const value = readJson(Buffer.concat(chunks).toString())
  return { status: response.status, value: isJsonObject(value) ? value : {} }
}

function readJson(text: string): JsonValue {
  try {
    return parseJson(text.replace(/^\uFEFF/, ''))
  } catch {
    return null
  }
}

/** The failure to get a token behind an error of the client; undefined for any other error. */
export function tokenErrorOf(error: unknown): McpTokenError | undefined {
  for (let here = error, depth = 0; here instanceof Error && depth < 8; here = here.cause as unknown, depth++)
    if (here instanceof McpTokenError) return here
  return undefined
}
