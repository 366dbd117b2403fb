/** Access tokens of an MCP server by the OAuth grant `client_credentials`: asked for when one is needed, and again before it ends. */
import type { Clock } from '../../base/clock.ts'
import type { FetchFunction } from '../../base/net/transport.ts'
import type { Redactor } from '../../base/secret.ts'
import type { ClientCredentialsAuth } from '../../spec/document.ts'
import {
  askForToken,
  createOauthAsker,
  readAuthorizationServer,
  TOKEN_MS,
  toTokenError,
} from './authorization-server.ts'
import { createTokenSource, renewalOf, type HeldToken, type TokenSource } from './token-source.ts'

export interface ClientTokenParts {
  readonly auth: ClientCredentialsAuth
  readonly clientSecret: string
  /** Address of the MCP server, for which the token is asked. Source: RFC 8707. */
  readonly resource: string
  readonly fetch: FetchFunction
  readonly clock: Clock
  readonly redactor: Redactor
}

export const createClientTokens = (parts: ClientTokenParts): TokenSource =>
  createTokenSource(parts, () => requestClientToken(parts))

async function requestClientToken({
  auth,
  clientSecret,
  resource,
  fetch,
  clock,
  redactor,
}: ClientTokenParts): Promise<HeldToken> {
  const { issuer, client_id: id, scope } = auth
  const asked = clock.monotonic()
  try {
    const ask = createOauthAsker(fetch, AbortSignal.timeout(TOKEN_MS), redactor)
    const server = { ...(await readAuthorizationServer(issuer, ask)), issuer }
    const grant = { grant_type: 'client_credentials', resource, ...(scope !== undefined && { scope }) }
    const { accessToken, lifeMs } = await askForToken(server, { id, secret: clientSecret }, grant, ask)
    return { token: accessToken, renewAt: renewalOf(asked, lifeMs) }
  } catch (error) {
    throw toTokenError(issuer, error)
  }
}
