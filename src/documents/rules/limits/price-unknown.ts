import { isJsonObject } from '../../../base/json/json.ts'
import { fromJson } from '../../../base/json/typed-json.ts'
import { PRICE_TABLE_VERSION, termsOf } from '../../../providers/prices/prices.ts'
import { mappingOf, providerTypeOf } from '../../../providers/registry/provider-type.ts'
import type { ModelSpec } from '../../../spec/document.ts'
import { describeUnpriced, isPricedIn, readMoney } from '../../../spec/price.ts'
import { MAX_COST } from '../../facts/cost-cap.ts'
import { fallbackOf } from '../../facts/agents/model-fallback.ts'
import type { LintRule } from '../../facts/rule.ts'

export const limitsPriceUnknown: LintRule = {
  severity: 'warning',
  law: 'The prices of all models of an agent with `svc/max-cost-per-run` are known, in the currency of the cap.',
  fix: 'Add the price under `prices:` in svc.config.yaml.',
  reason: 'A cap on money cannot be kept without a price: svc starts no such run.',
  kinds: ['Agent'],
  check(document, report, project) {
    const [model] = document.at('spec.model')
    if (!model || !isJsonObject(model.value)) return
    const first = fromJson<ModelSpec>(model.value)
    for (const annotation of document.texts('metadata.annotations.*')) {
      const cap = annotation.key === MAX_COST ? readMoney(annotation.value) : undefined
      if (!cap) continue
      for (const each of [first, ...fallbackOf(document, project.workspace, first)]) {
        const { providers, prices } = project
        const address = each.base_url ?? mappingOf(providers, each.provider)?.base_url
        const type = providerTypeOf(providers, each.provider)
        // The day of the price table, so that the findings do not change from one day to the next.
        const { price } = termsOf(each, type, address, prices, Date.parse(PRICE_TABLE_VERSION))
        if (!isPricedIn(price, cap.currency)) report(annotation, describeUnpriced({ model: each, cap }))
      }
    }
  },
}
