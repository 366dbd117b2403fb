/** Prices of models, costs of completions and sums of money. Source: docs/design/models-and-tools.md#costs */
import { formatDecimal, readDecimal, toScaled, addDecimals, type ScaledDecimal } from '../base/json/decimal.ts'
import type { CompletionUsage } from './step.ts'

/** Rates in decimal text per million tokens. An absent rate of a part is that of its whole: input or output. */
export interface TokenRates {
  readonly input: string
  readonly output: string
  readonly cached_input?: string
  readonly cache_write?: string
  readonly reasoning?: string
}

/** The price of a model from one moment on. */
export interface ModelPrice extends TokenRates {
  readonly currency: string
  /** Version of the table, or of the entry of svc.config.yaml, that the rates are from. */
  readonly version: string
  /** Rates of a whole completion with more input tokens than `above`, ascending. */
  readonly tiers?: readonly (TokenRates & { readonly above: number })[]
}

/** `free`: an offline model. `unknown`: never taken for zero. */
export type PriceOfModel = ModelPrice | 'free' | 'unknown'

/** Price and size limits of a model. */
export interface ModelTerms {
  readonly price: PriceOfModel
  /** Tokens that the model reads and writes in one completion; undefined = unknown. */
  readonly contextWindow?: number
}

/** An exact amount with its currency. */
export interface Money {
  readonly amount: string
  readonly currency: string
}

/**
 * `cost` of a `Reasoning` step, frozen when it was recorded. `amount` is the sum of the parts, each of which counts the tokens
 * that no other part has. A part without tokens is absent.
 */
export type StepCost = {
  readonly amount: string
  readonly currency: string
  readonly price_version: string
  readonly parts: {
    readonly input?: string
    readonly cached_input?: string
    readonly cache_write?: string
    readonly output?: string
    readonly reasoning?: string
  }
}

/** Money that completions cost, by currency, and how many of them have no known price. */
export interface CostSum {
  readonly amounts: Readonly<Record<string, string>>
  readonly unpriced: number
}

export const NO_COST: CostSum = { amounts: {}, unpriced: 0 }

/** The exact cost of a completion. */
export function costOf(price: ModelPrice, usage: CompletionUsage): StepCost {
  const rates = price.tiers?.findLast(({ above }) => usage.input_tokens > above) ?? price
  const cached = usage.cached_input_tokens ?? 0
  const written = usage.cache_write_tokens ?? 0
  const reasoning = usage.reasoning_tokens ?? 0
  // A vendor that reports more parts than its total must not make a negative rest.
  const parts = {
    input: costOfTokens(Math.max(0, usage.input_tokens - cached - written), rates.input),
    cached_input: costOfTokens(cached, rates.cached_input ?? rates.input),
    cache_write: costOfTokens(written, rates.cache_write ?? rates.input),
    output: costOfTokens(Math.max(0, usage.output_tokens - reasoning), rates.output),
    reasoning: costOfTokens(reasoning, rates.reasoning ?? rates.output),
  }
  const shown = Object.entries(parts).filter(([, value]) => value > 0n)
  return {
    amount: formatDecimal(shown.reduce((sum, [, value]) => sum + value, 0n)),
    currency: price.currency,
    price_version: price.version,
    parts: Object.fromEntries(shown.map(([name, value]) => [name, formatDecimal(value)])),
  }
}

/** The most that a completion can cost: each token at the dearest rate that it may have. */
export function mostCostOf(price: ModelPrice, inputTokens: number, outputTokens: number): ScaledDecimal {
  const all = [price, ...(price.tiers ?? [])]
  const input = dearest(all.flatMap((rates) => [rates.input, rates.cached_input, rates.cache_write]))
  const output = dearest(all.flatMap((rates) => [rates.output, rates.reasoning]))
  return costOfTokens(inputTokens, input) + costOfTokens(outputTokens, output)
}

const dearest = (rates: readonly (string | undefined)[]): string =>
  rates.reduce<string>((most, rate) => (rate !== undefined && toScaled(rate) > toScaled(most) ? rate : most), '0')

const costOfTokens = (tokens: number, rate: string): ScaledDecimal =>
  // Exact: a rate has at most 9 of the 15 decimals.
  (BigInt(tokens) * toScaled(rate)) / 1_000_000n

/** Adds the cost of one completion; undefined is one without a known price. */
export const addCost = (sum: CostSum, cost: Money | undefined): CostSum =>
  cost === undefined
    ? { ...sum, unpriced: sum.unpriced + 1 }
    : { ...sum, amounts: addAmount(sum.amounts, cost.currency, cost.amount) }

export function joinCosts(sums: readonly CostSum[]): CostSum {
  let { amounts, unpriced } = NO_COST
  for (const sum of sums) {
    for (const [currency, amount] of Object.entries(sum.amounts)) amounts = addAmount(amounts, currency, amount)
    unpriced += sum.unpriced
  }
  return { amounts, unpriced }
}

/** A sum without the part of it that `part` is. */
export const subtractCost = (sum: CostSum, part: CostSum): CostSum => ({
  amounts: Object.fromEntries(
    Object.entries(sum.amounts).map(([currency, amount]) => [
      currency,
      formatDecimal(toScaled(amount) - toScaled(part.amounts[currency] ?? '0')),
    ]),
  ),
  unpriced: sum.unpriced - part.unpriced,
})

const addAmount = (amounts: CostSum['amounts'], currency: string, amount: string): CostSum['amounts'] => ({
  ...amounts,
  [currency]: addDecimals(amounts[currency] ?? '0', amount),
})

/** Reads `5.00 EUR`; undefined for any other text, and for nothing: a cap of zero stops every run. */
export function readMoney(text: string): Money | undefined {
  const [, amount, currency] = /^(\S+) ([A-Z]{3})$/.exec(text) ?? []
  if (amount === undefined || currency === undefined) return undefined
  return (readDecimal(amount) ?? 0n) > 0n ? { amount, currency } : undefined
}

export const describeMoney = ({ amount, currency }: Money): string => `${currency} ${amount}`

/** True where completions of this price can be held below a cap in this currency. */
export const isPricedIn = (price: PriceOfModel, currency: string): boolean =>
  price === 'free' || (price !== 'unknown' && price.currency === currency)

/** A model whose price is not known in the currency of a cap. */
export interface UnpricedModel {
  readonly model: { readonly provider: string; readonly name: string }
  readonly cap: Money
}

export const describeUnpriced = ({ model: { provider, name }, cap }: UnpricedModel): string =>
  `svc/max-cost-per-run (${describeMoney(cap)}) cannot be kept, because no price of ${provider}/${name} in ${cap.currency} is known. Add it under \`prices:\` in svc.config.yaml.`

/** `USD 0.0031`, `USD 1.20 + EUR 3`; with unpriced completions `, 2 of unknown price`. Undefined where nothing was billed. */
export function describeCost({ amounts, unpriced }: CostSum): string | undefined {
  const known = Object.entries(amounts)
    .map(([currency, amount]) => `${currency} ${amount}`)
    .join(' + ')
  if (unpriced === 0) return known === '' ? undefined : known
  return known === '' ? 'cost unknown' : `${known} and an unknown cost`
}
