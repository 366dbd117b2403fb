import type { LintRule } from '../../facts/rule.ts'

export const selfApproval: LintRule = {
  name: 'security/self-approval',
  severity: 'warning',
  law: 'Who starts a run is not the one who approves it.',
  fix: 'Name another role, or add `svc/separation_of_duties: true`.',
  source: 'Policies, section 4: `svc/approver_role`, `svc/separation_of_duties`',
  kinds: ['Policy'],
  check(document, report) {
    const runtime = document.at('spec.decision.runtime.*')
    if (runtime.some(({ key, value }) => key === 'svc/separation_of_duties' && value === true)) return
    const own = runtime.find(({ key }) => key === 'svc/approver_role')
    if (typeof own?.value === 'string' && PRINCIPALS.includes(own.value))
      report(own, `"${own.value}" is who starts runs: he would approve his own.`)
  },
}

/** Values of `principal.type`. */
const PRINCIPALS = ['api_key', 'schedule']
