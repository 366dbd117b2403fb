/** What a run says when its model cannot be had: one sentence with what to check, its state, and no key anywhere. */
import { expect, test } from 'vitest'
import type { Conversation, RunStatusBody } from '../../src/spec/api.ts'
import type { ProviderType } from '../../src/spec/project/config.ts'
import { startFakeAnthropic } from '../fakes/anthropic.ts'
import { startFakeBedrock } from '../fakes/bedrock.ts'
import { startFakeGemini } from '../fakes/gemini.ts'
import type { FakeAnswer } from '../fakes/model-server.ts'
import { startFakeOpenai } from '../fakes/openai.ts'
import { closing, running, scripted } from './running.ts'

const KEY = 'k-of-the-operator-1234567890'
const SERVERS = {
  openai: startFakeOpenai,
  'azure-openai': startFakeOpenai,
  anthropic: startFakeAnthropic,
  gemini: startFakeGemini,
  bedrock: startFakeBedrock,
}

/** A run of an agent whose model the project file declares as `house`. */
async function runWith(type: keyof typeof SERVERS & ProviderType, answer: FakeAnswer, extra: object = {}) {
  const fake = await SERVERS[type]([answer])
  closing(() => fake.close())
  const house = await running({
    snapshot: scripted([], [], { model: { provider: 'house', name: 'm' }, ...extra }),
    config: {
      providers: { house: { type, base_url: fake.url, region: 'eu-central-1', key: { fromEnv: 'HOUSE_KEY' } } },
    },
    env: { HOUSE_KEY: KEY },
  })
  const { status, body } = await house.start()
  return { house, fake, status, body, runId: body['runId']! }
}

const CASES: readonly (readonly [string, keyof typeof SERVERS, FakeAnswer, string])[] = [
  [
    'a wrong key',
    'anthropic',
    { status: 401, error: { type: 'authentication_error', message: `invalid x-api-key ${KEY}` } },
    'The model provider answered 401: invalid x-api-key ***. Check the key in HOUSE_KEY.',
  ],
  [
    'a wrong model',
    'gemini',
    { status: 404, error: { type: 'NOT_FOUND', message: 'models/m is not found' } },
    'The model provider answered 404: models/m is not found. Check model.name.',
  ],
  [
    'a wrong deployment',
    'azure-openai',
    { status: 404, error: { code: 'DeploymentNotFound', message: 'The deployment does not exist.' } },
    'The model provider answered 404: The deployment does not exist. Check that model.name is the name of a deployment of this resource.',
  ],
  [
    'a model that the region does not have',
    'bedrock',
    { status: 400, error: { type: 'ValidationException', message: 'The provided model identifier is invalid.' } },
    'The model provider answered 400: The provided model identifier is invalid. Check model.name, and that the account may use it in eu-central-1.',
  ],
]

test.each(CASES)('%s ends the run at once, with one sentence and without the key', async (_, type, answer, error) => {
  const { house, fake, runId } = await runWith(type, answer)
  const { events } = await house.events(runId)
  const run = await house.get<RunStatusBody>(`/v1/runs/${runId}`)
  expect(run).toMatchObject({ status: 'Failed', output: null, error, errorCode: 'model_error' })
  expect(fake.requests).toHaveLength(1)
  const conversation = await house.get<Conversation>(`/v1/runs/${runId}/conversation`)
  expect(JSON.stringify([run, events, conversation])).not.toContain(KEY)
})

test('an account without credit holds the run, which names no host and no key', async () => {
  const { house, runId } = await runWith('anthropic', {
    status: 400,
    error: { type: 'invalid_request_error', message: `Your credit balance is too low for ${KEY}.` },
  })
  await house.until(runId, 'engine.run.paused')
  const run = await house.get<RunStatusBody>(`/v1/runs/${runId}`)
  expect(run).toMatchObject({ status: 'Running', hold: { reason: 'quota_spent' } })
  const conversation = await house.get<Conversation>(`/v1/runs/${runId}/conversation`)
  expect(JSON.stringify([run, conversation])).not.toContain(KEY)
})

test('a limit in money refuses the start while the model has no price', async () => {
  const { status, body, fake } = await runWith(
    'openai',
    { say: 'Hello.' },
    { maxCost: { amount: '5.00', currency: 'USD' } },
  )
  expect([status, body['error']]).toEqual([
    422,
    'svc/max-cost-per-run (USD 5.00) cannot be kept, because no price of house/m in USD is known. Add it under `prices:` in svc.config.yaml.',
  ])
  expect(fake.requests).toEqual([])
})
