/**
 * An agent version with everything that it reaches, as nodes and edges: agents, tools, MCP servers, policies and secrets by
 * name. Terminal and console draw the same graph. Source: console, 2, screen 7.
 */
import type { BundleGraph, CallGate, GraphEdge, GraphNode } from '../operator/bundle-graph.ts'
import type { PolicyEffect, PolicyEntry } from '../policy-set.ts'
import type { AgentSnapshot, BoundAgent, BoundTool } from '../snapshot.ts'

/** @param childOf the version that a delegation reaches; undefined where there is none now */
export async function bundleGraph(
  root: AgentSnapshot,
  childOf: (bound: BoundAgent) => Promise<AgentSnapshot | undefined>,
): Promise<BundleGraph> {
  const nodes = new Map<string, GraphNode>()
  const edges = new Map<string, GraphEdge>()
  const addNode = (kind: GraphNode['kind'], name: string, version: string | undefined, depth: number): string => {
    const id = `${kind}:${name}${version ? `@${version}` : ''}`
    if (!nodes.has(id)) nodes.set(id, { id, kind, name, ...(version && { version }), depth })
    return id
  }
  const addEdge = (edge: GraphEdge): void => {
    const { from, to, kind, effect = '', agent = '' } = edge
    edges.set([from, to, kind, effect, agent].join('\0'), edge)
  }
  const readSecret = (from: string, agent: AgentSnapshot, name: string | undefined, depth: number): void => {
    const variable = name === undefined ? undefined : agent.secrets[name]?.fromEnv
    if (variable !== undefined) addEdge({ from, to: addNode('secret', variable, undefined, depth), kind: 'reads' })
  }

  const waiting: { readonly agent: AgentSnapshot; readonly ancestors: readonly AgentSnapshot[] }[] = [
    { agent: root, ancestors: [] },
  ]
  const seen = new Set<string>()
  for (const { agent, ancestors } of waiting) {
    const depth = ancestors.length
    const from = addNode('agent', agent.id, agent.version, depth)
    if (seen.has(from)) continue
    seen.add(from)
    for (const { secret } of [agent.model, ...(agent.fallback ?? [])]) readSecret(from, agent, secret, depth)
    const addPolicies = (to: string, entries: readonly PolicyEntry[]): void => {
      for (const { policy, version, effect } of entries)
        addEdge({ from: to, to: addNode('policy', policy, version, depth), kind: 'asks', effect, agent: agent.id })
    }
    for (const tool of agent.tools) {
      const entries = entriesOf(agent, ancestors, tool)
      const to = addNode('tool', tool.id, tool.version, depth)
      const sideEffect = tool.sideEffectClass ?? null
      addEdge({ from, to, kind: 'calls', sideEffect, gate: gateOf(entries, sideEffect === 'irreversible_action') })
      addPolicies(to, entries)
      const server = agent.mcpServers.find(({ name }) => name === tool.mcp?.server)
      if (!server) continue
      const served = addNode('mcp_server', server.name, undefined, depth)
      addEdge({ from: to, to: served, kind: 'served_by' })
      readSecret(served, agent, server.auth?.secret, depth)
    }
    for (const bound of agent.agents) {
      const child = await childOf(bound)
      const entries = entriesOf(agent, ancestors, bound)
      const to = addNode('agent', bound.id, child?.version ?? bound.version, depth + 1)
      addEdge({
        from,
        to,
        kind: 'delegates',
        gate: gateOf(entries, false),
        ...(bound.lateBound && { lateBound: true }),
      })
      addPolicies(to, entries)
      if (child) waiting.push({ agent: child, ancestors: [agent, ...ancestors] })
    }
  }
  return { root: `agent:${root.id}@${root.version}`, nodes: [...nodes.values()], edges: [...edges.values()] }
}

/** The policies of a call, with the gates of the agents above. */
function entriesOf(
  { policies: { entries, index } }: AgentSnapshot,
  ancestors: readonly AgentSnapshot[],
  { wire, id }: Pick<BoundTool, 'wire' | 'id'>,
): readonly PolicyEntry[] {
  const all = new Map(
    (index[wire] ?? []).flatMap((own) => entries.filter((entry) => entry.id === own)).map((each) => [each.id, each]),
  )
  for (const { policies } of ancestors)
    for (const entry of policies.entries)
      if (policies.inherited.includes(entry.id) && entry.effect !== 'grant' && (entry.scope ?? id) === id)
        all.set(entry.id, entry)
  return [...all.values()]
}

/** @param isIrreversible an approval is needed where no policy grants the call */
function gateOf(entries: readonly PolicyEntry[], isIrreversible: boolean): CallGate {
  const stopping = entries.filter(({ effect }) => effect !== 'grant')
  const always = stopping.filter(({ when, effect }) => when === undefined && effect !== 'restrict')
  if (always.some(({ effect }) => effect === 'deny')) return 'denied'
  if (always.length > 0) return 'always'
  const isGranted = entries.some(({ effect }) => effect === 'grant')
  if (isIrreversible && !isGranted) return 'always'
  return stopping.length > 0 || isIrreversible ? 'sometimes' : 'never'
}

const GATES: Readonly<Record<CallGate, string>> = {
  denied: 'never allowed',
  always: 'always stopped for a person',
  sometimes: 'stopped where a policy says so',
  never: 'not stopped',
}

const EFFECTS: Readonly<Record<PolicyEffect, string>> = {
  grant: 'allows',
  restrict: 'allows only listed values',
  require_approval: 'asks for an approval',
  escalate: 'asks an operator',
  deny: 'denies',
}

/** An edge in words: `calls (irreversible action), stopped where a policy says so`. Not escaped. */
export function describeEdge({ kind, sideEffect, gate, lateBound, effect, agent }: GraphEdge): string {
  const does = {
    calls: `calls (${(sideEffect ?? 'undeclared class').replaceAll('_', ' ')})`,
    delegates: lateBound ? 'delegates, version chosen at the call' : 'delegates',
    served_by: 'is served by',
    asks: `${effect ? EFFECTS[effect] : 'asks'}${agent ? ` (calls of ${agent})` : ''}`,
    reads: 'reads',
  }[kind]
  return gate ? `${does}, ${GATES[gate]}` : does
}
