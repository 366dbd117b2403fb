import { attachmentsOf, scopeOf } from '../../facts/policies/attachments.ts'
import { toolsOf, type CallBinding } from '../../facts/agents/bindings.ts'
import type { Document } from '../../text/document.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyScopeMismatch: LintRule = {
  severity: 'error',
  law: "A policy attached to a binding has that binding's tool in its scope.",
  fix: 'Attach it to the binding of that tool, or change its scope.',
  reason: 'A policy on a binding decides about the calls of that binding only, so it would decide about none.',
  crossFile: true,
  check(document, report, { workspace }) {
    for (const { at, binding, policies } of attachmentsOf(workspace, document)) {
      const policy = policies[0]
      const scope = policy && scopeOf(policy)
      if (policy === undefined || scope === undefined) continue
      const id = calledAt(document, binding)
      if (id === undefined || scope === id) continue
      const name = policy.identity?.id ?? at.value
      report(at, `${name} concerns ${scope} alone; attached to ${id} it never applies.`, {
        subject: [name, scope, id],
        related: [{ path: policy.path, range: policy.placeOf('/spec/scope').range, message: 'its scope' }],
      })
    }
  },
}

/** The tool that a binding calls; for an attachment without a binding, the Tool document itself. */
function calledAt(document: Document, binding: CallBinding | undefined): string | undefined {
  if (binding === undefined) return document.kind === 'Tool' ? document.identity?.id : undefined
  return toolsOf(document).find((use) => use === binding)?.ref?.id
}
