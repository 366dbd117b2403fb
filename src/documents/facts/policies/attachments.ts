/** Which policies are attached where, and to which calls. Source: docs/design/policies.md#which-policies-apply */
import { subAgentsOf, toolDocument, toolsOf, usesOf, type CallBinding, type ToolUse } from '../agents/bindings.ts'
import { linkOf } from './decision.ts'
import { mappingIn, type Document, type FoundText } from '../../text/document.ts'
import { groupBy, getOrInsert } from '../../../base/values/collections.ts'
import { memoizePerObject, memoizePerWorkspace } from '../../workspace/memoize.ts'
import type { PathResolution } from '../../workspace/resolve-path.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export interface AttachedPolicyRef {
  /** The binding to which it is attached; undefined if it applies to all calls of the document. */
  readonly binding: CallBinding | undefined
  /** The id or the path as written. */
  readonly at: FoundText
  readonly written: string
  /** Policy documents that it names: none, one, or several versions of one id. */
  readonly policies: readonly Document[]
  /** Set for `{ref}`. */
  readonly resolution?: PathResolution
}

/** Where a policy is attached: each is an id, or a mapping with a path. */
const ATTACHMENT_PLACES = ['spec.default_policies.*', 'spec.tools.*.policies.*', 'spec.agents.*.policies.*']

export const attachmentsOf = memoizePerObject((workspace, document: Document): readonly AttachedPolicyRef[] => {
  const places = ATTACHMENT_PLACES.flatMap((list) => [...document.texts(list), ...document.texts(`${list}.ref`)])
  return places.map((at) => attachmentAt(workspace, document, at))
})

function attachmentAt(workspace: Workspace, document: Document, at: FoundText): AttachedPolicyRef {
  const end = at.pointer.indexOf('/policies/')
  const binding = end < 0 ? undefined : bindingAt(document, at.pointer.slice(0, end))
  const written = at.value
  if (at.key !== 'ref') return { binding, at, written, policies: workspace.find(document, 'Policy', written) }
  const resolution = workspace.resolve(document, written)
  const policies =
    'path' in resolution ? workspace.documentsAt(resolution.path).filter(({ kind }) => kind === 'Policy') : []
  return { binding, at, written, policies, resolution }
}

/** The binding at a pointer; an empty one where the entry is not a mapping. */
function bindingAt(agent: Document, pointer: string): CallBinding {
  const bindings = pointer.startsWith('/spec/tools/') ? toolsOf(agent) : subAgentsOf(agent)
  return bindings.find((each) => each.pointer === pointer) ?? { pointer, value: {}, agent }
}

/** The bindings whose calls a policy gates: those it is attached to, in so far as its scope allows. */
export const gatedBindings = (workspace: Workspace, policy: Document): readonly ToolUse[] =>
  gatesByPolicy(workspace).get(policy)?.bindings ?? []

/** Agents to which a policy applies. */
export const gatedAgents = (workspace: Workspace, policy: Document): readonly Document[] =>
  gatesByPolicy(workspace).get(policy)?.agents ?? []

interface GatedCalls {
  readonly agents: Document[]
  readonly bindings: ToolUse[]
}

const gatesByPolicy = memoizePerWorkspace((workspace): ReadonlyMap<Document, GatedCalls> => {
  const gated = new Map<Document, GatedCalls>()
  for (const agent of workspace.documents) if (agent.kind === 'Agent') addPoliciesOfAgent(workspace, agent, gated)
  return gated
})

/** Adds the policies that gate the calls of an agent. */
function addPoliciesOfAgent(workspace: Workspace, agent: Document, gated: Map<Document, GatedCalls>): void {
  const uses = toolsOf(agent)
  for (const boundary of agent.texts('metadata.governance.authority_boundaries.*'))
    for (const policy of linkedPolicies(workspace, agent, boundary.value)) addGate(gated, policy, agent, uses)
  for (const { binding, policies } of attachmentsOf(workspace, agent))
    for (const policy of policies) addGate(gated, policy, agent, uses, binding)
  for (const use of uses) {
    const tool = toolDocument(workspace, use)
    for (const { policies } of tool === undefined ? [] : attachmentsOf(workspace, tool))
      for (const policy of policies) addGate(gated, policy, agent, uses, use)
  }
}

/** @param binding the only binding that the policy gates; absent for all of the agent */
function addGate(
  gated: Map<Document, GatedCalls>,
  policy: Document,
  agent: Document,
  uses: readonly ToolUse[],
  binding?: CallBinding,
): void {
  const { agents, bindings } = getOrInsert(gated, policy, () => ({ agents: [], bindings: [] }))
  // Agents are visited one after the other, so a known one is the last.
  if (agents.at(-1) !== agent) agents.push(agent)
  const scope = scopeOf(policy)
  const called = scope === undefined ? uses : usesOf(agent, scope)
  for (const use of called)
    if ((binding === undefined || use === binding) && !bindings.includes(use)) bindings.push(use)
}

/** Policies linked to a boundary of an agent, among the documents published with it. */
export function linkedPolicies(workspace: Workspace, agent: Document, boundary: string): readonly Document[] {
  return policiesByBoundary(workspace, workspace.publishedTogether(agent)).get(boundary) ?? []
}

/** Policies of documents published together, by the boundary to which they are linked. */
const policiesByBoundary = memoizePerObject((_, documents: readonly Document[]) =>
  groupBy(
    documents.filter(({ kind }) => kind === 'Policy'),
    linkOf,
  ),
)

/** The tool that `scope: tool:<id>` names. */
export const scopeOf = (policy: Document): string | undefined => policy.memoize(readScope)

function readScope(policy: Document): string | undefined {
  const { scope } = mappingIn(policy, 'spec')
  return typeof scope === 'string' && scope.startsWith('tool:') ? scope.slice('tool:'.length) : undefined
}
