/** The `tool` and `agent` facts of a call, shared by the engine and by commands that decide hypothetical calls. */
import type { BoundAgent, BoundTool, AgentSnapshot } from '../spec/snapshot.ts'
import type { CallFacts } from './condition/decision.ts'

export const factsOfTool = (tool: BoundTool): CallFacts['tool'] => ({
  id: tool.id,
  version: tool.version,
  wire_name: tool.wire,
  kind: tool.mcp ? 'mcp' : 'tool',
  ...(tool.mcp && { mcp_server: tool.mcp.server }),
  ...(tool.sideEffectClass && { side_effect_class: tool.sideEffectClass }),
  labels: tool.labels,
})

/** @param child absent while the version that will run is not known */
export const factsOfAgent = (agent: BoundAgent, child: AgentSnapshot | undefined): CallFacts['tool'] => ({
  id: agent.id,
  version: child?.version ?? agent.version ?? '',
  wire_name: agent.wire,
  kind: 'agent',
  labels: child?.labels ?? {},
})

/** The `agent` facts: the agent that makes the call. */
export const factsOfCaller = ({
  id,
  version,
  riskTier,
  classifications,
  labels,
}: Pick<AgentSnapshot, 'id' | 'version' | 'riskTier' | 'classifications' | 'labels'>): CallFacts['agent'] => ({
  id,
  version,
  ...(riskTier !== undefined && { risk_tier: riskTier }),
  classifications,
  labels,
})
