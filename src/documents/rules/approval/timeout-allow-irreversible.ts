import { gatedBindings, scopeOf } from '../../facts/policies/attachments.ts'
import { declaredClass, effectiveClass } from '../../facts/agents/bindings.ts'
import { decisionOf, isAllowedOnTimeout } from '../../facts/policies/decision.ts'
import type { LintRule } from '../../facts/rule.ts'
import { mappingIn } from '../../text/document.ts'
import { isDecisionProof, PROOF_NAMES } from '../../../spec/people/decision-proof.ts'

export const approvalTimeoutAllowIrreversible: LintRule = {
  severity: 'error',
  law: 'The timeout of an approval does not allow an irreversible action, a quorum, or a task with `comprehension_required` or `svc/approval_proof`.',
  fix: 'Write `default: deny`.',
  reason: 'Nobody would have approved it.',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    if (!isAllowedOnTimeout(document)) return
    const timeout = document.placeOf('/spec/decision/timeout/default')
    const fix = 'Write deny or escalate.'
    const { approvals_required: count, comprehension_required: comprehension } = decisionOf(document)
    if (typeof count === 'number' && count > 1)
      report(timeout, `Timing out would count as ${count} approvals.`, { fix })
    if (comprehension === true) report(timeout, 'Timing out would count as the acknowledgement.', { fix })
    const proof = mappingIn(document, 'spec', 'decision', 'runtime')['svc/approval_proof']
    if (isDecisionProof(proof) && proof !== 'none')
      report(timeout, `Timing out proves nothing, and \`svc/approval_proof\` asks for ${PROOF_NAMES[proof]}.`, { fix })
    const scope = scopeOf(document)
    const scoped = scope === undefined ? [] : workspace.find(document, 'Tool', scope)
    const tools = [
      ...scoped.filter((tool) => declaredClass(tool) === 'irreversible_action').map(({ identity }) => identity.id),
      ...gatedBindings(workspace, document).flatMap((use) =>
        effectiveClass(workspace, use) === 'irreversible_action' ? (use.ref?.id ?? []) : [],
      ),
    ]
    for (const tool of new Set(tools))
      report(timeout, `Timing out would approve ${tool}, which cannot be undone.`, { fix })
  },
}
