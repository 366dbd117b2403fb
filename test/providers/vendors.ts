/** Every vendor through its official SDK, against a server on loopback that speaks the vendor's wire format. */
import { createTransport } from '../../src/base/net/transport.ts'
import { createRedactor, Secret } from '../../src/base/secret.ts'
import { createAnthropicProvider } from '../../src/providers/anthropic/anthropic.ts'
import { createBedrockProvider } from '../../src/providers/bedrock/bedrock.ts'
import { createGeminiProvider } from '../../src/providers/gemini/gemini.ts'
import { createOpenaiProvider } from '../../src/providers/openai/openai.ts'
import type { ModelProvider } from '../../src/providers/provider.ts'
import { startFakeAnthropic } from '../fakes/anthropic.ts'
import { startFakeBedrock } from '../fakes/bedrock.ts'
import { startFakeGemini } from '../fakes/gemini.ts'
import type { FakeModel, FakeScript } from '../fakes/model-server.ts'
import { startFakeOpenai } from '../fakes/openai.ts'
import { clockAt } from './request.ts'

export const VENDOR_KEY = 'k-test-1234567890'

/** What the providers share, with the server's address. */
const partsAt = (baseUrl: string) => ({
  key: new Secret(VENDOR_KEY),
  baseUrl,
  fetch: createTransport({ keepAlive: true, plainBodies: true }),
  redactor: createRedactor(),
  clock: clockAt(0),
  remedies: { key: 'Check the key.', model: 'Check the model.', address: 'Check the address.' },
})

export interface VendorUnderTest {
  /** The type of the provider in the project file. */
  readonly type: string
  readonly model: string
  readonly start: (script: FakeScript) => Promise<FakeModel>
  readonly open: (url: string) => ModelProvider
}

export const vendors: readonly VendorUnderTest[] = [
  {
    type: 'openai',
    model: 'gpt-5',
    start: startFakeOpenai,
    open: (url) => createOpenaiProvider({ ...partsAt(`${url}/v1`), vendor: 'openai' }),
  },
  {
    type: 'azure-openai',
    model: 'my-deployment',
    start: startFakeOpenai,
    open: (url) => createOpenaiProvider({ ...partsAt(url), vendor: 'azure' }),
  },
  {
    type: 'openai-compatible',
    model: 'llama',
    start: startFakeOpenai,
    open: (url) => createOpenaiProvider({ ...partsAt(`${url}/v1`), vendor: 'compatible' }),
  },
  {
    type: 'anthropic',
    model: 'claude-sonnet-5',
    start: startFakeAnthropic,
    open: (url) => createAnthropicProvider(partsAt(url)),
  },
  { type: 'gemini', model: 'gemini-3-pro', start: startFakeGemini, open: (url) => createGeminiProvider(partsAt(url)) },
  {
    type: 'bedrock',
    model: 'eu.anthropic.claude-sonnet-5',
    start: startFakeBedrock,
    open: (url) => createBedrockProvider({ ...partsAt(url), region: 'eu-central-1' }),
  },
]
