/**
 * Which policies of a call fire and what follows. This is the whole decision with its trace; what it says in words is made
 * from it by `tell`, and only where somebody reads it. Source: policies, section 4.
 */
import { canonical, type JsonValue } from '../base/json.ts'
import type { SideEffectClass } from '../spec/document.ts'
import type { Effect } from '../spec/policy-set.ts'
import type { Decision, Facts, Sets } from './decision.ts'
import type { Frame } from './evaluate.ts'
import { argumentAt } from './path.ts'
import { PolicyFault, rulesOf, type Rule, type RuleList } from './rules.ts'
import type { Truth } from './truth.ts'

/** What follows from one policy: its effect where it fired, `deny` for a list that the argument is not in, else nothing. */
export type Outcome = Exclude<Effect, 'restrict'> | 'nothing'

/** Rules of one set, in the fixed order, each with the truth at the same index. */
export interface Part {
  readonly rules: readonly Rule[]
  readonly truths: readonly Truth[]
  /** What the evaluators looked at. */
  readonly frame: Frame
}

export interface Verdict {
  readonly decision: Decision['decision']
  /** True where the side-effect class decided, since nothing fired. */
  readonly byDefault: boolean
  readonly effectiveClass: SideEffectClass | undefined
  /** Every policy that concerns the call: those of the agent's own set, then those of its ancestors. */
  readonly parts: readonly Part[]
  readonly facts: Facts
  /** `<what>` of `policy_error:<what>`; the call is denied. */
  readonly fault?: string
}

const DECISIONS = ['allow', 'require_approval', 'escalate', 'deny'] as const

/**
 * Never throws; what goes wrong denies.
 * @param wire name under which the agent binds what is called; a name that its set does not know is denied
 * @param effectiveClass in place of the tool's own; `irreversible_action` needs one approval unless a grant fires
 */
export function judge(
  sets: Sets,
  wire: string,
  facts: Facts,
  effectiveClass: SideEffectClass | undefined = facts.tool.side_effect_class,
): Verdict {
  try {
    return settle(weighAll(sets, wire, facts), facts, effectiveClass)
  } catch (error) {
    const fault = error instanceof PolicyFault ? error.what : 'evaluation'
    return { decision: 'deny', byDefault: false, effectiveClass, parts: [], facts, fault }
  }
}

interface Weighed {
  readonly parts: Part[]
  /** Of the strictest gate that fired: an index of `DECISIONS`. */
  strictest: number
  granted: boolean
}

function settle({ parts, strictest, granted }: Weighed, facts: Facts, effectiveClass?: SideEffectClass): Verdict {
  const byDefault = strictest === 0 && !granted && effectiveClass === 'irreversible_action'
  const decision = byDefault ? 'require_approval' : DECISIONS[strictest]!
  return { decision, byDefault, effectiveClass, parts, facts }
}

/** An ancestor's gates and lists apply to the calls below it; its grants do not. */
function weighAll(sets: Sets, wire: string, facts: Facts): Weighed {
  const weighed: Weighed = { parts: [], strictest: 0, granted: false }
  const own = rulesOf(sets.own).of(wire)
  if (!own) throw new PolicyFault('not_bound')
  weigh(weighed, own, own.rules, facts)
  if (sets.ancestors.length === 0) return weighed
  const known = new Set(own.rules.map(({ entry }) => entry.id))
  for (const set of sets.ancestors) {
    const { inherited } = rulesOf(set)
    const rules = inherited.rules.filter(({ entry: { id, effect, scope } }) => {
      const applies = !known.has(id) && effect !== 'grant' && (scope === undefined || scope === facts.tool.id)
      if (applies) known.add(id)
      return applies
    })
    if (rules.length > 0) weigh(weighed, inherited, rules, facts)
  }
  return weighed
}

function weigh(weighed: Weighed, list: RuleList, rules: readonly Rule[], facts: Facts): void {
  const truths = rules === list.rules ? list.truths.slice() : rules.map((): Truth => 'true')
  const frame = list.read(facts)
  for (let at = 0; at < rules.length; at++) {
    const rule = rules[at]!
    const truth = rule.evaluator ? rule.evaluator.run(frame) : 'true'
    truths[at] = truth
    if (truth === 'false') continue
    const { strictness } = rule
    if (strictness > weighed.strictest) {
      if (rule.entry.effect !== 'restrict' || outcomeOf(rule, truth, facts) === 'deny') weighed.strictest = strictness
    } else if (strictness === 0 && truth === 'true') weighed.granted = true
  }
  weighed.parts.push({ rules, truths, frame })
}

/** What cannot be told counts as true for a gate and a list, and never in favour of the call. */
export function outcomeOf({ entry }: Rule, truth: Truth, facts: Facts): Outcome {
  if (truth === 'false') return 'nothing'
  if (entry.effect === 'grant') return truth === 'true' ? 'grant' : 'nothing'
  if (entry.effect !== 'restrict') return entry.effect
  if (!entry.allow) throw new PolicyFault('list_missing')
  const text = textOf(argumentAt(facts.args, entry.allow.field))
  return text !== undefined && entry.allow.values.includes(text) ? 'nothing' : 'deny'
}

/** A string is itself, everything else its canonical text. A number that JSON readers may have rounded has none. */
function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  return typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER) ? undefined : canonical(value)
}
