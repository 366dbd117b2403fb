import { expect, test } from 'vitest'
import { withModelBreaker } from '../../src/providers/breaker.ts'
import { ProviderError, type ModelCompletion, type ModelProviders } from '../../src/providers/provider.ts'
import { complete, requestWith } from './request.ts'

const AGENT = { id: 'acme.a', secrets: {} }
const hello: ModelCompletion = {
  text: 'Hello.',
  finishReason: 'stop',
  calls: [],
  usage: { inputTokens: 1, outputTokens: 1 },
}
const overloaded = new ProviderError('Overloaded.', { status: 529, retryable: true })
const wrong = new ProviderError('No such model.', { status: 404, retryable: false })

/** Models of which each completion is the next answer; two failures, and 30 s. */
function modelsWith(answers: (ModelCompletion | Error)[]) {
  let now = 0
  const providers: ModelProviders = {
    choose: () => ({
      async *complete() {
        const next = answers.shift()!
        if (next instanceof Error) throw next
        yield { type: 'end', completion: next }
      },
    }),
    maxOutputTokens: () => 100,
    terms: () => ({ price: 'free' }),
  }
  const clock = { now: () => 0, monotonic: () => now }
  const rested = withModelBreaker(providers, { failures: 2, pauseMs: 30_000 }, clock)
  return {
    ask: async (provider = 'openai', base_url?: string) => {
      const request = requestWith({ model: { provider, ...(base_url !== undefined && { base_url }) } })
      return complete(rested.choose(AGENT, request.model), request).then(
        ({ completion }) => completion,
        (error: unknown) => error,
      )
    },
    wind: (ms: number) => void (now += ms),
  }
}

test('a provider that failed twice in a row is left alone, and says for how long', async () => {
  const { ask, wind } = modelsWith([overloaded, overloaded, hello, hello, hello])
  expect([await ask(), await ask()]).toEqual([overloaded, overloaded])
  wind(10_000)
  expect(await ask()).toMatchObject({
    message: 'openai has failed 2 times in a row and is left alone for 20 s.',
    retryable: true,
    retryAfterMs: 20_000,
  })
  expect(await ask('anthropic')).toEqual(hello)
  wind(20_000)
  expect([await ask(), await ask()]).toEqual([hello, hello])
})

test('servers at two addresses are left alone each by itself', async () => {
  const { ask } = modelsWith([overloaded, overloaded, hello])
  const one = () => ask('openai-compatible', 'https://one.example/v1')
  await one()
  await one()
  expect(await one()).toMatchObject({
    message: 'openai-compatible has failed 2 times in a row and is left alone for 30 s.',
  })
  expect(await ask('openai-compatible', 'https://two.example/v1')).toEqual(hello)
})

test('a request that is wrong says nothing of its provider', async () => {
  const { ask } = modelsWith([overloaded, wrong, wrong, hello])
  for (let times = 0; times < 3; times++) await ask()
  expect(await ask()).toEqual(hello)
})
