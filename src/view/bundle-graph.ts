/**
 * An agent version with everything that it reaches, as nodes and edges: agents, tools, MCP servers, policies and secrets by
 * name. Terminal and console draw the same graph. Source: docs/design/console.md#screens
 */
import type { BundleGraph, CallGate, GraphEdge, GraphNode } from '../operations/versions.ts'
import { entriesForCall, type PolicyEffect, type PolicyEntry, type PolicySet } from '../spec/policy-set.ts'
import type { AgentSnapshot, BoundAgent, BoundTool } from '../spec/snapshot.ts'

/** An agent at one place below the root. */
interface PlacedAgent {
  readonly agent: AgentSnapshot
  /** Policy sets of the agents above it, nearest first. */
  readonly ancestors: readonly PolicySet[]
}

/** @param childOf the version that a delegation reaches; undefined where there is none now */
export async function bundleGraph(
  root: AgentSnapshot,
  childOf: (bound: BoundAgent) => Promise<AgentSnapshot | undefined>,
): Promise<BundleGraph> {
  const graph = new GraphBuilder()
  const waiting: PlacedAgent[] = [{ agent: root, ancestors: [] }]
  const seen = new Set<string>()
  for (const placed of waiting) {
    const { agent, ancestors } = placed
    const from = graph.addNode('agent', agent.id, agent.version, ancestors.length)
    if (seen.has(from)) continue
    seen.add(from)
    for (const { secret } of [agent.model, ...(agent.fallback ?? [])]) graph.addSecret(placed, from, secret)
    for (const tool of agent.tools) addTool(graph, placed, from, tool)
    for (const bound of agent.agents) {
      const child = await childOf(bound)
      addDelegation(graph, placed, from, bound, child)
      if (child) waiting.push({ agent: child, ancestors: [agent.policies, ...ancestors] })
    }
  }
  return { root: `agent:${root.id}@${root.version}`, nodes: graph.nodes(), edges: graph.edges() }
}

/** Collects nodes and edges, each once. */
class GraphBuilder {
  readonly #nodes = new Map<string, GraphNode>()
  readonly #edges = new Map<string, GraphEdge>()

  nodes = (): GraphNode[] => [...this.#nodes.values()]
  edges = (): GraphEdge[] => [...this.#edges.values()]

  /** @returns the id of the node */
  addNode(kind: GraphNode['kind'], name: string, version: string | undefined, depth: number): string {
    const id = `${kind}:${name}${version ? `@${version}` : ''}`
    if (!this.#nodes.has(id)) this.#nodes.set(id, { id, kind, name, ...(version && { version }), depth })
    return id
  }

  addEdge(edge: GraphEdge): void {
    const { from, to, kind, effect = '', agent = '' } = edge
    this.#edges.set([from, to, kind, effect, agent].join('\0'), edge)
  }

  addSecret({ agent, ancestors }: PlacedAgent, from: string, name: string | undefined): void {
    const variable = name === undefined ? undefined : agent.secrets[name]?.fromEnv
    if (variable === undefined) return
    this.addEdge({ from, to: this.addNode('secret', variable, undefined, ancestors.length), kind: 'reads' })
  }

  addPolicies({ agent, ancestors }: PlacedAgent, from: string, entries: readonly PolicyEntry[]): void {
    for (const { policy, version, effect } of entries) {
      const to = this.addNode('policy', policy, version, ancestors.length)
      this.addEdge({ from, to, kind: 'asks', effect, agent: agent.id })
    }
  }
}

function addTool(graph: GraphBuilder, placed: PlacedAgent, from: string, tool: BoundTool): void {
  const depth = placed.ancestors.length
  const to = graph.addNode('tool', tool.id, tool.version, depth)
  const entries = policiesOfCall(placed, tool)
  const sideEffect = tool.sideEffectClass ?? null
  const gate = gateOf(entries, sideEffect === 'irreversible_action')
  graph.addEdge({ from, to, kind: 'calls', sideEffect, gate })
  graph.addPolicies(placed, to, entries)
  const server = placed.agent.mcpServers.find(({ name }) => name === tool.mcp?.server)
  if (!server) return
  const served = graph.addNode('mcp_server', server.name, undefined, depth)
  graph.addEdge({ from: to, to: served, kind: 'served_by' })
  graph.addSecret(placed, served, server.auth?.secret)
}

function addDelegation(
  graph: GraphBuilder,
  placed: PlacedAgent,
  from: string,
  bound: BoundAgent,
  child: AgentSnapshot | undefined,
): void {
  const to = graph.addNode('agent', bound.id, child?.version ?? bound.version, placed.ancestors.length + 1)
  const entries = policiesOfCall(placed, bound)
  const gate = gateOf(entries, false)
  graph.addEdge({ from, to, kind: 'delegates', gate, ...(bound.lateBound && { lateBound: true }) })
  graph.addPolicies(placed, to, entries)
}

const policiesOfCall = ({ agent, ancestors }: PlacedAgent, call: BoundTool | BoundAgent): readonly PolicyEntry[] =>
  entriesForCall(agent.policies, ancestors, call).map(({ entry }) => entry)

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
