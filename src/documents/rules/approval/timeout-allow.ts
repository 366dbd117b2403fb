import { gatedBindings, scopeOf } from '../../facts/policies/attachments.ts'
import { declaredClass, effectiveClass } from '../../facts/agents/bindings.ts'
import { isAllowedOnTimeout } from '../../facts/policies/decision.ts'
import type { LintRule } from '../../facts/rule.ts'

export const approvalTimeoutAllow: LintRule = {
  severity: 'warning',
  law: 'The timeout of an approval does not allow a write.',
  fix: 'Write `default: deny`.',
  source: 'Authoring format, "decision": `timeout.default` is the action when no decision arrives in time',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    if (!isAllowedOnTimeout(document)) return
    const timeout = document.placeOf('/spec/decision/timeout/default')
    const scope = scopeOf(document)
    const scoped = scope === undefined ? [] : workspace.find(document, 'Tool', scope)
    const calls = [
      ...scoped.map((tool) => ({ id: tool.identity.id, class: declaredClass(tool) })),
      ...gatedBindings(workspace, document).map((use) => ({ id: use.ref?.id, class: effectiveClass(workspace, use) })),
    ]
    // `approval/timeout-allow-irreversible` reports irreversible actions as an error.
    if (calls.some((each) => each.class === 'irreversible_action')) return
    const write = calls.find((each) => each.class !== undefined && each.class !== 'read_only')
    if (write !== undefined) report(timeout, `Silence would approve ${write.id ?? 'a write'}, which changes something.`)
  },
}
