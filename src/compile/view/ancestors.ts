/** What reaches an agent from those above it: their boundaries concern its calls too. Source: policies, section 3. */
import type { PolicyEntry } from '../../spec/policy-set.ts'
import type { CompiledBundle, AgentSnapshot } from '../../spec/snapshot.ts'

/** The agents that delegate to one, directly or through others, nearest first. None are above the root. */
export function ancestorsOf({ agents }: CompiledAgents, id: string): readonly AgentSnapshot[] {
  // A set iterates over what is added meanwhile.
  const above = new Set(parentsOf(agents, id))
  for (const { id } of above) for (const parent of parentsOf(agents, id)) above.add(parent)
  return [...above]
}

/** How far an agent is below the nearest one that nobody delegates to. */
export function depthOf({ agents }: CompiledAgents, id: string): number {
  const parents = parentsOf(agents, id)
  return parents.length === 0 ? 0 : 1 + Math.min(...parents.map((each) => depthOf({ agents }, each.id)))
}

type CompiledAgents = Pick<CompiledBundle, 'agents'>

const parentsOf = (agents: readonly AgentSnapshot[], id: string): readonly AgentSnapshot[] =>
  agents.filter((agent) => agent.agents.some((edge) => edge.id === id && !edge.lateBound))

/**
 * Entries of ancestors that concern a call, each once: gates and lists, since an ancestor's grants do not reach further.
 * @param tool logical id of what is called
 * @param known entries that concern the call already
 */
export function inheritedFor(
  ancestors: readonly AgentSnapshot[],
  tool: string,
  known: readonly PolicyEntry[],
): readonly { readonly entry: PolicyEntry; readonly from: AgentSnapshot }[] {
  const seen = new Set(known.map(({ id }) => id))
  return ancestors.flatMap((from) =>
    from.policies.entries.flatMap((entry) => {
      const { id, effect, scope } = entry
      if (seen.has(id) || effect === 'grant' || !from.policies.inherited.includes(id)) return []
      if (scope !== undefined && scope !== tool) return []
      seen.add(id)
      return [{ entry, from }]
    }),
  )
}
