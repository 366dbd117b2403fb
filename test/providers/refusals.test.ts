/** What a person reads who gave a wrong key, model, deployment or region: one line with what to check, and no secret. */
import { afterEach, expect, test } from 'vitest'
import { createTransport } from '../../src/base/net/transport.ts'
import { createRedactor, Secret } from '../../src/base/secret.ts'
import { createBedrockProvider } from '../../src/providers/bedrock/bedrock.ts'
import type { ProviderError } from '../../src/providers/provider.ts'
import { createProviders } from '../../src/providers/registry/choose.ts'
import type { ProviderType } from '../../src/spec/project/config.ts'
import { startFakeAnthropic } from '../fakes/anthropic.ts'
import { startFakeBedrock } from '../fakes/bedrock.ts'
import { startFakeGemini } from '../fakes/gemini.ts'
import type { FakeAnswer, FakeModel } from '../fakes/model-server.ts'
import { startFakeOpenai } from '../fakes/openai.ts'
import { clockAt, complete, requestWith } from './request.ts'

const KEY = 'k-test-1234567890'
const SERVERS = {
  openai: startFakeOpenai,
  'azure-openai': startFakeOpenai,
  'openai-compatible': startFakeOpenai,
  anthropic: startFakeAnthropic,
  gemini: startFakeGemini,
  bedrock: startFakeBedrock,
}

let fake: FakeModel | undefined
afterEach(() => fake?.close())

/** The error of a completion through the provider that the project file declares as `house`. */
async function refusalOf(type: keyof typeof SERVERS, base_url: string): Promise<ProviderError> {
  const providers = createProviders({
    config: {
      house: { type: type satisfies ProviderType, base_url, region: 'eu-central-1', key: { fromEnv: 'HOUSE_KEY' } },
    },
    env: { HOUSE_KEY: KEY },
    redactor: createRedactor(),
  })
  const model = { provider: 'house', name: 'm' }
  const provider = providers.choose({ id: 'acme.desk', secrets: {} }, model)
  return (await complete(provider, requestWith({ model })).catch((error: unknown) => error)) as ProviderError
}

const CASES: readonly (readonly [keyof typeof SERVERS, FakeAnswer, string, boolean])[] = [
  [
    'openai',
    { status: 401, error: { code: 'invalid_api_key', message: `Incorrect API key provided: ${KEY}.` } },
    'The model provider answered 401: Incorrect API key provided: ***. Check the key in HOUSE_KEY.',
    false,
  ],
  [
    'openai',
    { status: 404, error: { code: 'model_not_found', message: 'The model `m` does not exist.' } },
    'The model provider answered 404: The model `m` does not exist. Check model.name; a server other than OpenAI is of type openai-compatible.',
    false,
  ],
  [
    'openai',
    { status: 429, error: { code: 'insufficient_quota', message: 'You exceeded your current quota.' } },
    "The model provider answered 429: You exceeded your current quota. The account's quota is used up: raise it at the vendor.",
    true,
  ],
  [
    'azure-openai',
    { status: 401, error: { code: '401', message: 'Access denied due to invalid subscription key.' } },
    'The model provider answered 401: Access denied due to invalid subscription key. Check the key in HOUSE_KEY.',
    false,
  ],
  [
    'openai-compatible',
    { status: 401, error: { message: `no such key ${KEY}` } },
    'The model provider answered 401: no such key ***. Check the key in HOUSE_KEY.',
    false,
  ],
  [
    'bedrock',
    { status: 403, error: { type: 'AccessDeniedException', message: `Bearer ${KEY} is not known` } },
    'The model provider answered 403: Bearer *** is not known. Check the key in HOUSE_KEY.',
    false,
  ],
  [
    'anthropic',
    { status: 401, error: { type: 'authentication_error', message: `invalid x-api-key ${KEY}` } },
    'The model provider answered 401: invalid x-api-key ***. Check the key in HOUSE_KEY.',
    false,
  ],
  [
    'anthropic',
    { status: 404, error: { type: 'not_found_error', message: 'model: m' } },
    'The model provider answered 404: model: m. Check model.name.',
    false,
  ],
  [
    'anthropic',
    { status: 400, error: { type: 'invalid_request_error', message: 'Your credit balance is too low.' } },
    "The model provider answered 400: Your credit balance is too low. The account's quota is used up: raise it at the vendor.",
    false,
  ],
  [
    'azure-openai',
    {
      status: 404,
      error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' },
    },
    'The model provider answered 404: The API deployment for this resource does not exist. Check that model.name is the name of a deployment of this resource.',
    false,
  ],
  [
    'openai-compatible',
    { status: 404, error: { message: 'model "m" not found' } },
    'The model provider answered 404: model "m" not found. Check model.name and base_url.',
    false,
  ],
  [
    'gemini',
    { status: 400, error: { type: 'INVALID_ARGUMENT', message: 'API key not valid. Please pass a valid API key.' } },
    'The model provider answered 400: API key not valid. Please pass a valid API key. Check the key in HOUSE_KEY.',
    false,
  ],
  [
    'gemini',
    { status: 404, error: { type: 'NOT_FOUND', message: 'models/m is not found' } },
    'The model provider answered 404: models/m is not found. Check model.name.',
    false,
  ],
  [
    'bedrock',
    { status: 400, error: { type: 'ValidationException', message: 'The provided model identifier is invalid.' } },
    'The model provider answered 400: The provided model identifier is invalid. Check model.name, and that the account may use it in eu-central-1.',
    false,
  ],
  [
    'bedrock',
    { say: 'Half', error: { type: 'throttlingException', message: 'Too many tokens' } },
    'The model provider broke off: Too many tokens',
    true,
  ],
  [
    'bedrock',
    { say: 'Half', error: { type: 'modelTimeoutException', message: 'An exception that the SDK does not know' } },
    'The model provider broke off: An exception that the SDK does not know',
    true,
  ],
  [
    'bedrock',
    { say: 'Half', error: { code: 'InternalFailure', message: 'An error of the stream' } },
    'The model provider broke off: An error of the stream',
    true,
  ],
]

test.each(CASES)('%s, %j', async (type, answer, message, retryable) => {
  fake = await SERVERS[type]([answer])
  const error = await refusalOf(type, type === 'openai-compatible' ? `${fake.url}/v1` : fake.url)
  expect([error.name, error.message, error.retryable]).toEqual(['ProviderError', message, retryable])
})

const NONSENSE = 'The model provider answered with something other than a completion. '
/** Where the SDK itself cannot read the answer, it tells what it found. */
const UNREADABLE: Readonly<Record<keyof typeof SERVERS, string>> = {
  openai: `${NONSENSE}Check base_url.`,
  'azure-openai': `${NONSENSE}Check base_url.`,
  'openai-compatible': `${NONSENSE}Check base_url.`,
  anthropic: `${NONSENSE}Check base_url.`,
  gemini: `${NONSENSE}Check base_url.`,
  bedrock: `${NONSENSE}Check the region eu-central-1.`,
}

test.each(Object.keys(SERVERS) as (keyof typeof SERVERS)[])('%s, answered by a web page', async (type) => {
  fake = await SERVERS[type]([{ raw: '<html>Welcome</html>' }])
  const error = await refusalOf(type, fake.url)
  expect([error.name, error.message, error.retryable]).toEqual(['ProviderError', UNREADABLE[type], true])
})

test.each(Object.keys(SERVERS) as (keyof typeof SERVERS)[])('%s, answered by a line without an end', async (type) => {
  const line = { raw: `data: ${'x'.repeat(17 * 1024 * 1024)}`, headers: { 'content-type': 'text/event-stream' } }
  fake = await SERVERS[type]([line])
  const error = await refusalOf(type, fake.url)
  const remedy = type === 'bedrock' ? 'Check the region eu-central-1.' : 'Check base_url.'
  expect([error.name, error.message, error.retryable]).toEqual([
    'ProviderError',
    `The model provider sent a line or a text of more than 16 MiB. ${remedy}`,
    false,
  ])
})

test('bedrock, in a region that does not exist', async () => {
  const nowhere = (host: string) => Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' })
  const region = 'moon-north-1'
  const provider = createBedrockProvider({
    key: new Secret(KEY),
    region,
    fetch: createTransport({ keepAlive: false, plainBodies: true, lookup: (host, _, done) => done(nowhere(host), '') }),
    redactor: createRedactor(),
    clock: clockAt(0),
    remedies: { key: '', model: '', address: `Check the region ${region}.` },
  })
  const error = await complete(provider, requestWith({ model: { provider: 'bedrock', name: 'm' } })).catch(
    (failure: unknown) => failure,
  )
  expect(error).toMatchObject({
    name: 'ProviderError',
    message:
      'The connection to the model provider failed: getaddrinfo ENOTFOUND bedrock-runtime.moon-north-1.amazonaws.com. Check the region moon-north-1.',
  })
})
