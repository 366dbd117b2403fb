import { removalEdits } from '../../edit/removal.ts'
import { decisionOf } from '../../facts/policies/decision.ts'
import type { LintRule } from '../../facts/rule.ts'

export const approvalFieldsIgnored: LintRule = {
  severity: 'warning',
  law: 'Fields of an approval are set only on policies that require one.',
  fix: 'Remove it, or decide `require_approval`.',
  source: 'Authoring format, "decision": `approvals_required` when type is `require_approval`',
  kinds: ['Policy'],
  check(document, report) {
    const { type } = decisionOf(document)
    if (type !== 'allow' && type !== 'deny' && type !== 'block') return
    for (const name of APPROVAL)
      for (const found of document.at(`spec.decision.${name}`))
        report(
          { ...found, range: found.keyRange },
          `A policy that decides ${type} never asks, so \`${name}\` is not used.`,
          {
            fix: { description: 'Remove it.', edits: removalEdits(document, found.pointer) },
          },
        )
  },
}

const APPROVAL = ['approvals_required', 'timeout', 'on_reject', 'on_modify', 'comprehension_required']
