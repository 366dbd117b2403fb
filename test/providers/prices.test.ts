/** The price table of the package, and the prices of the project file. */
import { expect, test } from 'vitest'
import { PRICE_TABLE_VERSION, termsOf } from '../../src/providers/prices/prices.ts'
import table from '../../src/providers/prices/table.json' with { type: 'json' }
import type { ProjectConfig, ProviderType } from '../../src/spec/project/config.ts'
import { createProviders } from '../../src/providers/registry/choose.ts'
import { createRedactor } from '../../src/base/secret.ts'

const NOW = Date.parse('2026-11-23T00:00:00Z')
const terms = (provider: string, type: ProviderType, name: string, address?: string, own?: ProjectConfig['prices']) =>
  termsOf({ provider, name }, type, address, own, NOW)

test('the table names its source and keeps its licence', () => {
  expect(table.source).toContain('genai-prices')
  expect(table.license).toMatch(/^The MIT License \(MIT\)\n\nCopyright \(c\) Pydantic Services Inc\./)
  expect(PRICE_TABLE_VERSION).toMatch(/^\d{4}-\d{2}-\d{2}$/)
})

test('every rate of the table is a decimal text, and every name stands once for its vendor', () => {
  for (const { models } of Object.values(table.vendors)) {
    const names = models.flatMap((model) => model.names)
    expect(new Set(names).size).toBe(names.length)
    const rates = (models as { prices: Record<string, unknown>[] }[])
      .flatMap(({ prices }) => prices.flatMap((price) => Object.entries(price)))
      .filter(([name]) => name !== 'from' && name !== 'tiers')
      .map(([, rate]) => rate)
    expect(rates.filter((rate) => typeof rate !== 'string' || !/^\d+(\.\d{1,9})?$/.test(rate))).toEqual([])
  }
})

test('a model is found by its name and by the name of a dated release', () => {
  const sonnet = {
    price: {
      currency: 'USD',
      version: '2026-09-23',
      input: '3',
      cached_input: '0.3',
      cache_write: '3.75',
      output: '15',
    },
    contextWindow: 200_000,
  }
  expect(terms('anthropic', 'anthropic', 'claude-sonnet-4-0')).toEqual(sonnet)
  expect(terms('anthropic', 'anthropic', 'claude-sonnet-4-20250514')).toEqual(sonnet)
  expect(terms('bedrock', 'bedrock', 'global.anthropic.claude-sonnet-4-5-20250929-v1:0').price).toMatchObject({
    input: '3',
  })
  expect(terms('bedrock', 'bedrock', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0').price).toMatchObject({
    input: '3.3',
  })
})

test('a model that is not in the table has no price: a name that only begins alike is another model', () => {
  expect(terms('openai', 'openai', 'gpt-5-ultra')).toEqual({ price: 'unknown' })
  expect(terms('anthropic', 'anthropic', 'claude-sonnet-4-5-fast')).toEqual({ price: 'unknown' })
  // A deployment of Azure has the name that its owner gave it.
  expect(terms('azure', 'azure-openai', 'gpt-5')).toEqual({ price: 'unknown' })
})

test('a compatible server is known by its host, and a local one is not', () => {
  expect(
    terms('groq', 'openai-compatible', 'llama-3.3-70b-versatile', 'https://api.groq.com/openai/v1').price,
  ).toMatchObject({
    currency: 'USD',
  })
  expect(terms('local', 'openai-compatible', 'llama-3.3-70b-versatile', 'http://127.0.0.1:11434/v1')).toEqual({
    price: 'unknown',
  })
  expect(terms('odd', 'openai-compatible', 'm', 'no url')).toEqual({ price: 'unknown' })
})

test('prices of the project file win, by model before `*`, with a version of their own', () => {
  const own = {
    vendor_b: { 'gpt-5': { input: '1', output: '2', currency: 'EUR', context_window: 1000 } },
    house: { '*': { input: '0.5', output: '0.5' } },
  }
  const { price, contextWindow } = terms('openai', 'openai', 'gpt-5', undefined, own)
  expect(price).toEqual({
    input: '1',
    output: '2',
    currency: 'EUR',
    version: expect.stringMatching(/^svc\.config\.yaml [0-9a-f]{12}$/),
  })
  expect(contextWindow).toBe(1000)
  expect(terms('house', 'openai-compatible', 'any', 'http://127.0.0.1:1/v1', own).price).toMatchObject({
    input: '0.5',
    currency: 'USD',
  })
  expect(terms('openai', 'openai', 'toString', undefined, own)).toEqual({ price: 'unknown' })
})

test('nobody bills an offline model, and none is billed offline', () => {
  expect(terms('scripted', 'scripted', 'm')).toEqual({ price: 'free' })
  const offline = createProviders({ env: {}, redactor: createRedactor(), offline: true })
  expect(offline.terms({ provider: 'openai', name: 'gpt-5' }).price).toBe('free')
})
