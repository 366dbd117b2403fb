import { expect, test } from 'vitest'
import { mostOutput } from '../../src/providers/bound.ts'

test.each([
  ['nothing is said', 'anthropic', undefined, undefined, 4096],
  ['the author bounds it', 'anthropic', 100, undefined, 100],
  ['thinking fits into the bound', 'anthropic', 20_000, 'high', 20_000],
  ['thinking is more than the bound', 'anthropic', 100, 'high', 16_484],
  ['thinking is all that is said', 'anthropic', undefined, 'medium', 8192],
  ['thinking counts towards a bound that holds', 'openai', 100, 'high', 100],
  ['thinking has no bound', 'openai', undefined, 'high', 20_480],
] as const)('an answer, where %s (%s), has at most so many tokens', (_, provider, bound, effort, most) => {
  const parameters = bound === undefined ? {} : { max_output_tokens: bound }
  expect(mostOutput({ provider, name: 'm', parameters, ...(effort && { reasoning: { effort } }) })).toBe(most)
})
