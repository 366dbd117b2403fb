/** Explains a decision: each policy's tree with the values of the call, and what would have changed the outcome. */
import type { JsonValue } from '../../base/json/json.ts'
import type { ExplainedNode, ExplainedPolicy } from '../../spec/explanation.ts'
import type { PolicyEntry } from '../../spec/policy-set.ts'
import type { Condition, ConditionLeaf } from '../condition/condition.ts'
import { describeVerdict } from '../decide.ts'
import { guardEffect } from '../effect-guard.ts'
import type { PolicyDecision, CallFacts, PolicySets } from '../condition/decision.ts'
import { describeLeaf, describeMoment, describeValue } from '../condition/describe.ts'
import { evaluatePolicies, isListed, type EvaluatedPolicy } from '../evaluate-policies.ts'
import { operatorRow } from '../condition/operators.ts'
import { argumentAt } from '../condition/path.ts'
import type { EvaluatedLeaf } from '../condition/evaluate.ts'
import { combineAll, combineAny, negateTruth } from '../condition/truth.ts'
import { findTurningPoints } from './turning-points.ts'

export interface DecisionExplanation {
  readonly decision: PolicyDecision
  readonly policies: readonly ExplainedPolicy[]
  /** Other outcomes, by another value of one field: `allow if args.amount <= 100`. */
  readonly turns: readonly string[]
}

export function explainDecision(sets: PolicySets, wire: string, facts: CallFacts): DecisionExplanation {
  const verdict = evaluatePolicies(sets, wire, facts)
  // A hypothetical call may lack the arguments of its key; then only the known facts of the key count.
  const guard = (made: PolicyDecision): PolicyDecision => (facts.effect ? guardEffect(made, facts) : made)
  const decision = guard(describeVerdict(verdict))
  return {
    decision,
    policies: verdict.policies.map((policy) => explainPolicy(policy, facts)),
    turns: findTurningPoints(
      verdict.policies.map(({ rule }) => rule),
      decision.decision,
      (other) => guard(describeVerdict(evaluatePolicies(sets, wire, other))).decision,
      facts,
    ),
  }
}

function explainPolicy({ rule, truth, seen, outcome }: EvaluatedPolicy, { args }: CallFacts): ExplainedPolicy {
  const { entry, condition } = rule
  return {
    policy: entry.policy,
    version: entry.version,
    effect: entry.effect,
    truth,
    fired: outcome !== 'nothing',
    ...(rule.summary.source !== undefined && { source: rule.summary.source }),
    ...pointerOf(entry),
    ...(entry.allow && { list: describeList(entry.allow, args) }),
    ...(condition && { tree: explainTree(condition, seen.values()) }),
  }
}

function describeList(allow: NonNullable<PolicyEntry['allow']>, args: JsonValue): string {
  const { field, values } = allow
  const value = describeValue(argumentAt(args, field))
  return `${field} ${isListed(allow, args) ? 'in' : 'not in'} ${values.join(', ')} (${value})`
}

function pointerOf({ origin }: PolicyEntry): { readonly pointer?: string } {
  const pointer = origin.find((each) => each.path !== undefined)?.pointer
  return pointer === undefined ? {} : { pointer }
}

/** @param seen the comparisons that follow, from left to right */
function explainTree(condition: Condition, seen: Iterator<EvaluatedLeaf>): ExplainedNode {
  if ('leaf' in condition) return explainLeaf(condition.leaf, seen.next().value as EvaluatedLeaf)
  if ('not' in condition) {
    const child = explainTree(condition.not, seen)
    return { node: 'not', truth: negateTruth(child.truth), children: [child] }
  }
  const [node, members, combine] =
    'all' in condition ? (['all', condition.all, combineAll] as const) : (['any', condition.any, combineAny] as const)
  const children = members.map((member) => explainTree(member, seen))
  return { node, truth: combine(children.map(({ truth }) => truth)), children }
}

function explainLeaf(leaf: ConditionLeaf, { truth, value }: EvaluatedLeaf): ExplainedNode {
  return {
    node: 'leaf',
    truth,
    text: describeLeaf(leaf),
    seen: describeSeen(leaf, value),
    op: leaf.op,
    literal: leaf.value,
    ...(value !== undefined && { value }),
  }
}

/** The comparison with the value in place of the path. */
function describeSeen(leaf: ConditionLeaf, value: JsonValue | undefined): string {
  if (leaf.op === 'exists') return describeValue(value)
  if (leaf.op === 'within') return describeLeaf(leaf).replace(leaf.path.text, describeMoment(value))
  return `${describeValue(value)} ${operatorRow(leaf.op).word} ${describeValue(leaf.value)}`
}
