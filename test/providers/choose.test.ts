import { afterEach, expect, test } from 'vitest'
import { isFailure } from '../../src/base/failure.ts'
import { createOwnListeners } from '../../src/base/net/own-listeners.ts'
import { createRedactor } from '../../src/base/secret.ts'
import { autoProvider } from '../../src/providers/auto.ts'
import { createProviders, type ProviderParts } from '../../src/providers/registry/choose.ts'
import { scriptedProvider } from '../../src/providers/scripted.ts'
import type { SnapshotModel } from '../../src/spec/snapshot.ts'
import { startFakeAnthropic } from '../fakes/anthropic.ts'
import type { FakeModel } from '../fakes/model-server.ts'
import { startFakeOpenai } from '../fakes/openai.ts'
import { complete, requestWith } from './request.ts'

let fake: FakeModel | undefined
afterEach(() => fake?.close())

const agent = {
  id: 'acme.desk',
  secrets: { openai: { fromEnv: 'OPENAI_KEY' }, vendor_a: { fromEnv: 'ANTHROPIC_KEY' }, erp: { fromEnv: 'ERP_TOKEN' } },
}
const choose = (model: Partial<SnapshotModel>, parts: Partial<ProviderParts> = {}) =>
  createProviders({ env: {}, redactor: createRedactor(), ...parts }).choose(agent, {
    provider: 'openai',
    name: 'm',
    ...model,
  })

const failureOf = (action: () => unknown) => {
  try {
    action()
  } catch (error) {
    if (isFailure(error)) return [error.code, error.message]
    throw error
  }
  return undefined
}

test.each<[Partial<SnapshotModel>, Partial<ProviderParts>, unknown]>([
  [
    { provider: 'mystery' },
    {},
    ['provider_not_configured', 'acme.desk uses the model provider "mystery", which this server does not know.'],
  ],
  [
    { provider: 'constructor' },
    { config: {} },
    ['provider_not_configured', 'acme.desk uses the model provider "constructor", which this server does not know.'],
  ],
  [
    { provider: 'replay' },
    {},
    ['provider_not_configured', 'acme.desk uses the model provider "replay", which this server does not know.'],
  ],
  [
    { provider: 'openai-compatible' },
    { env: {} },
    [
      'provider_not_configured',
      'acme.desk uses the model provider "openai-compatible", which this server does not know.',
    ],
  ],
  [
    {},
    {},
    ['secret_not_set', 'The secret "openai" is not set: the environment variable OPENAI_KEY is missing or empty.'],
  ],
  [
    {},
    { env: { OPENAI_KEY: '' } },
    ['secret_not_set', 'The secret "openai" is not set: the environment variable OPENAI_KEY is missing or empty.'],
  ],
  [
    { secret: 'erp' },
    {},
    ['secret_not_set', 'The secret "erp" is not set: the environment variable ERP_TOKEN is missing or empty.'],
  ],
  [
    { secret: 'none' },
    {},
    ['secret_not_set', 'The secret "none" is not set: the environment variable OPENAI_API_KEY is missing or empty.'],
  ],
  [
    { provider: 'anthropic' },
    {},
    ['secret_not_set', 'The secret "vendor_a" is not set: the environment variable ANTHROPIC_KEY is missing or empty.'],
  ],
])('%j with %j is refused before anything is sent', (model, parts, failure) => {
  expect(failureOf(() => choose(model, parts))).toEqual(failure)
})

test.each<[Partial<SnapshotModel>, Partial<ProviderParts>, unknown]>([
  [{ provider: 'scripted' }, {}, scriptedProvider],
  [{ provider: 'scripted' }, { offline: true }, scriptedProvider],
  [{ provider: 'auto' }, {}, autoProvider],
  [{ provider: 'vendor_a' }, { offline: true }, autoProvider],
  [{ provider: 'house' }, { config: { house: { type: 'scripted' } } }, scriptedProvider],
  [{ provider: 'anthropic' }, { config: { vendor_a: { type: 'auto' } } }, autoProvider],
])('%j with %j needs no secret', (model, parts, provider) => {
  expect(choose(model, parts)).toBe(provider)
})

const house = { type: 'openai-compatible' as const, base_url: 'http://127.0.0.1:9/v1', key: { fromEnv: 'HOUSE_KEY' } }

test('the key of the project config is needed where the config names one', () => {
  expect(failureOf(() => choose({ provider: 'house' }, { config: { house } }))).toEqual([
    'secret_not_set',
    'The secret "house" is not set: the environment variable HOUSE_KEY is missing or empty.',
  ])
})

test('the key of the project config goes to the address of the config, and to none that a document gives', async () => {
  fake = await startFakeOpenai([{ say: 'here' }])
  const base_url = `${fake.url}/v1`
  const parts = { config: { house: { ...house, base_url } }, env: { HOUSE_KEY: 'sk-of-the-house' } }
  await complete(choose({ provider: 'house' }, parts), requestWith())
  await complete(choose({ provider: 'house', base_url }, parts), requestWith())
  expect(fake.requests.map(({ headers }) => headers['authorization'])).toEqual(['Bearer sk-of-the-house', undefined])
})

test.each<[Partial<SnapshotModel>, Partial<ProviderParts>, string]>([
  [
    { provider: 'azure-openai', secret: 'openai' },
    { env: { OPENAI_KEY: 'k-12345678' } },
    'Give the provider the base_url of the Azure resource, under `providers:` in svc.config.yaml.',
  ],
  [
    { provider: 'bedrock', secret: 'openai' },
    { env: { OPENAI_KEY: 'k-12345678' } },
    'Give the provider a region under `providers:` in svc.config.yaml, or set AWS_REGION.',
  ],
])('%j without what it needs is refused with the remedy', (model, parts, fix) => {
  expect(() => choose(model, parts)).toThrow(expect.objectContaining({ code: 'provider_not_configured', fix }))
})

test('AWS credentials of the server serve no agent unless the project config says so', () => {
  const env = { AWS_REGION: 'eu-central-1' }
  expect(failureOf(() => choose({ provider: 'bedrock' }, { env }))).toEqual([
    'secret_not_set',
    'The secret "bedrock" is not set: the environment variable AWS_BEARER_TOKEN_BEDROCK is missing or empty.',
  ])
  expect(failureOf(() => choose({ provider: 'bedrock' }, { env, config: { bedrock: { type: 'bedrock' } } }))).toBe(
    undefined,
  )
})

test('a name that the config maps to Anthropic bounds its answers with thinking', () => {
  const config = { house: { type: 'anthropic' as const } }
  const providers = createProviders({ config, env: {}, redactor: createRedactor() })
  const model = { name: 'm', parameters: { max_output_tokens: 100 }, reasoning: { effort: 'high' as const } }
  expect(['house', 'vendor_a', 'openai'].map((provider) => providers.maxOutputTokens({ ...model, provider }))).toEqual([
    16_484, 16_484, 100,
  ])
})

test('every secret of the agent is known to the redactor before anything is sent', () => {
  const redactor = createRedactor()
  choose({}, { env: { OPENAI_KEY: 'sk-secret-1', ERP_TOKEN: 'erp-secret-2' }, redactor })
  expect(redactor.text('sk-secret-1 and erp-secret-2')).toBe('*** and ***')
})

test('one client serves all runs with the same address and key', () => {
  const providers = createProviders({ env: { OPENAI_KEY: 'sk-secret-1' }, redactor: createRedactor() })
  const model = { provider: 'openai', name: 'm' }
  expect(providers.choose(agent, model)).toBe(providers.choose(agent, { ...model, name: 'other' }))
})

test.each([
  ['the environment', { env: (url: string) => ({ OPENAI_BASE_URL: `${url}/v1` }) }, {}],
  [
    'the project config',
    { config: (url: string) => ({ vendor_b: { type: 'openai' as const, base_url: `${url}/v1` } }) },
    {},
  ],
  ['the manifest', {}, (url: string) => ({ provider: 'vendor_b-compatible', base_url: `${url}/v1`, secret: 'openai' })],
])('the address of chat completions may come from %s', async (_, parts, model) => {
  fake = await startFakeOpenai([{ say: 'here' }])
  const { url } = fake
  const provider = choose(typeof model === 'function' ? model(url) : model, {
    env: { OPENAI_KEY: 'sk-secret-1', ...('env' in parts && parts.env(url)) },
    ...('config' in parts && { config: parts.config(url) }),
  })
  expect((await complete(provider, requestWith())).completion.text).toBe('here')
})

test('ANTHROPIC_BASE_URL and the neutral spelling are honoured', async () => {
  fake = await startFakeAnthropic([{ say: 'here' }])
  const provider = choose(
    { provider: 'vendor_a' },
    { env: { ANTHROPIC_KEY: 'sk-secret-1', ANTHROPIC_BASE_URL: fake.url } },
  )
  expect((await complete(provider, requestWith())).completion.text).toBe('here')
})

test.each([
  ['http://10.0.0.1/v1', /http:\/\/10\.0\.0\.1 is not https/],
  ['https://10.0.0.1/v1', /10\.0\.0\.1 is a private address/],
  ['https://169.254.169.254/v1', /169\.254\.169\.254 is a private address/],
  ['https://[::ffff:10.0.0.1]/v1', /is a private address/],
])('a manifest cannot send its model to %s unless the config allows it', async (base_url, message) => {
  const model = { provider: 'openai-compatible', base_url }
  const error: unknown = await complete(choose(model), requestWith()).catch((cause: unknown) => cause)
  expect(error).toMatchObject({ name: 'ProviderError', retryable: false, message: expect.stringMatching(message) })
})

test('a model is not looked for at a listener of this process, whoever names it', async () => {
  fake = await startFakeOpenai([{ say: 'never' }])
  const port = Number(new URL(fake.url).port)
  const ownListeners = createOwnListeners()
  ownListeners.add('127.0.0.1', port)
  const answerOf = async (model: Partial<SnapshotModel>, parts: Partial<ProviderParts>) =>
    complete(choose(model, { ownListeners, ...parts }), requestWith()).then(
      ({ completion }) => completion.text,
      (error: Error) => error.message,
    )
  const base_url = `${fake.url}/v1`
  const refused = `The connection to the model provider failed: 127.0.0.1:${port} is an address of this server; network.allowed_hosts in svc.config.yaml can allow it.`
  expect(await answerOf({ provider: 'openai-compatible', base_url }, {})).toBe(refused)
  expect(await answerOf({ provider: 'house' }, { config: { house: { type: 'openai-compatible', base_url } } })).toBe(
    refused,
  )
  expect(await answerOf({ provider: 'openai-compatible', base_url }, { allowedHosts: [`127.0.0.1:${port}`] })).toBe(
    'never',
  )
})

test.each(['openai-compatible', 'gemini', 'bedrock'] as const)(
  'an address of %s that is none is refused before a run starts',
  (type) => {
    const providers = createProviders({
      config: { house: { type, base_url: 'localhost:8080/v1', region: 'eu-central-1', key: { fromEnv: 'K' } } },
      env: { K: 'k-test-1234567890' },
      redactor: createRedactor(),
    })
    expect(() => providers.choose({ id: 'acme.desk', secrets: {} }, { provider: 'house', name: 'm' })).toThrow(
      expect.objectContaining({
        code: 'provider_not_configured',
        fix: 'The base_url of a provider begins with http:// or https://.',
      }) as Error,
    )
  },
)
