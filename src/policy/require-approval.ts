import type { PolicyDecision } from './condition/decision.ts'

/**
 * A decision that needs one approval at least, for a reason that no policy states.
 * @param reason its code, which callers test
 */
export function requireApproval(decision: PolicyDecision, reason: string, what: string): PolicyDecision {
  if (decision.decision === 'deny') return decision
  const reasons = [...decision.reasons, reason]
  if (decision.decision !== 'allow') return { ...decision, reasons }
  return {
    ...decision,
    decision: 'require_approval',
    reasons,
    explanation: `${reason}: ${what}`,
    obligations: {
      approvals_required: 1,
      comprehension_required: false,
      on_reject: 'return_to_agent',
      on_modify: 'revalidate',
    },
  }
}
