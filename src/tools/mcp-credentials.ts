/** What authenticates an agent at its MCP servers. Source: authoring format, "Authentication". */
import type { Redactor } from '../base/secret.ts'
import type { McpServer } from '../spec/document.ts'
import type { Snapshot } from '../spec/snapshot.ts'

type Env = Readonly<Record<string, string | undefined>>
type Owner = Pick<Snapshot, 'id' | 'secrets'>

/** Why a server cannot be authenticated to; undefined where nothing is missing. */
export function missingSecret(agent: Owner, server: McpServer, env: Env): string | undefined {
  if (!server.auth) return undefined
  const { secret } = server.auth
  const variable = agent.secrets[secret]?.fromEnv
  if (variable === undefined)
    return `MCP server "${server.name}" needs the secret "${secret}", which ${agent.id} does not declare.`
  return env[variable]
    ? undefined
    : `The secret "${secret}" is not set: the environment variable ${variable} is missing or empty.`
}

/** Headers by name. Nothing may be missing. */
export function credentials(
  agent: Owner,
  { auth }: McpServer,
  env: Env,
  redactor: Redactor,
): Readonly<Record<string, string>> {
  if (!auth) return {}
  const value = env[agent.secrets[auth.secret]!.fromEnv]!
  redactor.add(value)
  return auth.scheme === 'bearer' ? { authorization: `Bearer ${value}` } : { [auth.header ?? 'authorization']: value }
}
