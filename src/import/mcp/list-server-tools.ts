/** Asks MCP servers for their tools while they are imported. A server that is a program is started for it, and ended after. */
import { systemClock } from '../../base/clock.ts'
import { silentLog } from '../../base/log.ts'
import { createEgress } from '../../base/net/egress.ts'
import { createRedactor } from '../../base/secret.ts'
import type { McpProgramConfig } from '../../spec/project/config.ts'
import type { McpServer } from '../../spec/document.ts'
import type { ListedTool, ToolListing } from '../../tools/mcp/listed-tool.ts'
import { listMcpTools } from '../../tools/mcp/mcp-listing.ts'
import { createMcpPrograms } from '../../tools/mcp/mcp-programs.ts'
import { planServer, referencedVariable } from '../agents/foreign-server.ts'
import type { ForeignServer, ForeignTool } from '../agents/foreign-project.ts'
import { LossList } from '../losses.ts'

/** For connecting and for listing, each. A program may have to be downloaded first. */
const TIMEOUT_MS = 20_000

/** How the address of a server ends that has none. */
const ABSENT = '.invalid/mcp'

export interface ListingEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Programs run relative to it. */
  readonly directory: string
  readonly allowedHosts: readonly string[]
  /** Of svc, as servers are told. */
  readonly version: string
}

/** With the credentials that the source has, spelt out or by variables. */
export async function listServerTools(
  server: ForeignServer,
  { env, directory, allowedHosts, version }: ListingEnvironment,
): Promise<ToolListing> {
  const losses = new LossList()
  const { entry, secrets, config, values } = planServer(server, server.name, {
    namespace: 'import',
    losses,
    keepsValues: true,
  })
  const { url } = entry
  const isReachable = server.command ? config.length > 0 : typeof url === 'string' && !url.endsWith(ABSENT)
  if (!isReachable) return { problem: losses.all()[0]!.what }
  const redactor = createRedactor()
  const known = { ...env, ...environmentOf(server, env), ...values }
  const programs = createMcpPrograms({
    config: {
      mcp_servers: Object.fromEntries(config.map(({ at, value }) => [at[1], value as never as McpProgramConfig])),
    },
    configDir: directory,
    env: known,
    redactor,
    clock: systemClock,
    log: silentLog,
  })
  return await listMcpTools(
    { id: 'import', secrets: secrets as never as Record<string, { readonly fromEnv: string }> },
    entry as never as McpServer,
    {
      env: known,
      redactor,
      fetch: createEgress({ from: 'document', allowedHosts }),
      version,
      timeoutMs: TIMEOUT_MS,
      programs,
    },
  )
}

/** The variables of a program as its client would set them. */
function environmentOf(
  { environment = {} }: ForeignServer,
  env: ListingEnvironment['env'],
): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => {
      const from = referencedVariable(value)
      return [name, from === undefined ? value : env[from]]
    }),
  )
}

/** A listed tool as its import sees it. Its hints are claims of the server, and become words of a comment. */
export const toForeignTool = (
  { name, description, inputSchema, readOnly, destructive }: ListedTool,
  server: ForeignServer,
): ForeignTool => {
  const loss = destructive === true ? 'destroys' : undefined
  const hint = readOnly === true ? 'only reads (read_only)' : loss
  return {
    name,
    at: `${server.name} ${name}`,
    description,
    input: inputSchema,
    server,
    rule: 'unclassified',
    ...(hint !== undefined && { hint: `Its server says that it ${hint}, which nobody has checked.` }),
  }
}
