/** What an agent inherits from its ancestors: their boundaries apply to its calls too. Source: policies, section 3. */
import type { PolicyEntry } from '../../spec/policy-set.ts'
import type { CompiledBundle, AgentSnapshot } from '../../spec/snapshot.ts'

/** The agents that delegate to one, directly or through others, nearest first. The root has none. */
export function ancestorsOf({ agents }: CompiledAgents, id: string): readonly AgentSnapshot[] {
  // Iterating over a set includes the members that the loop adds.
  const above = new Set(parentsOf(agents, id))
  for (const { id } of above) for (const parent of parentsOf(agents, id)) above.add(parent)
  return [...above]
}

/** Distance of an agent from the nearest one that nobody delegates to. */
export function agentDepth({ agents }: CompiledAgents, id: string): number {
  const parents = parentsOf(agents, id)
  return parents.length === 0 ? 0 : 1 + Math.min(...parents.map((each) => agentDepth({ agents }, each.id)))
}

type CompiledAgents = Pick<CompiledBundle, 'agents'>

const parentsOf = (agents: readonly AgentSnapshot[], id: string): readonly AgentSnapshot[] =>
  agents.filter((agent) => agent.agents.some((edge) => edge.id === id && !edge.lateBound))

/**
 * Entries of ancestors that apply to a call, each once: gates and allow lists, because grants are not inherited.
 * @param tool logical id of the called tool or agent
 * @param known entries that already apply to the call
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
