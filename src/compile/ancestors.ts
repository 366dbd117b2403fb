/** The agents above an agent, whose boundaries apply to its calls too. Source: docs/design/policies.md#which-policies-apply */
import type { CompiledBundle, AgentSnapshot } from '../spec/snapshot.ts'

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
