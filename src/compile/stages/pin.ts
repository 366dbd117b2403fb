/** What MCP servers say of the tools that are bound: pinned by digest. Source: bundles, section 3; security, S16. */
import type { Digest } from '../../base/digest.ts'
import { digestOfTool, type ToolListing } from '../../tools/listed-tool.ts'
import { mcpKeyOf } from '../state/lock-file.ts'
import { reportFinding, type BundleAgent, type CompileState } from '../state/state.ts'

/** From the servers where they are to be asked, else as the lock has them; a tool without a pin is used as it comes. */
export async function pinMcpTools(work: CompileState): Promise<void> {
  await Promise.all(work.members.map((member) => pinMember(work, member)))
}

async function pinMember(work: CompileState, member: BundleAgent): Promise<void> {
  const listings = new Map<string, ToolListing>()
  if (work.askMcp) {
    const ask = work.askMcp
    const agent = { id: member.id, secrets: member.agent.secrets ?? {} }
    const bound = new Set(member.bindings.flatMap(({ bound }) => bound?.mcp?.server ?? []))
    const servers = (member.agent.spec.mcp_servers ?? []).filter(({ name }) => bound.has(name))
    const answers = await Promise.all(servers.map((server) => ask(agent, server)))
    servers.forEach(({ name }, index) => listings.set(name, answers[index]!))
  }
  for (const binding of member.bindings) {
    const { bound } = binding
    if (!bound?.mcp) continue
    const { server, tool } = bound.mcp
    const found = work.askMcp
      ? pinned(listings.get(server), server, tool)
      : work.mcpPins.get(mcpKeyOf({ agent: member.id, server, tool }))
    if (typeof found === 'object')
      reportFinding(
        work,
        'mcp/not-pinned',
        { document: binding.at.document, pointer: `${binding.at.pointer}/mcp` },
        found.problem,
        {
          severity: 'error',
        },
      )
    else if (found !== undefined) binding.bound = { ...bound, mcp: { ...bound.mcp, integrity: found } }
  }
}

/** Undefined for a server that is not declared, which has been said. */
function pinned(
  listing: ToolListing | undefined,
  server: string,
  name: string,
): Digest | { readonly problem: string } | undefined {
  if (!listing || 'problem' in listing) return listing
  const tool = listing.tools.get(name)
  return tool ? digestOfTool(tool) : { problem: `MCP server "${server}" has no tool "${name}".` }
}
