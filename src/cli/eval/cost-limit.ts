/** A bound of what models may cost: nothing is begun once it is reached, or can no longer be kept. */
import { toScaled } from '../../base/json/decimal.ts'
import { describeMoney, joinCosts, NO_COST, readMoney, type CostSum } from '../../spec/price.ts'
import { usageFailure } from '../../base/usage-failure.ts'

export interface CostLimit {
  add(cost: CostSum): void
  /** Why nothing more may be begun. */
  stop(): string | undefined
  spent(): CostSum
}

/**
 * @param written such as `2.00 USD`; no bound where it is absent
 * @param option where it was written
 * @param what costs, as in `the judge`
 * @throws Failure `usage` for a bound that is no amount
 */
export function createCostLimit(written: string | undefined, option: string, what: string): CostLimit {
  const max = written === undefined ? undefined : readMoney(written)
  if (written !== undefined && !max)
    throw usageFailure(`${option} takes an amount and a currency, such as 2.00 USD, not "${written}".`)
  let cost = NO_COST
  return {
    add(more) {
      cost = joinCosts([cost, more])
    },
    stop() {
      if (!max) return undefined
      if (cost.unpriced > 0 || Object.keys(cost.amounts).some((currency) => currency !== max.currency))
        return `the cost of ${what} in ${max.currency} is not known, so ${option} cannot be kept`
      const spent = cost.amounts[max.currency] ?? '0'
      return toScaled(spent) >= toScaled(max.amount) ? `${what} has cost ${describeMoney(max)}` : undefined
    },
    spent: () => cost,
  }
}
