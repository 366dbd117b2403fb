/** What an agent can call, as far as policies are concerned. */
import { delegationSchema } from '../../spec/delegation.ts'
import type { SideEffectClass } from '../../spec/document.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import type { AttachedPolicy, BundleAgent, DocumentPlace } from '../state/state.ts'

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
    const contract =
      target.at === 'local'
        ? target.member.contract
        : target.at === 'published'
          ? target.snapshot.inputContract
          : undefined
    return [
      {
        wire: bound.wire,
        id: bound.id,
        kind: 'agent',
        schema: delegationSchema(bound.inputSchema, contract),
        policies,
        toolDefaults: [],
        at,
      },
    ]
  })
  return [...tools, ...agents]
}
