import { gatedBindings, scopeOf } from '../../facts/policies/attachments.ts'
import { declaredClass, effectiveClass } from '../../facts/agents/bindings.ts'
import { proposeScalarFix } from '../../text/diagnostic.ts'
import { decisionOf } from '../../facts/policies/decision.ts'
import type { LintRule } from '../../facts/rule.ts'

export const approvalModifyAccept: LintRule = {
  severity: 'warning',
  law: 'Arguments that an approver modified are revalidated before a write.',
  fix: 'Write `on_modify: revalidate`.',
  source: 'Authoring format, "decision": `on_modify`',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    if (decisionOf(document)['on_modify'] !== 'accept') return
    const modify = document.placeOf('/spec/decision/on_modify')
    const scope = scopeOf(document)
    const classes = [
      ...(scope === undefined ? [] : workspace.find(document, 'Tool', scope).map(declaredClass)),
      ...gatedBindings(workspace, document).map((use) => effectiveClass(workspace, use)),
    ]
    if (classes.some((each) => each !== undefined && each !== 'read_only'))
      report(modify, 'Arguments that an approver edits would not be checked again.', {
        fix: proposeScalarFix(modify, 'revalidate'),
      })
  },
}
