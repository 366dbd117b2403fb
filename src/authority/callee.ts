/** What an agent version may call, and the facts from which its policies decide about it. */
import { factsOfAgent, factsOfCaller, factsOfTool } from '../policy/callee-facts.ts'
import type { CallFacts, PolicySets } from '../policy/condition/decision.ts'
import { firstCallFacts, type CallContext } from '../policy/condition/first-call.ts'
import type { JsonValue } from '../base/json/json.ts'
import { delegationSchema } from '../spec/delegation.ts'
import type { SideEffectClass } from '../spec/document.ts'
import { entriesForCall, type PolicyEntry } from '../spec/policy-set.ts'
import type { JsonSchema, AgentSnapshot } from '../spec/snapshot.ts'
import type { ComparedClosure } from './closure.ts'

export interface ComparedCallee {
  readonly agent: AgentSnapshot
  readonly kind: 'tool' | 'agent'
  readonly wire: string
  /** `namespace.name`. */
  readonly id: string
  readonly sideEffectClass?: SideEffectClass
  /** Arguments must satisfy each of these. */
  readonly schemas: readonly JsonSchema[]
  readonly facts: CallFacts['tool']
  /** True for a late-bound edge: version and labels are known only at the time of the call. */
  readonly late: boolean
  /** True if a policy is compared alone: agent and tool are unknown, but the same for both versions. */
  readonly anyone?: boolean
}

/** One of the two versions that are compared. */
export interface ComparedVersion {
  readonly callee: ComparedCallee
  readonly sets: PolicySets
}

export function calleesOf(closure: ComparedClosure, agent: AgentSnapshot): readonly ComparedCallee[] {
  return [
    ...agent.tools.map((tool): ComparedCallee => ({
      agent,
      kind: 'tool',
      wire: tool.wire,
      id: tool.id,
      ...(tool.sideEffectClass && { sideEffectClass: tool.sideEffectClass }),
      schemas: tool.inputSchemas,
      facts: factsOfTool(tool),
      late: false,
    })),
    ...agent.agents.map((bound): ComparedCallee => {
      const child = bound.lateBound ? undefined : closure.agents.get(bound.id)
      return {
        agent,
        kind: 'agent',
        wire: bound.wire,
        id: bound.id,
        // The input of a late-bound agent is known only when it is called.
        schemas:
          bound.lateBound && bound.inputSchema === undefined
            ? []
            : [delegationSchema(bound.inputSchema, child?.inputContract)],
        facts: factsOfAgent(bound, child),
        late: bound.lateBound,
      }
    }),
  ]
}

/** The policies that apply to a call, those that the agent inherits included. */
export const entriesFor = ({ own, ancestors }: PolicySets, callee: ComparedCallee): readonly PolicyEntry[] =>
  entriesForCall(own, ancestors, callee).map(({ entry }) => entry)

/** A Monday, noon. */
const NOON = Date.UTC(2026, 0, 5, 12)

/** Facts of a call of `callee`, as the policies of `callee.agent` read them. */
export function comparedFactsOf(
  { agent, facts: tool }: ComparedCallee,
  args: JsonValue,
  context: CallContext = {},
): CallFacts {
  return firstCallFacts({ args, tool, agent: factsOfCaller(agent), now: NOON }, { ...USUAL_CALLER, ...context })
}

/** A fixed caller, so that policies about callers are compared. */
const USUAL_CALLER: CallContext = { 'principal.id': 'someone', 'principal.trigger_name': 'api' }
