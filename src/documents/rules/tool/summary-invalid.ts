import { CALL_SUMMARY, SUMMARY_NOUN } from '../../../policy/condition/call-summary.ts'
import { checkArgumentLabel } from '../../facts/argument-label.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolSummaryInvalid: LintRule = {
  severity: 'error',
  law: 'The placeholders of `svc/summary` are arguments of the tool.',
  fix: 'Name an argument: `Refund {args.amount} for {args.order}`.',
  reason:
    'Cards and lists show the summary to the people who decide a call; without it they show its name and its first number.',
  crossFile: true,
  kinds: ['Tool'],
  check(document, report, { workspace }) {
    checkArgumentLabel(document, report, { workspace, label: CALL_SUMMARY, noun: SUMMARY_NOUN })
  },
}
