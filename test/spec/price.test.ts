/** Prices, costs and sums of money are exact decimals. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatDecimal, readDecimal, toScaled } from '../../src/base/json/decimal.ts'
import {
  addCost,
  costOf,
  describeCost,
  joinCosts,
  mostCostOf,
  NO_COST,
  readMoney,
  type ModelPrice,
} from '../../src/spec/price.ts'

const price: ModelPrice = {
  currency: 'USD',
  version: '2026-09-23',
  input: '3',
  cached_input: '0.3',
  cache_write: '3.75',
  output: '15',
  tiers: [{ above: 200_000, input: '6', cached_input: '0.6', cache_write: '7.5', output: '22.5' }],
}

describe('costOf', () => {
  test('each token is billed once, at the rate of its part', () => {
    const usage = {
      input_tokens: 10_000,
      cached_input_tokens: 7000,
      cache_write_tokens: 2000,
      output_tokens: 500,
      reasoning_tokens: 100,
    }
    expect(costOf(price, usage)).toEqual({
      amount: '0.0201',
      currency: 'USD',
      price_version: '2026-09-23',
      parts: { input: '0.003', cached_input: '0.0021', cache_write: '0.0075', output: '0.006', reasoning: '0.0015' },
    })
  })

  test('a part without a rate of its own costs as much as its whole, and one without tokens is absent', () => {
    const { cached_input: _, cache_write: __, tiers: ___, ...plain } = price
    const usage = { input_tokens: 1000, cached_input_tokens: 400, output_tokens: 0 }
    expect(costOf(plain, usage)).toMatchObject({ amount: '0.003', parts: { input: '0.0018', cached_input: '0.0012' } })
  })

  test('a prompt above the bound of a tier is billed at its rates as a whole', () => {
    expect(costOf(price, { input_tokens: 200_000, output_tokens: 1 }).amount).toBe('0.600015')
    expect(costOf(price, { input_tokens: 200_001, output_tokens: 1 }).amount).toBe('1.2000285')
  })

  test('a hundred thousand cents of a cent make exactly what one sum makes', () => {
    const one = costOf(
      { currency: 'USD', version: 'v', input: '0.1', output: '0.2' },
      { input_tokens: 1, output_tokens: 1 },
    )
    const sum = Array.from({ length: 1000 }).reduce<typeof NO_COST>((sum) => addCost(sum, one), NO_COST)
    expect(sum).toEqual({ amounts: { USD: '0.0003' }, unpriced: 0 })
  })

  test('no completion costs more than its reservation', () => {
    const tokens = fc.nat({ max: 1_000_000 })
    fc.assert(
      fc.property(tokens, tokens, tokens, (input, cached, output) => {
        const usage = { input_tokens: input, cached_input_tokens: Math.min(cached, input), output_tokens: output }
        expect(toScaled(costOf(price, usage).amount)).toBeLessThanOrEqual(mostCostOf(price, input, output))
      }),
      { numRuns: 200 },
    )
  })
})

test('a decimal is read and written without change, and other texts are none', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n - 1n }), (value) => {
      expect(readDecimal(formatDecimal(value))).toBe(value)
    }),
    { numRuns: 200 },
  )
  for (const text of ['', '.5', '5.', '-1', '1e3', '01', '1,5', ' 1', '1'.repeat(16), `0.${'1'.repeat(16)}`])
    expect(readDecimal(text)).toBeUndefined()
})

test('money is an amount above zero and a currency', () => {
  expect(readMoney('5.00 EUR')).toEqual({ amount: '5.00', currency: 'EUR' })
  for (const text of ['0 EUR', '0.00 EUR', '5', 'EUR 5', '5 eur', '5  EUR', '-5 EUR', '5.0.0 EUR'])
    expect(readMoney(text)).toBeUndefined()
})

test('sums keep currencies apart, and an unknown price is never zero', () => {
  const sum = joinCosts([
    addCost(NO_COST, { amount: '1.20', currency: 'USD' }),
    addCost(addCost(NO_COST, { amount: '3', currency: 'EUR' }), undefined),
  ])
  expect(sum).toEqual({ amounts: { USD: '1.2', EUR: '3' }, unpriced: 1 })
  expect(describeCost(sum)).toBe('USD 1.2 + EUR 3 and an unknown cost')
  expect(describeCost(addCost(NO_COST, undefined))).toBe('cost unknown')
  expect(describeCost(NO_COST)).toBeUndefined()
})
