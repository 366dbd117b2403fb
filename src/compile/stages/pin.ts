/** Pins the tools of MCP servers by digest. Source: docs/design/bundles-and-authority.md#lock */
import type { Digest } from '../../base/digest.ts'
import { digestOfTool, whyNotListed, type ToolListing } from '../../tools/mcp/listed-tool.ts'
import { mcpKeyOf } from '../state/lock-file.ts'
import { reportFinding, type BundleAgent, type CompileState } from '../state/state.ts'

/** Asks the servers if `askMcp` is set, otherwise uses the pins of the lock. A tool without a pin is used as the server offers it. */
export async function pinMcpTools(state: CompileState): Promise<void> {
  await Promise.all(state.members.map((member) => pinMember(state, member)))
}

async function pinMember(state: CompileState, member: BundleAgent): Promise<void> {
  const listings = new Map<string, ToolListing>()
  if (state.askMcp) {
    const ask = state.askMcp
    const agent = { id: member.id, secrets: member.agent.secrets ?? {} }
    const bound = new Set(member.bindings.flatMap(({ bound }) => bound?.mcp?.server ?? []))
    const servers = (member.agent.spec.mcp_servers ?? []).filter(({ name }) => bound.has(name))
    const answers = servers.map(async (server) => [server.name, await ask(agent, server)] as const)
    for (const [name, listing] of await Promise.all(answers)) listings.set(name, listing)
  }
  reportFaults(state, member, listings)
  for (const binding of member.bindings) {
    const { bound } = binding
    if (!bound?.mcp) continue
    const { server, tool } = bound.mcp
    const found = state.askMcp
      ? pinned(listings.get(server), server, tool)
      : state.mcpPins.get(mcpKeyOf({ agent: member.id, server, tool }))
    if (typeof found === 'object')
      reportFinding(
        state,
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

/** Reports what the servers list that cannot be used, or not whole, at the binding of the tool or at the first one of the server. */
function reportFaults(state: CompileState, member: BundleAgent, listings: ReadonlyMap<string, ToolListing>): void {
  for (const [server, listing] of listings)
    for (const { tool, problem } of 'problem' in listing ? [] : listing.faults) {
      const bindings = member.bindings.filter(({ bound }) => bound?.mcp?.server === server)
      const [binding = bindings[0]] = bindings.filter(({ bound }) => bound?.mcp?.tool === tool)
      if (!binding) continue
      const { at } = binding
      const place = { document: at.document, pointer: `${at.pointer}/mcp` }
      reportFinding(state, 'mcp/listing-fault', place, `MCP server "${server}": ${problem}`, { severity: 'warning' })
    }
}

/** Undefined for an undeclared server, which is already reported. */
function pinned(
  listing: ToolListing | undefined,
  server: string,
  name: string,
): Digest | { readonly problem: string } | undefined {
  if (!listing || 'problem' in listing) return listing
  const tool = listing.tools.get(name)
  return tool ? digestOfTool(tool) : { problem: whyNotListed(listing, server, name).error }
}
