/**
 * Decides one call and words the decision: the strictest of all gates that fired, and why. Pure and synchronous; it never
 * throws, and an error denies. Source: docs/design/policies.md#the-decision
 */
import type { SideEffectClass } from '../spec/document.ts'
import type { DecidedPolicy } from '../spec/step.ts'
import type { PolicyDecision, CallFacts, PolicySets } from './condition/decision.ts'
import { describeCondition, describeValue } from './condition/describe.ts'
import { guardEffect } from './effect-guard.ts'
import { evaluatePolicies, type EvaluatedPolicy, type PolicyVerdict } from './evaluate-policies.ts'
import { argumentAt } from './condition/path.ts'
import { joinRoles } from '../spec/people/approver-role.ts'
import { isProofAtLeast, strongestProof } from '../spec/people/decision-proof.ts'
import type { ApprovalObligations } from '../spec/policy-set.ts'

/**
 * @param wire name under which the agent binds what is called; a name that its set does not know is denied
 * @param effectiveClass in place of the tool's own; `irreversible_action` needs one approval unless a grant fires
 */
export const decideByPolicies = (
  sets: PolicySets,
  wire: string,
  facts: CallFacts,
  effectiveClass?: SideEffectClass,
): PolicyDecision => guardEffect(describeVerdict(evaluatePolicies(sets, wire, facts, effectiveClass)), facts)

/** Words a verdict for people and for the record. */
export function describeVerdict(verdict: PolicyVerdict): PolicyDecision {
  if (verdict.fault !== undefined) return faultDecision(verdict.fault)
  try {
    return describeDecision(verdict)
  } catch {
    return faultDecision('evaluation')
  }
}

function describeDecision(verdict: PolicyVerdict): PolicyDecision {
  const { decision, byDefault, effectiveClass, policies } = verdict
  const gate = decision === 'allow' || byDefault ? undefined : decision
  const wins = gate ?? 'grant'
  const winning = policies.filter(({ outcome }) => outcome === wins)
  const authorityRef = winning.find(({ rule }) => rule.entry.authority_ref !== undefined)?.rule.entry.authority_ref
  const explanation = explainWinner(winning, gate, verdict)
  const approvals = policies
    .filter(({ outcome }) => outcome === 'escalate' || outcome === 'require_approval')
    .map(({ rule }) => rule.entry)
  const reasons = approvals.flatMap(({ reason }) => reason ?? [])
  const isAsking = decision === 'require_approval' || decision === 'escalate'
  const asked = byDefault ? [DEFAULT_REASON] : [...new Set(reasons)].sort()
  return {
    decision,
    policies: [...winning, ...policies.filter(({ outcome }) => outcome !== wins)].map(toDecidedPolicy),
    explanation,
    reasons: isAsking ? asked : [],
    ...(gate !== undefined && authorityRef !== undefined && { authorityRef }),
    ...(decision === 'deny' && { message: messageOf(winning, explanation) }),
    ...(isAsking && {
      obligations: mergeObligations(
        approvals.map(({ obligations }) => obligations),
        effectiveClass,
      ),
    }),
  }
}

const DEFAULT_REASON = 'The action cannot be undone and no policy grants it.'

const faultDecision = (what: string): PolicyDecision => ({
  decision: 'deny',
  policies: [],
  explanation: `The policies of this call could not be evaluated (${what}), so it is denied.`,
  message: 'The call is denied because its policies could not be evaluated.',
  reasons: [],
  error: `policy_error:${what}`,
})

function toDecidedPolicy({ rule, truth, seen, isRevoked }: EvaluatedPolicy): DecidedPolicy {
  const { id, version, decision, reason, authority_ref, source } = rule.summary
  return {
    id,
    version,
    decision,
    matched: truth === 'unknown' ? null : truth === 'true',
    reason,
    authority_ref,
    ...(source !== undefined && { source }),
    ...(isRevoked
      ? { condition: `${rule.entry.obligations.standing} was ended by an operator` }
      : rule.condition && { condition: describeCondition(rule.condition, seen) }),
  }
}

function messageOf(winning: readonly EvaluatedPolicy[], explanation: string): string {
  const entries = winning.map(({ rule }) => rule.entry)
  return (
    entries.find(({ message }) => message !== undefined)?.message ??
    entries.find(({ reason }) => reason !== undefined)?.reason ??
    explanation
  )
}

const VERBS = {
  deny: 'denies the call',
  escalate: 'escalates the call to an operator',
  require_approval: 'requires an approval',
} as const

function explainWinner(
  winning: readonly EvaluatedPolicy[],
  gate: keyof typeof VERBS | undefined,
  { byDefault, effectiveClass, facts }: PolicyVerdict,
): string {
  const [first, ...others] = winning
  if (byDefault) return 'An irreversible_action requires an approval, and no policy grants it.'
  if (!first)
    return effectiveClass === undefined
      ? 'No policy stops the call.'
      : `No policy stops the call, and ${effectiveClass} needs no approval.`
  const { entry, condition } = first.rule
  const several = others.length === 1 ? ' One more policy says so.' : ` ${others.length} more policies say so.`
  const more = others.length === 0 ? '' : several
  const name = `${entry.policy}@${entry.version}`
  if (entry.effect === 'restrict' && entry.allow) {
    const value = describeValue(argumentAt(facts.args, entry.allow.field))
    return `${name} allows only ${entry.allow.values.join(', ')} as ${entry.allow.field} (${value}).${more}`
  }
  const says = `${name} ${gate === undefined ? 'grants the call' : VERBS[gate]}`
  if (!condition) return `${says}.${more}`
  const because = describeCondition(condition, first.seen)
  return first.truth === 'unknown'
    ? `${says}, since it cannot be told whether ${because}.${more}`
    : `${says}: ${because}.${more}`
}

type Timeout = NonNullable<ApprovalObligations['timeout']>

/** Each list goes from strict to loose. */
const ON_TIMEOUT = ['deny', 'escalate', 'allow'] as const
const ON_REJECT = ['fail', 'return_to_agent'] as const
const ON_MODIFY = ['reject', 'revalidate', 'accept'] as const
/** Defaults of documents. */
const DEFAULTS = { approvals: 1, onReject: 'return_to_agent', onModify: 'revalidate' } as const

/**
 * The strictest of all: most approvals, the strongest proof, comprehension if any asks, the shortest timeout and the strictest
 * default; bulk approval only if all allow it.
 * @param all obligations of every approval that fired; empty = one approval and nothing else
 */
function mergeObligations(
  all: readonly ApprovalObligations[],
  sideEffectClass: SideEffectClass | undefined,
): NonNullable<PolicyDecision['obligations']> {
  const approvals = Math.max(DEFAULTS.approvals, ...all.map((each) => each.approvals_required ?? DEFAULTS.approvals))
  const comprehension = all.some((each) => each.comprehension_required === true)
  const roles = all.flatMap((each) => each.approver_role ?? [])
  const proof = strongestProof(all.flatMap((each) => each.approval_proof ?? []))
  const timeout = mergeTimeouts(all.flatMap((each) => each.timeout ?? []))
  // A time-out never allows such a call; compile refuses that within one set, but sets are combined only here. Nor does the
  // time-out of one approval answer another that waits without a limit.
  const mustBeAnswered =
    sideEffectClass === 'irreversible_action' ||
    approvals > 1 ||
    comprehension ||
    isProofAtLeast(proof ?? 'none', 'link') ||
    all.some((each) => each.timeout === undefined)
  return {
    approvals_required: approvals,
    comprehension_required: comprehension,
    on_reject: strictest(
      ON_REJECT,
      all.map((each) => each.on_reject ?? DEFAULTS.onReject),
      DEFAULTS.onReject,
    ),
    on_modify: strictest(
      ON_MODIFY,
      all.map((each) => each.on_modify ?? DEFAULTS.onModify),
      DEFAULTS.onModify,
    ),
    ...(timeout && {
      timeout: mustBeAnswered && timeout.default === 'allow' ? { ...timeout, default: 'deny' } : timeout,
    }),
    // An approver needs every role that a policy requires.
    ...(roles.length > 0 && { approver_role: joinRoles(roles) }),
    ...(all.some((each) => each.separation_of_duties === true) && { separation_of_duties: true }),
    ...(proof !== undefined && { approval_proof: proof }),
    ...(all.length > 0 && all.every((each) => each.bulk === true) && { bulk: true }),
  }
}

function mergeTimeouts(timeouts: readonly Timeout[]): Timeout | undefined {
  if (timeouts.length === 0) return undefined
  return {
    after_minutes: Math.min(...timeouts.map((timeout) => timeout.after_minutes)),
    default: strictest(
      ON_TIMEOUT,
      timeouts.map((timeout) => timeout.default),
      'deny',
    ),
  }
}

const strictest = <T>(order: readonly T[], given: readonly T[], fallback: T): T =>
  order.find((each) => given.includes(each)) ?? fallback
