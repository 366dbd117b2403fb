import type { LintRule } from '../../facts/rule.ts'

export const securitySelfApproval: LintRule = {
  severity: 'warning',
  law: 'The person who starts a run cannot approve it.',
  fix: 'Name another role, or add `svc/separation_of_duties: true`.',
  reason: 'Approval protects only when a second person gives it.',
  kinds: ['Policy'],
  check(document, report) {
    const runtime = document.at('spec.decision.runtime.*')
    if (runtime.some(({ key, value }) => key === 'svc/separation_of_duties' && value === true)) return
    const own = runtime.find(({ key }) => key === 'svc/approver_role')
    if (typeof own?.value === 'string' && PRINCIPALS.includes(own.value))
      report(own, `"${own.value}" starts runs, so it would approve its own.`)
  },
}

/** Values of `principal.type`. */
const PRINCIPALS = ['api_key', 'schedule']
