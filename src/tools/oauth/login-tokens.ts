/** Access tokens of MCP servers to which a person consented (`svc mcp login`), by the refresh token that is kept of it. */
import type { Clock } from '../../base/clock.ts'
import type { FetchFunction } from '../../base/net/transport.ts'
import type { Redactor } from '../../base/secret.ts'
import { shortenText } from '../../base/text/cut-text.ts'
import { innermostMessage } from '../../base/failure.ts'
import {
  askForToken,
  createOauthAsker,
  McpTokenError,
  readAuthorizationServer,
  TOKEN_MS,
  toTokenError,
} from './authorization-server.ts'
import { nameOfLogin, type LoginServer, type McpLogin } from './login.ts'
import type { LoginKeeper } from './login-keeper.ts'
import { withLoginLock } from './login-lock.ts'
import { createTokenSource, renewalOf, type HeldToken, type TokenSource } from './token-source.ts'

export interface LoginStore {
  readonly keeper: LoginKeeper
  /** Locks are in it. */
  readonly dataDirectory: string
}

export interface LoginTokenParts {
  /** Absent where there is no data directory, so that no login can be kept. */
  readonly logins: LoginStore | undefined
  readonly fetch: FetchFunction
  readonly clock: Clock
  readonly redactor: Redactor
}

export interface LoginTokens {
  /** The same for all connections to a server: each renewal ends the refresh token before it. */
  sourceOf(server: LoginServer, clientSecret: string | undefined): TokenSource
}

export function createLoginTokens(parts: LoginTokenParts): LoginTokens {
  const sources = new Map<string, TokenSource>()
  return {
    sourceOf(server, clientSecret) {
      const name = nameOfLogin(server)
      const key = JSON.stringify([name, clientSecret ?? null])
      const source = sources.get(key) ?? createLoginSource(name, clientSecret, parts)
      sources.set(key, source)
      return source
    },
  }
}

function createLoginSource(name: string, clientSecret: string | undefined, parts: LoginTokenParts): TokenSource {
  const { logins, fetch, clock, redactor } = parts
  /** The consent of the token that is held. */
  let consent: string | undefined
  /** Given by the authorization server, and not kept yet. */
  let unkept: McpLogin | undefined

  const read = async (): Promise<McpLogin | undefined> => {
    try {
      return await logins?.keeper.read(name)
    } catch (error) {
      throw new McpTokenError(`Its login cannot be read: ${describeError(error)}`, false, error)
    }
  }
  const keep = async (): Promise<void> => {
    if (!unkept || !logins) return
    try {
      await logins.keeper.write(name, unkept)
    } catch (error) {
      throw new McpTokenError(`Its login cannot be kept: ${describeError(error)}`, false, error)
    }
    unkept = undefined
  }
  const renew = async (): Promise<HeldToken> => {
    const kept = await read()
    // A later consent, or none: what could not be kept is over.
    if (unkept && kept?.id !== unkept.id) unkept = undefined
    const login = unkept ?? kept
    if (!login) throw new McpTokenError('Nobody has logged in to it.', true)
    const asked = clock.monotonic()
    redactor.add(login.refresh_token)
    const secret = login.client_secret ?? clientSecret
    if (login.client_secret !== undefined) redactor.add(login.client_secret)
    try {
      const ask = createOauthAsker(fetch, AbortSignal.timeout(TOKEN_MS), redactor)
      const server = await readAuthorizationServer(login.issuer, ask)
      const client = { id: login.client_id, ...(secret !== undefined && { secret }) }
      const { refresh_token, resource } = login
      const given = await askForToken(server, client, { grant_type: 'refresh_token', refresh_token, resource }, ask)
      const { accessToken, lifeMs, refreshToken } = given
      redactor.add(accessToken)
      if (refreshToken !== undefined && refreshToken !== refresh_token) {
        redactor.add(refreshToken)
        redactor.remove(refresh_token)
        unkept = { ...login, refresh_token: refreshToken }
      }
      // Before the access token is used: the refresh token before it is worthless now.
      await keep()
      consent = login.id
      return { token: accessToken, renewAt: renewalOf(asked, lifeMs) }
    } catch (error) {
      throw toTokenError(login.issuer, error)
    }
  }
  return createTokenSource(
    parts,
    () => (logins ? withLoginLock(logins.dataDirectory, name, renew) : renew()),
    async () => logins?.keeper.isLocal === true && (await read())?.id !== consent,
  )
}

const describeError = (error: unknown): string => shortenText(innermostMessage(error), 300)
