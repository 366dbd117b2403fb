/**
 * One decision about one call, in words: the strictest of all gates that fired, and why. Pure and synchronous; it never
 * throws, and what goes wrong denies. Source: policies, section 4.
 */
import type { SideEffectClass } from '../spec/document.ts'
import type { DecidedPolicy } from '../spec/step.ts'
import type { PolicyDecision, CallFacts, PolicySets } from './condition/decision.ts'
import { describeMoment, describeValue } from './condition/describe.ts'
import type { ConditionEvaluator } from './condition/evaluate.ts'
import { evaluatePolicies, outcomeOf, partsOf, type PolicyOutcome, type SetVerdict } from './evaluate-policies.ts'
import { mergeObligations } from './obligations.ts'
import { argumentAt } from './condition/path.ts'
import { byName, type PolicyRule } from './rules.ts'
import { showValue, type TruthValue, type SubjectValue } from './condition/truth.ts'

/**
 * @param wire name under which the agent binds what is called; a name that its set does not know is denied
 * @param effectiveClass in place of the tool's own; `irreversible_action` needs one approval unless a grant fires
 */
export const decideByPolicies = (
  sets: PolicySets,
  wire: string,
  facts: CallFacts,
  effectiveClass?: SideEffectClass,
): PolicyDecision => describeVerdict(evaluatePolicies(sets, wire, facts, effectiveClass))

/** A verdict in words. */
export function describeVerdict(verdict: SetVerdict): PolicyDecision {
  if (verdict.fault !== undefined) return refuse(verdict.fault)
  try {
    return settle(verdict)
  } catch {
    return refuse('evaluation')
  }
}

/** One policy of a verdict. */
interface Considered {
  readonly rule: PolicyRule
  readonly truth: TruthValue
  readonly outcome: PolicyOutcome
  readonly leaves: ConditionEvaluator['leaves']
  /** What its own leaves saw. */
  readonly values: readonly SubjectValue[]
  /** The same in words. */
  readonly texts: readonly string[]
}

/** The policies of a verdict one by one, by name, each with the values that its own leaves saw. */
export function consideredOf(verdict: SetVerdict): readonly Considered[] {
  const all: Considered[] = []
  for (const { list, places, frame } of partsOf(verdict)) {
    // Many policies look at the same few values.
    const written: string[] = []
    const { rules, layout } = list
    for (const at of places) {
      const rule = rules[at]!
      const truth = frame[layout.base + at] as TruthValue
      const { leaves } = layout.evaluators[at]!
      const values: SubjectValue[] = []
      const texts: string[] = []
      for (const { slot, subject } of leaves) {
        values.push(frame[slot])
        const describe = subject.isMoment ? describeMoment : describeValue
        texts.push((written[slot] ??= describe(showValue(frame[slot]))))
      }
      all.push({ rule, truth, leaves, outcome: outcomeOf(rule, truth, verdict.facts), values, texts })
    }
  }
  // The rules of one set are in this order already.
  return verdict.inherited.length === 0 ? all : all.sort((a, b) => byName(a.rule, b.rule))
}

function settle(verdict: SetVerdict): PolicyDecision {
  const { decision, byDefault, effectiveClass, facts } = verdict
  const all = consideredOf(verdict)
  const gate = decision === 'allow' || byDefault ? undefined : decision
  const wins = gate ?? 'grant'
  const winning = all.filter((each) => each.outcome === wins)
  const policies = [...winning, ...all.filter((each) => each.outcome !== wins)].map(toDecided)
  const authorityRef = winning.find((each) => each.rule.entry.authority_ref !== undefined)?.rule.entry.authority_ref
  const settled: Writable<PolicyDecision> = {
    decision,
    policies,
    explanation: explainWinner(winning, gate, byDefault, effectiveClass, facts),
    reasons: [],
  }
  if (gate !== undefined && authorityRef !== undefined) settled.authorityRef = authorityRef
  if (decision === 'deny') settled.message = messageOf(winning, settled.explanation)
  if (decision === 'allow' || decision === 'deny') return settled
  const approvals = all
    .filter((each) => each.outcome === 'escalate' || each.outcome === 'require_approval')
    .map((each) => each.rule.entry)
  const reasons = approvals.flatMap((entry) => entry.reason ?? [])
  settled.obligations = mergeObligations(
    approvals.map((entry) => entry.obligations),
    effectiveClass,
  )
  settled.reasons = byDefault ? [DEFAULT_REASON] : [...new Set(reasons)].sort()
  return settled
}

/** Results are filled field by field: spreading one object into another costs more than the whole decision. */
type Writable<T> = { -readonly [K in keyof T]: T[K] }

const DEFAULT_REASON = 'The action cannot be undone and no policy grants it.'

const refuse = (what: string): PolicyDecision => ({
  decision: 'deny',
  policies: [],
  explanation: `The policies of this call could not be evaluated (${what}), so it is denied.`,
  message: 'The call is denied because its policies could not be evaluated.',
  reasons: [],
  error: `policy_error:${what}`,
})

function toDecided({ rule, truth, texts }: Considered): DecidedPolicy {
  const { id, version, decision, reason, authority_ref, source } = rule.said
  const decided: Writable<DecidedPolicy> = { id, version, decision, matched: truth, reason, authority_ref }
  if (source !== undefined) decided.source = source
  if (rule.describe) decided.condition = rule.describe(texts)
  return decided
}

function messageOf(winning: readonly Considered[], explanation: string): string {
  const entries = winning.map((each) => each.rule.entry)
  return (
    entries.find((entry) => entry.message !== undefined)?.message ??
    entries.find((entry) => entry.reason !== undefined)?.reason ??
    explanation
  )
}

const VERBS = {
  deny: 'denies the call',
  escalate: 'escalates the call to an operator',
  require_approval: 'requires an approval',
} as const

function explainWinner(
  winning: readonly Considered[],
  gate: keyof typeof VERBS | undefined,
  byDefault: boolean,
  effectiveClass: SideEffectClass | undefined,
  facts: CallFacts,
): string {
  const [first, ...others] = winning
  if (byDefault) return 'An irreversible_action requires an approval, and no policy grants it.'
  if (!first)
    return effectiveClass === undefined
      ? 'No policy stops the call.'
      : `No policy stops the call, and ${effectiveClass} needs no approval.`
  const { entry, describe } = first.rule
  const more =
    others.length === 0
      ? ''
      : others.length === 1
        ? ' One more policy says so.'
        : ` ${others.length} more policies say so.`
  const name = `${entry.policy}@${entry.version}`
  if (entry.effect === 'restrict' && entry.allow) {
    const value = describeValue(argumentAt(facts.args, entry.allow.field))
    return `${name} allows only ${entry.allow.values.join(', ')} as ${entry.allow.field} (${value}).${more}`
  }
  const says = `${name} ${gate === undefined ? 'grants the call' : VERBS[gate]}`
  if (!describe) return `${says}.${more}`
  const because = describe(first.texts)
  return first.truth === 'unknown'
    ? `${says}, since it cannot be told whether ${because}.${more}`
    : `${says}: ${because}.${more}`
}
