import { readMoney } from '../../../spec/price.ts'
import { MAX_COST, MAX_COST_FORM } from '../../facts/cost-cap.ts'
import type { LintRule } from '../../facts/rule.ts'

export const limitsCostCap: LintRule = {
  severity: 'error',
  essential: true,
  law: '`svc/max-cost-per-run` is a decimal amount above 0 and a currency.',
  fix: 'Write an amount and a currency, such as "5.00 EUR".',
  reason: 'A cap that cannot be read would cap nothing.',
  kinds: ['Agent'],
  check(document, report) {
    for (const annotation of document.allTexts('metadata.annotations.*'))
      if (annotation.key === MAX_COST && !readMoney(annotation.value)) report(annotation, MAX_COST_FORM)
  },
}
