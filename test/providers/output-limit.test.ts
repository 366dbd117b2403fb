import { expect, test } from 'vitest'
import { maxOutputTokens } from '../../src/providers/output-limit.ts'

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
  const model = { provider, name: 'm', parameters, ...(effort && { reasoning: { effort } }) }
  expect(maxOutputTokens(model, provider)).toBe(most)
})

test.each(['max_tokens', 'max_completion_tokens'])(
  'a bound among the vendor options, %s, is the one that holds',
  (name) => {
    const model = { provider: 'openai', name: 'm', parameters: { max_output_tokens: 100 } }
    expect(maxOutputTokens({ ...model, provider_options: { [name]: 64_000 } }, 'openai')).toBe(64_000)
  },
)
