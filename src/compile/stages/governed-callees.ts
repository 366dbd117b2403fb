/** What an agent can call, as far as policies are concerned. */
import { delegationSchema } from '../../spec/delegation.ts'
import type { SideEffectClass } from '../../spec/document.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import type { AgentTarget, AttachedPolicy, BundleAgent, DocumentPlace } from '../state/state.ts'

/** A bound tool or a sub-agent. */
export interface GovernedCallee {
  readonly wire: string
  /** Logical id, which `scope` names. */
  readonly id: string
  readonly kind: 'tool' | 'agent'
  readonly sideEffectClass?: SideEffectClass
  readonly schema?: JsonSchema
  /** Policies attached to this binding. */
  readonly policies: readonly AttachedPolicy[]
  readonly toolDefaults: readonly AttachedPolicy[]
  readonly at: DocumentPlace
}

/** The tools and sub-agents of an agent that could be bound. */
export function governedCallees(member: BundleAgent): readonly GovernedCallee[] {
  const tools = member.bindings.flatMap(({ bound, policies, contract, at }): GovernedCallee[] =>
    bound
      ? [
          {
            wire: bound.wire,
            id: bound.id,
            kind: 'tool',
            ...(bound.sideEffectClass && { sideEffectClass: bound.sideEffectClass }),
            ...(bound.inputSchema !== undefined && { schema: bound.inputSchema }),
            policies,
            toolDefaults: contract?.policies ?? [],
            at,
          },
        ]
      : [],
  )
  const agents = member.edges.flatMap(({ bound, policies, target, at }): GovernedCallee[] => {
    if (!bound) return []
    return [
      {
        wire: bound.wire,
        id: bound.id,
        kind: 'agent',
        schema: delegationSchema(bound.inputSchema, inputContractOf(target)),
        policies,
        toolDefaults: [],
        at,
      },
    ]
  })
  return [...tools, ...agents]
}

/** What the input of a sub-agent must be, where that is known before it is called. */
function inputContractOf(target: AgentTarget): JsonSchema | undefined {
  if (target.at === 'late') return undefined
  return target.at === 'local' ? target.member.contract : target.snapshot.inputContract
}
