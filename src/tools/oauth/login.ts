/** A person's consent that svc uses an MCP server: what is kept of it, and by which name. */
import { digestOfJson } from '../../base/digest.ts'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { fromJson } from '../../base/json/typed-json.ts'
import type { AuthorizationCodeAuth, McpServer } from '../../spec/document.ts'

/** A server whose requests carry a token that a person consented to. */
export type LoginServer = McpServer & { readonly auth: AuthorizationCodeAuth }

export const takesLogin = (server: McpServer): server is LoginServer => server.auth?.scheme === 'authorization_code'

/** Secrets of the project: kept in a file of mode 0600, or by a command. Members are spelt as in OAuth. */
export interface McpLogin {
  /** Of this consent: a token of an earlier one is not used any more. */
  readonly id: string
  /** Address of the MCP server. */
  readonly server: string
  /** What tokens are asked for. Source: RFC 8707. */
  readonly resource: string
  readonly issuer: string
  readonly client_id: string
  /** That of a client which was registered for this login; the one of a document is read from its variable. */
  readonly client_secret?: string
  readonly scope?: string
  readonly refresh_token: string
  /** ISO 8601. */
  readonly consented_at: string
}

/**
 * Agents share a login if their documents say the same of the server. What they say otherwise, another scope for example, a person has
 * not consented to.
 */
export function nameOfLogin({ url, auth: { issuer, client_id, scope } }: LoginServer): string {
  const about = { url, issuer: issuer ?? null, client_id: client_id ?? null, scope: scope ?? null }
  const [, digits = ''] = digestOfJson(about).split(':')
  return `${new URL(url).hostname.replaceAll(/[^a-z0-9.-]/g, '_')}-${digits.slice(0, DIGITS)}`
}

/** Of its digest: enough that two of a project differ. */
const DIGITS = 16

/** Undefined for what is no login. */
export function readMcpLogin(value: JsonValue): McpLogin | undefined {
  if (!isJsonObject(value)) return undefined
  const { client_secret: secret, scope } = value
  for (const name of ['id', 'server', 'resource', 'issuer', 'client_id', 'refresh_token', 'consented_at'])
    if (typeof value[name] !== 'string' || value[name] === '') return undefined
  if ([secret, scope].some((each) => each !== undefined && typeof each !== 'string')) return undefined
  return fromJson<McpLogin>(value)
}
