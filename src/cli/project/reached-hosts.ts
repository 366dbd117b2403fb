/** The hosts that a server of the project contacts, for firewalls and network policies. Source: docs/design/command-line.md#operating */
import { fallbackOf } from '../../documents/facts/agents/model-fallback.ts'
import { asKind } from '../../documents/text/document.ts'
import { withDotEnv } from './dot-env.ts'
import { loadDocuments } from './documents.ts'
import { findProgramConfig } from '../../tools/mcp/mcp-programs.ts'
import type { McpServer } from '../../spec/document.ts'
import { createLoginFiles } from '../../tools/oauth/login-keeper.ts'
import { nameOfLogin, takesLogin } from '../../tools/oauth/login.ts'
import { modelEndpoint } from './model-endpoint.ts'
import type { Project } from './project.ts'
import { compareText } from '../../base/values/compare-text.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

type EnvVariables = Readonly<Record<string, string | undefined>>

export interface ReachedHost {
  readonly host: string
  readonly port: number
  /** What needs it: `model anthropic`, `tool acme.refunds`, `files`, `store`. */
  readonly for: readonly string[]
}

/** Sorted by host and port. Models whose address follows from their region, and what programs reach, are not known here. */
export async function reachedHosts(project: Project, given: EnvVariables): Promise<readonly ReachedHost[]> {
  const found = new Map<string, { readonly url: URL; readonly needs: Set<string> }>()
  const add = (need: string, address: string | undefined): void => {
    const url = address === undefined ? undefined : parseUrl(address)
    if (url === undefined) return
    if (url.hostname === '') return
    const key = `${url.hostname} ${portOf(url)}`
    const known = found.get(key)
    if (known) known.needs.add(need)
    else found.set(key, { url, needs: new Set([need]) })
  }
  const { config, store } = project
  const workspace = await loadDocuments(project)
  const env = await withDotEnv(given, project, workspace)
  for (const document of workspace.documents) {
    const spec = asKind(document, 'Agent')?.spec
    if (!spec) continue
    for (const model of [spec.model, ...fallbackOf(document, workspace, spec.model)])
      add(`model ${model.provider}`, modelEndpoint(model, config, env)?.baseUrl)
    for (const server of spec.mcp_servers ?? []) {
      const { name, url, auth } = server
      if (findProgramConfig(config, url)) continue
      add(`MCP server ${name}`, url)
      if (auth?.scheme === 'client_credentials' || auth?.scheme === 'authorization_code')
        add(`tokens of MCP server ${name}`, auth.issuer ?? (await findConsentedIssuer(project, server)))
    }
  }
  for (const [tool, route] of Object.entries(config.tools ?? {}))
    if ('http' in route || 'openapi' in route) add(`tool ${tool}`, 'http' in route ? route.http.url : route.openapi.url)
  const endpoint = config.storage?.url && parseUrl(config.storage.url)
  if (endpoint) add('files', endpoint.searchParams.get('endpoint') ?? s3HostOf(config.storage?.region))
  add('store', store)
  return [...found.values()]
    .map(({ url, needs }) => ({ host: url.hostname, port: portOf(url), for: [...needs] }))
    .sort((a, b) => compareText(a.host, b.host) || a.port - b.port)
}

/** The one that the MCP server named when a person consented; a program that keeps logins is not asked. */
async function findConsentedIssuer({ dataDirectory }: Project, server: McpServer): Promise<string | undefined> {
  if (!takesLogin(server) || parseUrl(server.url) === undefined) return undefined
  const login = await createLoginFiles(dataDirectory)
    .read(nameOfLogin(server))
    .catch(() => undefined)
  return login?.issuer
}

const s3HostOf = (region = 'us-east-1'): string => `https://s3.${region}.amazonaws.com`

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'postgres:': 5432, 'postgresql:': 5432 }

const portOf = ({ port, protocol }: URL): number => (port === '' ? (PORTS[protocol] ?? 0) : Number(port))
