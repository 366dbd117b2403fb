import type { LintRule } from '../../facts/rule.ts'
import { joinWords } from '../../../base/text/text-parts.ts'

export const policyUntested: LintRule<'coverage'> = {
  severity: 'info',
  strict: 'warning',
  law: 'Policy tests reach every policy and every possible outcome of its comparisons.',
  fix: 'Add calls to a `*.policytest.yaml`: svc policy test --coverage tells which are missing.',
  reason: 'A wrong bound is found by a test, or by a call that should not have been allowed.',
  crossFile: true,
  kinds: ['Policy'],
  needs: ['coverage'],
  check(document, report, { coverage }) {
    if (document.identity === undefined) return
    const { id, version } = document.identity
    const unseen = coverage.get(`${id}@${version}`)
    if (unseen === undefined) {
      report('/metadata/name', `No policy test reaches ${id}.`)
      return
    }
    const [first] = unseen
    if (first === undefined) return
    const more =
      unseen.length === 1
        ? ''
        : `, and ${unseen.length - 1} more ${unseen.length === 2 ? 'comparison is' : 'comparisons are'} not tested either`
    report('/spec/conditions', `In no policy test is \`${first.text}\` ${joinWords(first.missing, 'or')}${more}.`)
  },
}
