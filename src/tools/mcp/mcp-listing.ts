/** Lists the tools of MCP servers for `svc lint --mcp-live` and `svc compile --mcp`. */
import { systemClock } from '../../base/clock.ts'
import { shortenText } from '../../base/text/cut-text.ts'
import type { Redactor } from '../../base/secret.ts'
import type { FetchFunction } from '../../base/net/transport.ts'
import { innermostMessage } from '../../base/failure.ts'
import type { McpServer } from '../../spec/document.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { ListedTool, ToolListFault, ToolListing } from './listed-tool.ts'
import { connectMcp } from './mcp-connection.ts'
import { fetchWithCredentials, missingCredentials } from './mcp-credentials.ts'
import { answerCodeOf, describeStatus, describeTokenProblem, formProblemOf } from './mcp-outcome.ts'
import type { McpLink } from './mcp-program.ts'
import type { McpPrograms } from './mcp-programs.ts'
import { tokenErrorOf } from '../oauth/authorization-server.ts'
import { createLoginTokens, type LoginStore } from '../oauth/login-tokens.ts'
import { takesLogin } from '../oauth/login.ts'
import { repairSchema } from '../check/schema-repair.ts'

/** Lists the tools of a server with the credentials of an agent. */
export type McpToolLister = (agent: Pick<AgentSnapshot, 'id' | 'secrets'>, server: McpServer) => Promise<ToolListing>

export interface ListingParts {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The one of `programs`: a server may say its own secret. */
  readonly redactor: Redactor
  /** Sends the requests, through the egress checks. */
  readonly fetch: FetchFunction
  /** Our version, sent to the server. */
  readonly version: string
  /** Applies to connecting and to listing, each. */
  readonly timeoutMs: number
  /** Servers that run as programs; absent = none. */
  readonly programs?: McpPrograms
  /** Consents of persons; absent = none. */
  readonly logins?: LoginStore
}

/** Lists the tools of a server with the credentials of an agent. Errors of the server are returned, never thrown. */
export async function listMcpTools(
  agent: Pick<AgentSnapshot, 'id' | 'secrets'>,
  server: McpServer,
  parts: ListingParts,
): Promise<ToolListing> {
  const { env, redactor, fetch, version, timeoutMs, programs } = parts
  const logins = createLoginTokens({ logins: parts.logins, fetch, clock: systemClock, redactor })
  const program = programs?.find(server)
  const missing = missingCredentials(agent, server, env, program)
  if (missing !== undefined) return { problem: missing.error }
  const link: McpLink = program?.open() ?? {
    fetch: fetchWithCredentials(agent, server, { env, redactor, fetch, clock: systemClock, logins }),
    close: () => Promise.resolve(),
  }
  const signal = AbortSignal.timeout((program?.startMs ?? timeoutMs) + timeoutMs)
  try {
    const connection = await connectMcp({ server, link, version, redactor }, program?.startMs ?? timeoutMs, signal)
    try {
      const { tools, faults } = await connection.toolsFor(undefined, { signal, timeout: timeoutMs })
      return { tools, faults: redactor.json([...faults, ...(await findUnchecked(tools.values()))]) }
    } finally {
      await connection.close()
    }
  } catch (error) {
    return { problem: redactor.text(`MCP server "${server.name}" ${describeListingProblem(agent, server, error)}`) }
  }
}

function describeListingProblem(
  { secrets }: Pick<AgentSnapshot, 'secrets'>,
  server: McpServer,
  error: unknown,
): string {
  const problem = formProblemOf(error)
  if (problem !== undefined) return problem
  const token = takesLogin(server) ? tokenErrorOf(error) : undefined
  const status = token ? undefined : answerCodeOf(error)
  if (typeof status === 'number') return describeStatus(server, secrets, status, error)
  const why = token ? describeTokenProblem(server, secrets, token) : shortenText(innermostMessage(error), 500)
  return `does not list its tools: ${why}`
}

/** The parts of the tools' schemas that arguments are not checked against. */
async function findUnchecked(tools: Iterable<ListedTool>): Promise<readonly ToolListFault[]> {
  const found: ToolListFault[] = []
  for (const { name, inputSchema } of tools)
    for (const { pointer, why } of (await repairSchema(inputSchema)).unchecked)
      found.push({
        tool: name,
        problem: `Arguments of tool "${name}" are not checked against ${pointer || 'all'} of its schema: ${why}.`,
      })
  return found
}
