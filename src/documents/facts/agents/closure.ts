/** Agents reached from an agent through edges inside the workspace. */
import { subAgentDocument, subAgentsOf, type CallBinding } from './bindings.ts'
import type { Document } from '../../text/document.ts'
import { memoizePerObject, memoizePerWorkspace } from '../../workspace/memoize.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export interface SubAgentEdge extends CallBinding {
  readonly child: Document
}

export const subAgentEdges = (workspace: Workspace, agent: Document): readonly SubAgentEdge[] =>
  edges(workspace).get(agent) ?? NONE

const NONE: readonly SubAgentEdge[] = []

const edges = memoizePerWorkspace((workspace): ReadonlyMap<Document, readonly SubAgentEdge[]> => {
  const follow = (edge: CallBinding): SubAgentEdge[] => {
    const { pointer, value, agent } = edge
    const child = subAgentDocument(workspace, edge)
    return child === undefined ? [] : [{ pointer, value, agent, child }]
  }
  const found = new Map<Document, readonly SubAgentEdge[]>()
  for (const agent of workspace.documents) {
    const bindings = subAgentsOf(agent)
    if (bindings.length > 0) found.set(agent, bindings.flatMap(follow))
  }
  return found
})

const children = memoizePerWorkspace(
  (workspace): ReadonlySet<Document> =>
    new Set(
      [...edges(workspace).values()].flatMap((list) =>
        list.filter(({ agent, child }) => agent !== child).map(({ child }) => child),
      ),
    ),
)

/** An agent and every agent that it reaches, nearest first, each once. */
export const closureOf = memoizePerObject((workspace, root: Document): readonly Document[] => {
  if (subAgentEdges(workspace, root).length === 0) return [root]
  const reached = new Set([root])
  // A set also iterates over members added during the loop.
  for (const agent of reached) for (const { child } of subAgentEdges(workspace, agent)) reached.add(child)
  return [...reached]
})

/** The path from an agent back to itself, with both ends; undefined when there is none. */
export function cycleThrough(workspace: Workspace, first: SubAgentEdge): Document[] | undefined {
  const { agent, child } = first
  const from = new Map<Document, Document>()
  const open = [child]
  const seen = new Set(open)
  for (const here of open) {
    if (here === agent) return [agent, ...trail(from, agent, child)]
    for (const { child: next } of subAgentEdges(workspace, here)) {
      if (seen.has(next)) continue
      seen.add(next)
      from.set(next, here)
      open.push(next)
    }
  }
  return undefined
}

/** The longest chain of delegations below an agent, the agent first. Does not follow cycles. */
export function longestPath(workspace: Workspace, root: Document): Document[] {
  const known = new Map<Document, Document[]>()
  const below = (agent: Document, above: ReadonlySet<Document>): Document[] => {
    const before = known.get(agent)
    if (before !== undefined) return before
    const trail = new Set([...above, agent])
    let best: Document[] = []
    for (const { child } of subAgentEdges(workspace, agent)) {
      if (trail.has(child)) continue
      const path = below(child, trail)
      if (path.length > best.length) best = path
    }
    const path = [agent, ...best]
    known.set(agent, path)
    return path
  }
  return below(root, new Set())
}

/** True for an agent to which no other agent of the workspace delegates. */
export const isRoot = (workspace: Workspace, agent: Document): boolean => !children(workspace).has(agent)

function trail(from: ReadonlyMap<Document, Document>, end: Document, start: Document): Document[] {
  const above = end === start ? undefined : from.get(end)
  return above === undefined ? [end] : [...trail(from, above, start), end]
}
