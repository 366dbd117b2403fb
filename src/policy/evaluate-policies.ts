/**
 * Decides a call: which policies fire, and what follows. `decide.ts` words the result for people.
 * Source: docs/design/policies.md#the-decision
 */
import { canonicalJson, type JsonValue } from '../base/json/json.ts'
import type { SideEffectClass } from '../spec/document.ts'
import type { PolicyEffect, PolicyEntry } from '../spec/policy-set.ts'
import type { PolicyDecision, CallFacts, PolicySets } from './condition/decision.ts'
import type { EvaluatedLeaf } from './condition/evaluate.ts'
import { argumentAt } from './condition/path.ts'
import type { TruthValue } from './condition/truth.ts'
import { compareRules, inheritedRules, PolicyFault, rulesForWire, type PolicyRule } from './rules.ts'

/** What a policy requires: its effect if it fired, `deny` for a list that lacks the argument, else nothing. */
export type PolicyOutcome = Exclude<PolicyEffect, 'restrict'> | 'nothing'

/** One policy that applies to the call. */
export interface EvaluatedPolicy {
  readonly rule: PolicyRule
  readonly truth: TruthValue
  /** The comparisons of its condition, from left to right. */
  readonly seen: readonly EvaluatedLeaf[]
  readonly outcome: PolicyOutcome
  /** True for a standing authority that an operator has ended. */
  readonly isRevoked?: true
}

export interface PolicyVerdict {
  readonly decision: PolicyDecision['decision']
  /** True where no policy fired and the side-effect class decided. */
  readonly byDefault: boolean
  readonly effectiveClass: SideEffectClass | undefined
  readonly facts: CallFacts
  /** Every policy that applies, in the order of their names; empty where there is a fault. */
  readonly policies: readonly EvaluatedPolicy[]
  /** `<what>` of `policy_error:<what>`; the call is denied. */
  readonly fault?: string
}

/** Gates, the strictest first. */
const GATES = ['deny', 'escalate', 'require_approval'] as const

/**
 * Never throws; an error denies.
 * @param wire name under which the agent binds what is called; a name that its set does not know is denied
 * @param effectiveClass in place of the tool's own; `irreversible_action` needs one approval unless a grant fires
 */
export function evaluatePolicies(
  sets: PolicySets,
  wire: string,
  facts: CallFacts,
  effectiveClass: SideEffectClass | undefined = facts.tool.side_effect_class,
): PolicyVerdict {
  try {
    const policies = applicableRules(sets, wire, facts.tool.id).map((rule) => evaluateRule(rule, facts))
    const fired = new Set(policies.map(({ outcome }) => outcome))
    const gate = GATES.find((effect) => fired.has(effect))
    const byDefault = gate === undefined && effectiveClass === 'irreversible_action' && !fired.has('grant')
    const decision = gate ?? (byDefault ? 'require_approval' : 'allow')
    return { decision, byDefault, effectiveClass, facts, policies }
  } catch (error) {
    const fault = error instanceof PolicyFault ? error.what : 'evaluation'
    return { decision: 'deny', byDefault: false, effectiveClass, facts, policies: [], fault }
  }
}

/** The agent's own rules for the call and the gates and lists of its ancestors, each once. Grants of ancestors do not apply. */
function applicableRules({ own, ancestors }: PolicySets, wire: string, toolId: string): readonly PolicyRule[] {
  const ownRules = rulesForWire(own, wire)
  if (ancestors.length === 0) return ownRules
  const rules = new Map(ownRules.map((rule) => [rule.entry.id, rule]))
  for (const rule of ancestors.flatMap(inheritedRules)) {
    const { id, effect, scope } = rule.entry
    if (effect !== 'grant' && (scope === undefined || scope === toolId) && !rules.has(id)) rules.set(id, rule)
  }
  return [...rules.values()].sort(compareRules)
}

function evaluateRule(rule: PolicyRule, facts: CallFacts): EvaluatedPolicy {
  const { standing } = rule.entry.obligations
  // An operator ended this authority, so the grant does not fire.
  if (rule.entry.effect === 'grant' && standing !== undefined && facts.revoked?.has(standing))
    return { rule, truth: 'false', seen: [], outcome: 'nothing', isRevoked: true }
  const { truth, seen } = rule.evaluate?.(facts) ?? ({ truth: 'true', seen: [] } as const)
  return { rule, truth, seen, outcome: outcomeOf(rule.entry, truth, facts) }
}

/** A gate and a list fire on true and on unknown, a grant on true only. */
function outcomeOf({ effect, allow }: PolicyEntry, truth: TruthValue, { args }: CallFacts): PolicyOutcome {
  if (truth === 'false') return 'nothing'
  if (effect === 'grant') return truth === 'true' ? 'grant' : 'nothing'
  if (effect !== 'restrict') return effect
  if (!allow) throw new PolicyFault('list_missing')
  return isListed(allow, args) ? 'nothing' : 'deny'
}

/** Whether the checked argument is in the list, compared as canonical text; an absent one is not. */
export function isListed({ field, values }: NonNullable<PolicyEntry['allow']>, args: JsonValue): boolean {
  const text = listedText(argumentAt(args, field))
  return text !== undefined && values.includes(text)
}

/** A string as it is, anything else as canonical text. A number that JSON parsers may have rounded has none. */
function listedText(value: JsonValue | undefined): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  return typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER) ? undefined : canonicalJson(value)
}
