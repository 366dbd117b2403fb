/** Every provider reads the forms of the table, and names what it cannot read. */
import { afterEach, expect, test } from 'vitest'
import { createRedactor } from '../../src/base/secret.ts'
import { ProviderError, ProviderFormError } from '../../src/providers/provider.ts'
import { createProviders } from '../../src/providers/registry/choose.ts'
import type { ProviderType } from '../../src/spec/project/config.ts'
import { startFakeModel, type FakeModel } from '../fakes/model-server.ts'
import { answerForms, type AnswerForm, type Wire } from './forms.ts'
import { complete, requestWith } from './request.ts'

const TYPES: Readonly<Record<Wire, ProviderType>> = {
  chat: 'openai-compatible',
  responses: 'openai',
  anthropic: 'anthropic',
  gemini: 'gemini',
}

let fake: FakeModel | undefined
afterEach(() => fake?.close())

const frameOf = (frame: object | string): string =>
  typeof frame === 'string' ? frame : `data: ${JSON.stringify(frame)}\n\n`

async function ask({ wire, sent }: AnswerForm) {
  const answer = Array.isArray(sent)
    ? { raw: sent.map(frameOf).join(''), headers: { 'content-type': 'text/event-stream' } }
    : { raw: JSON.stringify(sent), headers: { 'content-type': 'application/json' } }
  fake = await startFakeModel([answer], () => {})
  const type = TYPES[wire]
  const providers = createProviders({
    config: { house: { type, base_url: fake.url, key: { fromEnv: 'HOUSE_KEY' } } },
    env: { HOUSE_KEY: 'k-test-1234567890' },
    redactor: createRedactor(),
  })
  const model = { provider: 'house', name: 'm' }
  const tools = [{ name: 'find', description: '', schema: { type: 'object' } }]
  // Tools count towards an estimate, so only forms with calls have one.
  const hasCalls = JSON.stringify(sent).includes('find')
  const request = requestWith({ model, ...(hasCalls && { tools }) })
  const provider = providers.choose({ id: 'acme.desk', secrets: {} }, model)
  return complete(provider, request).then(
    ({ texts, completion }) => ({ texts, completion, error: undefined }),
    (error: unknown) => ({ texts: [], completion: undefined, error }),
  )
}

test.each(answerForms.filter(({ problem, isRetried }) => !problem && !isRetried))('$wire reads $name', async (form) => {
  const { texts, completion, error } = await ask(form)
  expect(error).toBeUndefined()
  const { text = 'hello', finishReason = 'stop', calls = [], usage } = form.read ?? {}
  expect({
    text: completion!.text,
    finishReason: completion!.finishReason,
    calls: completion!.calls.map((call) => [call.name, call.arguments]),
    usage: usage && completion!.usage,
  }).toEqual({ text, finishReason, calls, usage })
  expect(new Set(completion!.calls.map(({ id }) => id)).size).toBe(calls.length)
  // What is streamed is the answer, in well-formed pieces; some servers stream nothing.
  expect(['', text]).toContain(texts.join(''))
  expect(texts.every((each) => each.isWellFormed())).toBe(true)
})

test.each(answerForms.filter(({ problem }) => problem))('$wire cannot read $name', async (form) => {
  const { error } = await ask(form)
  const [place, says] = form.problem!
  expect(error).toBeInstanceOf(ProviderFormError)
  const { message, retryable, outage } = error as ProviderFormError
  const host = new URL(fake!.url).host
  expect({ message, retryable, outage, place: (error as ProviderFormError).place }).toEqual({
    message: `The model provider house (${host}) answered in a form that its API does not have: ${place} ${says}`,
    retryable: false,
    outage: undefined,
    place,
  })
})

test.each(answerForms.filter(({ isRetried }) => isRetried))('$wire asks again after $name', async (form) => {
  const { error } = await ask(form)
  expect(error).toBeInstanceOf(ProviderError)
  expect(error).not.toBeInstanceOf(ProviderFormError)
  expect((error as ProviderError).retryable).toBe(true)
})

test.each(answerForms.filter(({ isOutage }) => isOutage))('$wire is not reached where there is $name', async (form) => {
  const { error } = await ask(form)
  expect((error as ProviderError).outage).toBe('provider_unreachable')
})
