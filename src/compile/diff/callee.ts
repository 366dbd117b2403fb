/** What an agent version may call, and the facts from which its policies decide about it. */
import { factsOfAgent, factsOfTool } from '../../policy/callee-facts.ts'
import type { CallFacts, PolicySets } from '../../policy/condition/decision.ts'
import { firstCallFacts, type CallContext } from '../../policy/condition/first-call.ts'
import type { JsonValue } from '../../base/json/json.ts'
import type { SideEffectClass } from '../../spec/document.ts'
import type { PolicyEntry } from '../../spec/policy-set.ts'
import type { BoundAgent, JsonSchema, AgentSnapshot } from '../../spec/snapshot.ts'
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

/** Arguments of a delegation without a schema of its own. Source: decisions, section 9. */
const MESSAGE: JsonSchema = {
  type: 'object',
  properties: { message: { type: 'string' } },
  required: ['message'],
  additionalProperties: false,
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
        schemas: delegationSchemas(bound, child),
        facts: factsOfAgent(bound, child),
        late: bound.lateBound,
      }
    }),
  ]
}

function delegationSchemas(
  { inputSchema, lateBound }: BoundAgent,
  child: AgentSnapshot | undefined,
): readonly JsonSchema[] {
  const schema = inputSchema ?? child?.inputContract
  return schema !== undefined ? [schema] : lateBound ? [] : [MESSAGE]
}

/** The policies that apply to a call, including those of ancestors: their gates and allow lists apply below them, their grants do not. */
export function entriesFor({ own, ancestors }: PolicySets, { wire, id }: ComparedCallee): readonly PolicyEntry[] {
  const ids = new Set(own.index[wire])
  const found = new Map(own.entries.filter((entry) => ids.has(entry.id)).map((entry) => [entry.id, entry]))
  for (const { entries, inherited } of ancestors)
    for (const entry of entries)
      if (inherited.includes(entry.id) && entry.effect !== 'grant' && (entry.scope === undefined || entry.scope === id))
        found.set(entry.id, entry)
  return [...found.values()]
}

/** A Monday, noon. */
const NOON = Date.UTC(2026, 0, 5, 12)

/** Facts of a call of `callee`, as the policies of `callee.agent` read them. */
export function comparedFactsOf(
  { agent, facts: tool }: ComparedCallee,
  args: JsonValue,
  context: CallContext = {},
): CallFacts {
  const { id, version, riskTier, classifications, labels } = agent
  const caller = { id, version, ...(riskTier !== undefined && { risk_tier: riskTier }), classifications, labels }
  return firstCallFacts({ args, tool, agent: caller, now: NOON }, { ...USUAL_CALLER, ...context })
}

/** A fixed caller, so that policies about callers are compared. */
const USUAL_CALLER: CallContext = { 'principal.id': 'someone', 'principal.trigger_name': 'api' }
