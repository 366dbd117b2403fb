/** Merges the obligations of several approvals. Source: docs/design/policies.md#the-decision */
import { joinRoles } from '../spec/approver-role.ts'
import { isProofAtLeast, strongestProof } from '../spec/decision-proof.ts'
import type { SideEffectClass } from '../spec/document.ts'
import type { ApprovalObligations } from '../spec/policy-set.ts'
import type { PolicyDecision } from './condition/decision.ts'

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
export function mergeObligations(
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
