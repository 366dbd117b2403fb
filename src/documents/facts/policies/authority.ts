/** Which policies apply to the calls of a binding, as far as documents show. Source: docs/design/policies.md#which-policies-apply */
import { attachmentsOf, linkedPolicies, scopeOf } from './attachments.ts'
import { effectiveClass, toolDocument, type ToolUse } from '../agents/bindings.ts'
import { subAgentEdges } from '../agents/closure.ts'
import { conditionOf } from './conditions.ts'
import { decisionOf } from './decision.ts'
import type { Document } from '../../text/document.ts'
import { leavesOf } from '../../../policy/condition/condition.ts'
import { memoizePerObject, memoizePerWorkspace } from '../../workspace/memoize.ts'
import type { LintProject } from '../rule.ts'

export interface BoundaryAuthority {
  readonly policies: readonly Document[]
  /** True if a policy that may apply to the calls is not among the documents. */
  readonly unseen: boolean
  /** True when a boundary without a policy asks for an approval. */
  readonly synthetic: boolean
}

export type GateEffect = 'grant' | 'list' | 'gate'

/** What a policy does; undefined where its decision cannot be read. */
export function gateEffectOf(policy: Document): GateEffect | undefined {
  const { type } = decisionOf(policy)
  if (type !== 'allow') return typeof type === 'string' ? 'gate' : undefined
  return policy.at('spec.allow').length > 0 ? 'list' : 'grant'
}

/** Everything that decides about the calls of a tool binding. */
export function authorityOver(project: LintProject, use: ToolUse): BoundaryAuthority {
  const known = authorities.get(project) ?? new Map<ToolUse, BoundaryAuthority>()
  authorities.set(project, known)
  const authority = known.get(use) ?? readAuthority(project, use)
  known.set(use, authority)
  return authority
}

/** Cached, since several rules ask about each binding. */
const authorities = new WeakMap<LintProject, Map<ToolUse, BoundaryAuthority>>()

function readAuthority({ workspace, guardrails }: LintProject, use: ToolUse): BoundaryAuthority {
  const { agent } = use
  const tool = toolDocument(workspace, use)
  const policies = new Set<Document>()
  /** Adds the policies that apply to the binding; false if none is among the documents. */
  const add = (found: readonly Document[]): boolean => {
    for (const policy of found) if (concerns(policy, use)) policies.add(policy)
    return found.length > 0
  }
  let unseen = tool === undefined && use.value['mcp'] === undefined && !use.builtin
  for (const each of attachmentsOf(workspace, agent))
    if ((each.binding === undefined || each.binding === use) && !add(each.policies)) unseen = true
  if (tool !== undefined) for (const each of attachmentsOf(workspace, tool)) if (!add(each.policies)) unseen = true
  const { linked, unlinked } = boundariesOver(workspace, agent)
  add(linked)
  for (const path of guardrails)
    if (!add(workspace.documentsAt(path).filter(({ kind }) => kind === 'Policy'))) unseen = true
  return {
    policies: [...policies],
    unseen,
    synthetic: unlinked && effectiveClass(workspace, use) !== 'read_only',
  }
}

/** True when something may stop a call of the binding, or when that is unknown. */
export const isGated = (project: LintProject, use: ToolUse): boolean =>
  isStopped(project, use) || needsApproval(project, use)

/** As `isGated`, but without the default approval of irreversible actions. */
export function isStopped(project: LintProject, use: ToolUse): boolean {
  const { policies, unseen, synthetic } = authorityOver(project, use)
  return unseen || synthetic || policies.some(stopsOrdinaryCalls)
}

/** False for a policy whose scope is another tool. */
function concerns(policy: Document, { ref }: ToolUse): boolean {
  const scope = scopeOf(policy)
  return scope === undefined || scope === ref?.id
}

/** True for a gate or allow list that applies to ordinary calls. */
export const stopsOrdinaryCalls = (policy: Document): boolean => policy.memoize(isGate)

function isGate(policy: Document): boolean {
  const effect = gateEffectOf(policy)
  if (effect === undefined || effect === 'grant') return false
  const condition = conditionOf(policy)
  // Conditions on `svc` only route failures of the runtime to a person; they stop no call.
  return condition === undefined || leavesOf(condition).some(({ path }) => path.root !== 'svc')
}

/** The side-effect default: an irreversible action needs an approval unless a grant lifts it. */
const needsApproval = (project: LintProject, use: ToolUse): boolean =>
  effectiveClass(project.workspace, use) === 'irreversible_action' &&
  !authorityOver(project, use).policies.some((policy) => gateEffectOf(policy) === 'grant')

export interface AuthorityBoundary {
  readonly id: string
  /** Pointer into the agent. */
  readonly pointer: string
  readonly policies: readonly Document[]
}

/** The boundaries of an agent with the policies that are linked to them. */
export const boundariesOf = memoizePerObject((workspace, agent: Document): readonly AuthorityBoundary[] =>
  agent.texts('metadata.governance.authority_boundaries.*').map(({ value, pointer }) => ({
    id: value,
    pointer,
    policies: linkedPolicies(workspace, agent, value),
  })),
)

interface Boundaries {
  /** The policies that are linked to them, each once. */
  readonly linked: readonly Document[]
  /** True where some boundary has none. */
  readonly unlinked: boolean
}

/** The boundaries of an agent and of all agents that delegate to it, directly or not: they apply to its calls. */
const boundariesOver = memoizePerObject((workspace, agent: Document): Boundaries => {
  const found = new Set([agent])
  for (const each of found) for (const parent of parents(workspace).get(each) ?? []) found.add(parent)
  const boundaries = [...found].flatMap((each) => boundariesOf(workspace, each))
  return {
    linked: [...new Set(boundaries.flatMap(({ policies }) => policies))],
    unlinked: boundaries.some(({ policies }) => policies.length === 0),
  }
})

const parents = memoizePerWorkspace((workspace): ReadonlyMap<Document, readonly Document[]> => {
  const above = new Map<Document, Document[]>()
  for (const agent of workspace.documents)
    for (const { child } of subAgentEdges(workspace, agent)) above.set(child, [...(above.get(child) ?? []), agent])
  return above
})
