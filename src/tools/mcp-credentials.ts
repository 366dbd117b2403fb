/** Credentials of an agent for its MCP servers. Source: authoring format, "Authentication". */
import { failures } from '../base/failure.ts'
import type { Redactor } from '../base/secret.ts'
import type { McpServer } from '../spec/document.ts'
import type { AgentSnapshot } from '../spec/snapshot.ts'

type McpEnvironment = Readonly<Record<string, string | undefined>>
type SecretOwner = Pick<AgentSnapshot, 'id' | 'secrets'>

/** The secret of a server, if it is declared but has no value in the environment. */
export function unsetSecret(
  agent: SecretOwner,
  { auth }: McpServer,
  env: McpEnvironment,
): { readonly secret: string; readonly env: string } | undefined {
  const variable = auth && agent.secrets[auth.secret]?.fromEnv
  return variable === undefined || env[variable] ? undefined : { secret: auth!.secret, env: variable }
}

/** Why the credentials of a server are incomplete; undefined when they are complete. */
export function missingSecret(
  agent: SecretOwner,
  server: McpServer,
  env: McpEnvironment,
): { readonly code: 'secret_missing' | 'refused'; readonly error: string } | undefined {
  const unset = unsetSecret(agent, server, env)
  if (unset) return { code: 'secret_missing', error: failures.secret_not_set.message(unset) }
  if (!server.auth || agent.secrets[server.auth.secret]) return undefined
  const error = `MCP server "${server.name}" needs the secret "${server.auth.secret}", which ${agent.id} does not declare.`
  return { code: 'refused', error }
}

/** Authentication headers by name. The caller must have checked `missingSecret`. */
export function mcpCredentials(
  agent: SecretOwner,
  { auth }: McpServer,
  env: McpEnvironment,
  redactor: Redactor,
): Readonly<Record<string, string>> {
  if (!auth) return {}
  const value = env[agent.secrets[auth.secret]!.fromEnv]!
  redactor.add(value)
  return auth.scheme === 'bearer' ? { authorization: `Bearer ${value}` } : { [auth.header ?? 'authorization']: value }
}
