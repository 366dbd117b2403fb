import type { Instant } from '../../base/clock.ts'
import type { CostRow } from '../queries.ts'

export const MS_OF_DAY = 86_400_000
export const dayOf = (instant: Instant): number => Math.floor(instant / MS_OF_DAY)

export interface StoredCost {
  day: number
  agent: string
  version: string
  provider: string
  model: string
  currency: string
  completions: number
  unpriced: number
  input_tokens: number
  cached_input_tokens: number
  cache_write_tokens: number
  output_tokens: number
  reasoning_tokens: number
  amount: string
}

export const toCostRow = (row: StoredCost): CostRow => ({
  day: new Date(row.day * MS_OF_DAY).toISOString().slice(0, 10),
  agent: row.agent,
  version: row.version,
  provider: row.provider,
  model: row.model,
  completions: row.completions,
  inputTokens: row.input_tokens,
  cachedInputTokens: row.cached_input_tokens,
  cacheWriteTokens: row.cache_write_tokens,
  outputTokens: row.output_tokens,
  reasoningTokens: row.reasoning_tokens,
  cost: { amounts: row.currency === '' ? {} : { [row.currency]: row.amount }, unpriced: row.unpriced },
})
