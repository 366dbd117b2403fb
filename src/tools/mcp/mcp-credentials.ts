/** Credentials of an agent for its MCP servers. Source: docs/design/authoring-format.md#authentication */
import type { Clock } from '../../base/clock.ts'
import { failures } from '../../base/failure.ts'
import type { FetchFunction, GuardedRequestInit } from '../../base/net/transport.ts'
import type { Redactor } from '../../base/secret.ts'
import type { McpServer } from '../../spec/document.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { McpProgram } from './mcp-programs.ts'
import { createClientTokens } from '../oauth/client-token.ts'
import type { LoginTokens } from '../oauth/login-tokens.ts'
import { takesLogin } from '../oauth/login.ts'
import type { TokenSource } from '../oauth/token-source.ts'

type McpEnvironment = Readonly<Record<string, string | undefined>>
type SecretOwner = Pick<AgentSnapshot, 'id' | 'secrets'>

/** The secret of a server, or a variable of the program in its place, if it has no value in the environment. */
export function findUnset(
  agent: SecretOwner,
  { auth, name }: McpServer,
  env: McpEnvironment,
  program: McpProgram | undefined,
): { readonly secret: string; readonly env: string } | undefined {
  if (program) {
    const unset = program.findUnsetVariable()
    return unset === undefined ? undefined : { secret: `env of MCP server ${name}`, env: unset }
  }
  if (auth?.secret === undefined) return undefined
  const variable = agent.secrets[auth.secret]?.fromEnv
  return variable === undefined || env[variable] ? undefined : { secret: auth.secret, env: variable }
}

/**
 * Why the credentials of a server are incomplete; undefined when they are complete.
 * @param program in place of the server: it gets variables, and no secret of the agent
 */
export function missingCredentials(
  agent: SecretOwner,
  server: McpServer,
  env: McpEnvironment,
  program: McpProgram | undefined,
): { readonly code: 'secret_missing' | 'refused'; readonly error: string } | undefined {
  const unset = findUnset(agent, server, env, program)
  if (unset) return { code: 'secret_missing', error: failures.secret_not_set.message(unset) }
  const secret = server.auth?.secret
  if (program || secret === undefined) return undefined
  const variable = agent.secrets[secret]?.fromEnv
  if (variable !== undefined && canBeSent(server, env[variable]!)) return undefined
  if (variable !== undefined) {
    const error = `The secret "${secret}" cannot be sent: the environment variable ${variable} has a character that no header takes.`
    return { code: 'secret_missing', error }
  }
  const error = `MCP server "${server.name}" needs the secret "${secret}", which ${agent.id} does not declare.`
  return { code: 'refused', error }
}

/** A header takes no character outside of Latin-1 and no line break but at its ends. Other schemes encode the secret. */
function canBeSent({ auth }: McpServer, value: string): boolean {
  if (auth?.scheme !== 'bearer' && auth?.scheme !== 'header') return true
  return /^[\t\x20-\x7E\x80-\xFF]*$/.test(value.trim())
}

export interface McpCredentialParts {
  readonly env: McpEnvironment
  readonly redactor: Redactor
  readonly fetch: FetchFunction
  readonly clock: Clock
  readonly logins: LoginTokens
}

/** Sends requests with the credentials of an agent for a server. The caller must have checked `missingCredentials`. */
export function fetchWithCredentials(
  agent: SecretOwner,
  server: McpServer,
  { env, redactor, fetch, clock, logins }: McpCredentialParts,
): FetchFunction {
  const { auth, url: resource } = server
  if (!auth) return fetch
  const secret = auth.secret === undefined ? undefined : env[agent.secrets[auth.secret]!.fromEnv]!
  if (secret !== undefined) redactor.add(secret)
  if (takesLogin(server)) return fetchWithTokens(fetch, logins.sourceOf(server, secret))
  if (auth.scheme === 'client_credentials')
    return fetchWithTokens(fetch, createClientTokens({ auth, clientSecret: secret!, resource, fetch, clock, redactor }))
  const [name, value] =
    auth.scheme === 'header' ? [auth.header ?? 'authorization', secret!] : ['authorization', `Bearer ${secret}`]
  return (url, init) => fetch(url, withHeader(init, name, value))
}

const fetchWithTokens =
  (fetch: FetchFunction, tokens: TokenSource): FetchFunction =>
  async (url, init) => {
    const token = await tokens.token()
    const response = await fetch(url, withHeader(init, 'authorization', `Bearer ${token}`))
    // A server that forgets a token before it ends has done nothing with the request.
    if (response.status !== 401 || !tokens.refuse(token)) return response
    await response.body?.cancel()
    return fetch(url, withHeader(init, 'authorization', `Bearer ${await tokens.token()}`))
  }

function withHeader(init: GuardedRequestInit | undefined, name: string, value: string): GuardedRequestInit {
  const headers = new Headers(init?.headers)
  headers.set(name, value)
  return { ...init, headers }
}
