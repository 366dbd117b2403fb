/** Checks that the servers which agents call can be reached. The requests are free and change nothing. */
import { signalWithin } from '../../base/signal-within.ts'
import { showAddress } from '../../base/net/show-address.ts'
import { asKind, type Document } from '../../documents/text/document.ts'
import type { AgentDocument, McpServer } from '../../spec/document.ts'
import { createAskMcp } from '../release/ask-mcp.ts'
import type { CommandContext } from '../shell/command.ts'
import { withDotEnv } from '../project/dot-env.ts'
import { modelEndpoint } from '../project/model-endpoint.ts'
import type { Project } from '../project/project.ts'
import { unhealthy, healthy, unknownProject, type DoctorChecks } from './finding.ts'
import { loadDocuments } from '../project/documents.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

const TIMEOUT_MS = 5000

export const networkChecks: DoctorChecks = {
  async mcp(call, project) {
    if (!project) return unknownProject
    const { documents, env } = await documentsOf(call, project)
    const agents = documents.flatMap((document) => asKind(document, 'Agent') ?? [])
    const servers = new Map<string, { readonly agent: AgentDocument; readonly server: McpServer }>()
    for (const agent of agents)
      for (const server of agent.spec.mcp_servers ?? []) servers.set(`${server.name} ${server.url}`, { agent, server })
    if (servers.size === 0) return healthy('no servers')
    const ask = await createAskMcp({ io: { ...call.io, env } }, project)
    const problems: string[] = []
    const faults: string[] = []
    for (const { agent, server } of servers.values()) {
      const id = `${agent.metadata.namespace}.${agent.metadata.name}`
      const listing = await ask({ id, secrets: agent.secrets ?? {} }, server)
      if ('problem' in listing) problems.push(`${server.name} ${showAddress(server.url)}: ${listing.problem}`)
      else faults.push(...listing.faults.map(({ problem }) => `${server.name}: ${problem}`))
    }
    return problems.length === 0
      ? healthy([`${servers.size} reached`, ...faults].join('; '))
      : unhealthy(
          problems.join('; '),
          problems.some((each) => each.includes('svc mcp login'))
            ? 'svc mcp login SERVER, and svc secrets check for other credentials'
            : 'svc secrets check tells which credentials are missing',
        )
  },

  async models(call, project) {
    if (!project) return unknownProject
    const { documents, env } = await documentsOf(call, project)
    const addresses = new Set(
      documents.flatMap((document) => {
        const [provider] = document.texts('spec.model.provider')
        const model = { provider: provider?.value ?? '', base_url: document.texts('spec.model.base_url')[0]?.value }
        return (provider && modelEndpoint(model, project?.config ?? {}, env)?.baseUrl) ?? []
      }),
    )
    if (addresses.size === 0) return healthy('none that need a network')
    const unreachable: string[] = []
    for (const address of addresses) {
      const signal = signalWithin(TIMEOUT_MS, call.signal)
      // Any response shows that the server is reachable.
      await call.io
        .fetch(address, { method: 'HEAD', redirect: 'manual', signal })
        .catch(() => unreachable.push(showAddress(address)))
    }
    return unreachable.length === 0
      ? healthy([...addresses].map(showAddress).join(', '))
      : unhealthy(
          `${unreachable.join(', ')} cannot be reached`,
          'Check the network and the proxy, or svc dev --offline.',
        )
  },

  async proxy({ io }) {
    const set = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].find((name) => io.env[name])
    if (set === undefined) return healthy('none')
    return parseUrl(io.env[set] ?? '') !== undefined
      ? healthy(`${set} is set`)
      : unhealthy(`${set} is no URL`, `export ${set}=http://host:port`)
  },
}

async function documentsOf(
  { io }: CommandContext,
  project: Project | undefined,
): Promise<{ readonly documents: readonly Document[]; readonly env: CommandContext['io']['env'] }> {
  if (project?.file === undefined) return { documents: [], env: io.env }
  const workspace = await loadDocuments(project)
  const documents = workspace.documents.filter(({ kind }) => kind === 'Agent')
  return { documents, env: await withDotEnv(io.env, project, workspace) }
}
