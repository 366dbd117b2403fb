/** The MCP servers of a project to which a person logs in, as its documents name them. */
import { asKind } from '../../documents/text/document.ts'
import { findProgramConfig } from '../../tools/mcp/mcp-programs.ts'
import { nameOfLogin, takesLogin, type LoginServer } from '../../tools/oauth/login.ts'
import { withDotEnv } from '../project/dot-env.ts'
import { loadDocuments } from '../project/documents.ts'
import type { Project } from '../project/project.ts'
import { suggestWord } from '../../base/text/nearest-word.ts'
import { usageFailure } from '../../base/usage-failure.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

export interface ServerToLogIn {
  readonly agents: readonly string[]
  readonly server: LoginServer
  /** Name of its login. */
  readonly name: string
  /** The secret of the client that the document names; undefined where it names none. */
  readonly clientSecret: string | undefined
}

export interface ServersToLogIn {
  readonly servers: readonly ServerToLogIn[]
  /** Files of agents whose shape is wrong, so that their servers are not known. */
  readonly unread: readonly string[]
}

type Environment = Readonly<Record<string, string | undefined>>

/** Agents that say the same of a server share its login. */
export async function listLoginServers(project: Project, given: Environment): Promise<ServersToLogIn> {
  const workspace = await loadDocuments(project)
  const env = await withDotEnv(given, project, workspace)
  const found = new Map<string, ServerToLogIn>()
  const unread: string[] = []
  for (const document of workspace.documents) {
    if (document.kind === 'Agent' && !document.hasValidShape) unread.push(document.path)
    const agent = asKind(document, 'Agent')
    const id = `${agent?.metadata?.namespace}.${agent?.metadata?.name}`
    for (const server of agent?.spec?.mcp_servers ?? []) {
      if (!takesLogin(server) || parseUrl(server.url) === undefined || findProgramConfig(project.config, server.url))
        continue
      const name = nameOfLogin(server)
      const variable = server.auth.secret === undefined ? undefined : agent?.secrets?.[server.auth.secret]?.fromEnv
      const known = found.get(`${server.name} ${name}`)
      found.set(`${server.name} ${name}`, {
        agents: [...(known?.agents ?? []), id],
        server,
        name,
        clientSecret: variable === undefined ? undefined : env[variable],
      })
    }
  }
  return { servers: [...found.values()], unread }
}

/**
 * The one that is meant.
 * @param named its name or address; the only one when absent
 * @throws Failure `usage`
 */
export function chooseLoginServer(
  { servers, unread }: ServersToLogIn,
  named: string | undefined,
  agent: string | undefined,
): ServerToLogIn {
  const of = agent === undefined ? servers : servers.filter(({ agents }) => agents.includes(agent))
  const fitting = named === undefined ? of : of.filter(({ server: { name, url } }) => [name, url].includes(named))
  // Two names of one login are one server.
  const [first, ...others] = new Map(fitting.map((each) => [each.name, each])).values()
  if (first && others.length === 0) return first
  const names = [...new Set(of.map(({ server }) => server.name))]
  if (first && (named === undefined || agent === undefined)) {
    const list = fitting.map(({ agents, server }) => `${server.name} of ${agents.join(' and ')} (${server.url})`)
    throw usageFailure(`Several MCP servers take a login: ${list.join(', ')}.`, 'Name one, and its agent with --agent.')
  }
  if (first) throw usageFailure(`${agent} has several MCP servers "${named}".`, 'Name the address of one.')
  if (unread.length > 0)
    throw usageFailure(`No MCP server is found that takes a login: ${unread.join(', ')} cannot be read.`, 'svc lint')
  if (names.length === 0)
    throw usageFailure(
      `No MCP server ${agent === undefined ? 'here' : `of ${agent}`} takes a login.`,
      'Write auth: { scheme: authorization_code } at one in spec.mcp_servers.',
    )
  throw usageFailure(`No MCP server "${named}" takes a login.`, suggestWord(named ?? '', names))
}
