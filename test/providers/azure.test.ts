import { expect, test } from 'vitest'
import { createTransport } from '../../src/base/net/transport.ts'
import { createRedactor, Secret } from '../../src/base/secret.ts'
import { createOpenaiProvider } from '../../src/providers/openai/openai.ts'
import { startFakeOpenai } from '../fakes/openai.ts'
import { clockAt, complete, requestWith } from './request.ts'

test.each([
  [undefined, '', '/openai/v1/responses'],
  [undefined, '/openai/v1/', '/openai/v1/responses'],
  ['2025-04-01-preview', '', '/openai/responses?api-version=2025-04-01-preview'],
])('with api_version %s and "%s" after the resource, Azure is asked at %s', async (apiVersion, suffix, path) => {
  const fake = await startFakeOpenai([{ say: 'here' }])
  try {
    const provider = createOpenaiProvider({
      vendor: 'azure',
      key: new Secret('azure-key-1'),
      baseUrl: fake.url + suffix,
      ...(apiVersion !== undefined && { apiVersion }),
      fetch: createTransport({ keepAlive: false, plainBodies: true }),
      redactor: createRedactor(),
      clock: clockAt(0),
    })
    const request = requestWith({ model: { provider: 'azure-openai', name: 'my-deployment' } })
    expect((await complete(provider, request)).completion.text).toBe('here')
    const [{ path: asked, headers, body }] = fake.requests as [(typeof fake.requests)[number]]
    expect([asked, headers['api-key'], headers['authorization'], body.model]).toEqual([
      path,
      'azure-key-1',
      undefined,
      'my-deployment',
    ])
  } finally {
    await fake.close()
  }
})
