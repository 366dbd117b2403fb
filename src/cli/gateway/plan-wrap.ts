/** What `svc gateway wrap` would do: which servers svc stands before, the documents of their tools, and the client's file after it. Source: docs/design/gate.md#clients-files */
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { EXTERNAL_PROVIDER } from '../../spec/external.ts'
import type { ToolListing } from '../../tools/mcp/listed-tool.ts'
import type { ForeignTool } from '../../import/agents/foreign-project.ts'
import { planAgentImport, type AgentImport } from '../../import/agents/plan-agents.ts'
import { quoteForeign } from '../../import/foreign-text.ts'
import { anyGlob } from '../../import/glob.ts'
import { LossList } from '../../import/losses.ts'
import type { ClientFile, ClientServer } from '../../import/mcp/client-file.ts'
import { toForeignTool } from '../../import/mcp/list-server-tools.ts'
import { usageFailure } from '../../base/usage-failure.ts'
import { putGateBefore } from './edit-client-file.ts'

export interface WrapRequest {
  readonly client: ClientFile
  /** The client's file, absolute, and as the person gave it. */
  readonly file: string
  readonly name: string
  readonly directory: string
  readonly namespace: string | undefined
  /** Patterns of names of servers; empty for all. */
  readonly entries: readonly string[]
  /** Address of a running server; undefined for a program that the client starts. */
  readonly url: string | undefined
  /** Asks a server for its tools. */
  readonly list: (server: ClientServer) => Promise<ToolListing>
}

export interface WrappedServer {
  readonly server: ClientServer
  readonly tools: number
  /** Why it stays in the client's file; undefined where svc stands before it. */
  readonly stays?: string
}

export interface WrapPlan {
  readonly agent: string
  readonly gate: string
  /** How the client reaches svc, for people. */
  readonly leadsTo: string
  readonly servers: readonly WrappedServer[]
  readonly listings: ReadonlyMap<string, ToolListing>
  readonly plan: AgentImport
  /** The client's file after it. */
  readonly text: string
}

/** Name of the Agent document. */
const AGENT_NAME = 'assistant'

/** Names that the client's file does not have. */
const GATE_NAMES = ['svc', 'svc-gate', 'svc-gate-2']

/** The servers that `wrap` would stand before. */
export const serversToWrap = (
  { servers }: ClientFile,
  entries: readonly string[],
): readonly { readonly server: ClientServer; readonly stays?: string }[] => {
  const globs = entries.map(anyGlob)
  return servers.map((server) => {
    const stays = findReasonToStay(server, globs)
    return { server, ...(stays !== undefined && { stays }) }
  })
}

function findReasonToStay(server: ClientServer, globs: readonly RegExp[]): string | undefined {
  if (globs.length > 0 && !globs.some((glob) => glob.test(server.name))) return 'not selected'
  if (server.isOff) return 'turned off'
  return leadsToSvc(server) ? 'is svc' : undefined
}

const leadsToSvc = ({ command = [] }: ClientServer): boolean => command.includes('mcp') && command.includes('--tools')

/** Asks the servers; writes nothing. @throws Failure `usage` */
export async function planWrap(request: WrapRequest): Promise<WrapPlan> {
  const { client, name, directory } = request
  const losses = new LossList()
  const listings = new Map<string, ToolListing>()
  const servers: WrappedServer[] = []
  const tools: ForeignTool[] = []
  for (const { server, stays } of serversToWrap(client, request.entries)) {
    const listing = stays === undefined ? await request.list(server) : { problem: stays }
    if ('problem' in listing) {
      servers.push({ server, tools: 0, stays: listing.problem })
      if (stays === undefined) losses.add(server.at, `stays as it is, before svc: ${listing.problem}`, true)
      continue
    }
    listings.set(server.name, listing)
    for (const { tool, problem } of listing.faults)
      losses.add(
        tool === undefined ? server.at : `${server.name} ${tool}`,
        problem,
        tool !== undefined && listing.tools.has(tool),
      )
    servers.push({ server, tools: listing.tools.size })
    tools.push(...[...listing.tools.values()].map((tool) => toForeignTool(tool, server)))
  }
  if (listings.size === 0)
    throw usageFailure(
      `svc can stand before no server of ${name}. ${servers.map(({ server, stays }) => `${server.name}: ${stays}`).join('; ')}`.trim(),
    )
  const plan = planAgentImport({
    project: {
      title: client.format.name,
      root: AGENT_NAME,
      agents: [
        {
          name: AGENT_NAME,
          at: name,
          purpose: `Stands for the client that reads ${name}: what it may do with its tools is decided here.`,
          instructions: 'For people only: the client has instructions of its own.\n',
          model: { provider: EXTERNAL_PROVIDER, name: AGENT_NAME },
          tools,
          agents: [],
        },
      ],
    },
    format: 'gateway',
    source: name,
    directory,
    namespace: request.namespace,
    selected: [],
    trustAllow: false,
    keepsValues: true,
    losses,
  })
  const agent = `${plan.namespace}.${AGENT_NAME}`
  const gate = GATE_NAMES.find((each) => client.servers.every((server) => server.name !== each))
  if (gate === undefined) throw usageFailure(`${name} has servers named ${GATE_NAMES.join(', ')}: rename one.`)
  const staying = new Set(servers.flatMap(({ server, stays }) => (stays === undefined ? [] : [server.name])))
  const way = wayToSvc(request, agent)
  return {
    agent,
    gate,
    leadsTo: way.text,
    servers,
    listings,
    plan,
    text: putGateBefore(client.json, client.format.member, { name: gate, value: way.entry }, staying),
  }
}

/** Variable of the agent's key where the client calls an address. */
const KEY_VARIABLE = 'SVC_API_KEY'

function wayToSvc({ client: { format }, url, ...request }: WrapRequest, agent: string) {
  if (url !== undefined) {
    const address = `${url.replace(/\/+$/, '')}/mcp/${agent}`
    const entry = format.address(address, { Authorization: `Bearer ${format.variable(KEY_VARIABLE)}` })
    return { entry, text: `${address}, with the key in ${KEY_VARIABLE}` }
  }
  const command = [...programOfSvc(request.directory), 'mcp', '--tools', agent, ...projectOption(request, format.name)]
  return { entry: format.program(command), text: command.map((each) => quoteForeign(each, 200).slice(1, -1)).join(' ') }
}

/** The one of the project where it has one. */
const programOfSvc = (directory: string): readonly string[] =>
  existsSync(join(directory, 'node_modules/.bin/svc')) ? ['npx', 'svc'] : ['svc']

/** Clients start programs in the folder that is open; Cursor says where that is. */
function projectOption(
  { file, directory }: Pick<WrapRequest, 'file' | 'directory'>,
  format: string,
): readonly string[] {
  const isInside = !relative(directory, file).startsWith('..')
  if (isInside && format === 'cursor' && relative(directory, file) === join('.cursor', 'mcp.json'))
    return ['-C', '${workspaceFolder}']
  return isInside && format !== 'cursor' ? [] : ['-C', directory]
}
