/**
 * Which policies of a call fire and what follows. This is the whole decision with its trace; what it says in words is made
 * from it by `tell`, and only where somebody reads it. Source: policies, section 4.
 */
import { canonicalJson, type JsonValue } from '../base/json.ts'
import type { SideEffectClass } from '../spec/document.ts'
import type { PolicyEffect, PolicyEntry } from '../spec/policy-set.ts'
import type { PolicyDecision, CallFacts, PolicySets } from './condition/decision.ts'
import type { EvaluationFrame } from './condition/evaluate.ts'
import { argumentAt } from './condition/path.ts'
import { inheritedRulesOf, PolicyFault, rulesOf, type PolicyRule, type RuleList } from './rules.ts'
import type { TruthValue } from './condition/truth.ts'

/** What follows from one policy: its effect where it fired, `deny` for a list that the argument is not in, else nothing. */
export type PolicyOutcome = Exclude<PolicyEffect, 'restrict'> | 'nothing'

/** Rules of one set and what was seen of a call. */
export interface EvaluatedSet {
  readonly list: RuleList
  /** Places of the rules that concern the call. */
  readonly places: readonly number[]
  readonly frame: EvaluationFrame
}

export interface SetVerdict {
  readonly decision: PolicyDecision['decision']
  /** True where the side-effect class decided, since nothing fired. */
  readonly byDefault: boolean
  readonly effectiveClass: SideEffectClass | undefined
  readonly facts: CallFacts
  /** The policies of the agent's own set that concern the call; absent where there is a fault. */
  readonly list: RuleList | undefined
  readonly frame: EvaluationFrame
  /** Those of its ancestors. */
  readonly inherited: readonly EvaluatedSet[]
  /** `<what>` of `policy_error:<what>`; the call is denied. */
  readonly fault: string | undefined
}

/** What every policy that concerns a call came to: those of the agent's own set, then those of its ancestors. */
export function partsOf({ list, frame, inherited }: SetVerdict): readonly EvaluatedSet[] {
  return list ? [{ list, places: [...list.rules.keys()], frame }, ...inherited] : inherited
}

/**
 * Never throws; what goes wrong denies.
 * @param wire name under which the agent binds what is called; a name that its set does not know is denied
 * @param effectiveClass in place of the tool's own; `irreversible_action` needs one approval unless a grant fires
 */
export function evaluatePolicies(
  sets: PolicySets,
  wire: string,
  facts: CallFacts,
  effectiveClass: SideEffectClass | undefined = facts.tool.side_effect_class,
): SetVerdict {
  try {
    const list = rulesOf(sets.own, wire)
    const frame = list.layout.read(facts)
    const inherited = sets.ancestors.length === 0 ? NONE : inheritedBy(sets, list, facts)
    const own = weigh(list, frame, facts)
    const weight = inherited === NONE ? own : weighInherited(own, inherited, facts)
    const byDefault = weight === 0 && effectiveClass === 'irreversible_action'
    const decision = byDefault ? 'require_approval' : DECISIONS[weight]!
    return { decision, byDefault, effectiveClass, facts, list, frame, inherited, fault: undefined }
  } catch (error) {
    return refuse(error, facts, effectiveClass)
  }
}

/** By weight: of nothing, and of what is strictest of all that fired. */
const DECISIONS = ['allow', 'allow', 'require_approval', 'escalate', 'deny'] as const

const NONE: readonly EvaluatedSet[] = []

const refuse = (error: unknown, facts: CallFacts, effectiveClass: SideEffectClass | undefined): SetVerdict => ({
  decision: 'deny',
  byDefault: false,
  effectiveClass,
  facts,
  list: undefined,
  frame: [],
  inherited: NONE,
  fault: error instanceof PolicyFault ? error.what : 'evaluation',
})

/** An ancestor's gates and lists apply to the calls below it, each once; its grants do not. */
function inheritedBy({ ancestors }: PolicySets, own: RuleList, facts: CallFacts): readonly EvaluatedSet[] {
  const known = new Set(own.rules.map(({ entry }) => entry.id))
  return ancestors.flatMap((set) => {
    const list = inheritedRulesOf(set)
    const places = [...list.rules.keys()].filter((at) => {
      const { id, effect, scope } = list.rules[at]!.entry
      const applies = !known.has(id) && effect !== 'grant' && (scope === undefined || scope === facts.tool.id)
      if (applies) known.add(id)
      return applies
    })
    return places.length === 0 ? [] : { list, places, frame: list.layout.read(facts) }
  })
}

/** The strictness of the strictest rule that fired; 0 = none. Keeps the truth of each in the frame. */
function weigh(list: RuleList, frame: EvaluationFrame, facts: CallFacts): number {
  let weight = 0
  for (let at = 0; at < list.rules.length; at++) weight = weighOne(weight, list, at, frame, facts)
  return weight
}

function weighInherited(own: number, inherited: readonly EvaluatedSet[], facts: CallFacts): number {
  let weight = own
  for (const { list, places, frame } of inherited)
    for (const at of places) weight = weighOne(weight, list, at, frame, facts)
  return weight
}

/** @param weight of those before */
function weighOne(
  weight: number,
  { rules, layout }: RuleList,
  at: number,
  frame: EvaluationFrame,
  facts: CallFacts,
): number {
  const truth = layout.evaluators[at]!.run(frame)
  frame[layout.base + at] = truth
  if (truth === 'false') return weight
  const rule = rules[at]!
  if (rule.strictness <= weight) return weight
  return rule.isGate || outcomeOf(rule, truth, facts) !== 'nothing' ? rule.strictness : weight
}

/** What cannot be told counts as true for a gate and a list, and never in favour of the call. */
export function outcomeOf({ entry }: PolicyRule, truth: TruthValue, facts: CallFacts): PolicyOutcome {
  if (truth === 'false') return 'nothing'
  if (entry.effect === 'grant') return truth === 'true' ? 'grant' : 'nothing'
  if (entry.effect !== 'restrict') return entry.effect
  if (!entry.allow) throw new PolicyFault('list_missing')
  return isListed(entry.allow, facts.args) ? 'nothing' : 'deny'
}

/** Whether the checked argument is in the list, compared as canonical text; an absent one is not. */
export function isListed({ field, values }: NonNullable<PolicyEntry['allow']>, args: JsonValue): boolean {
  const text = textOf(argumentAt(args, field))
  return text !== undefined && values.includes(text)
}

/** A string is itself, everything else its canonical text. A number that JSON readers may have rounded has none. */
function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  return typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER) ? undefined : canonicalJson(value)
}
