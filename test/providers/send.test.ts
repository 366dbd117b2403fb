/** What leaves for OpenAI's interfaces beside the body, and what a refusal says. */
import { afterEach, expect, test, vi } from 'vitest'
import { createRedactor, Secret } from '../../src/base/secret.ts'
import { UnsentError, type FetchFunction, type GuardedRequestInit } from '../../src/base/net/transport.ts'
import type { ModelProvider } from '../../src/providers/provider.ts'
import { createOpenaiProvider } from '../../src/providers/openai/openai.ts'
import type { OpenaiParts } from '../../src/providers/openai/send.ts'
import { clockAt, complete, requestWith } from './request.ts'

afterEach(() => vi.unstubAllEnvs())

const open = (parts: Partial<OpenaiParts> & Pick<OpenaiParts, 'vendor' | 'fetch'>): ModelProvider =>
  createOpenaiProvider({ redactor: createRedactor(), clock: clockAt(0), peer: 'house', ...parts })

/** The address and the headers of a completion; it is refused. */
async function sentBy(parts: Partial<OpenaiParts> & Pick<OpenaiParts, 'vendor'>, request = requestWith()) {
  const sent: { readonly address: unknown; readonly headers: GuardedRequestInit['headers'] }[] = []
  const fetch: FetchFunction = async (address, init) => {
    sent.push({ address, headers: init?.headers })
    return new Response('{}', { status: 401 })
  }
  await complete(open({ ...parts, fetch }), request).catch(() => {})
  return sent
}

const ALWAYS = { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'svc' }

test('OpenAI gets the key, and the organization and project of the environment', async () => {
  vi.stubEnv('OPENAI_ORG_ID', 'org-1')
  vi.stubEnv('OPENAI_PROJECT_ID', 'proj-1')
  const key = new Secret('k-1')
  expect(await sentBy({ vendor: 'openai', key })).toEqual([
    {
      address: 'https://api.openai.com/v1/responses',
      headers: {
        ...ALWAYS,
        authorization: 'Bearer k-1',
        'openai-organization': 'org-1',
        'openai-project': 'proj-1',
      },
    },
  ])
  const baseUrl = 'https://models.house/v1/'
  expect([
    ...(await sentBy({ vendor: 'compatible', key, baseUrl })),
    ...(await sentBy({ vendor: 'compatible', baseUrl: `${baseUrl}chat/completions` })),
  ]).toEqual([
    {
      address: 'https://models.house/v1/chat/completions',
      headers: { ...ALWAYS, authorization: 'Bearer k-1' },
    },
    { address: 'https://models.house/v1/chat/completions', headers: ALWAYS },
  ])
})

test('the dated API of Azure names the deployment of chat completions in the path', async () => {
  const request = requestWith({ model: { name: 'my deployment', parameters: { stop_sequences: ['.'] } } })
  const given = { vendor: 'azure', key: new Secret('k-1'), baseUrl: 'https://r.openai.azure.com/openai' } as const
  const headers = { ...ALWAYS, 'api-key': 'k-1' }
  expect([
    ...(await sentBy({ ...given, apiVersion: '2025-04-01-preview' }, request)),
    ...(await sentBy(given, request)),
  ]).toEqual([
    {
      address:
        'https://r.openai.azure.com/openai/deployments/my%20deployment/chat/completions?api-version=2025-04-01-preview',
      headers,
    },
    { address: 'https://r.openai.azure.com/openai/v1/chat/completions', headers },
  ])
})

/** The message of the error with which a completion ends. */
const errorOf = async (fetch: FetchFunction): Promise<unknown> =>
  complete(open({ vendor: 'compatible', baseUrl: 'https://models.house/v1', fetch }), requestWith()).then(
    () => undefined,
    (error: Error) => error.message,
  )

test.each([
  ['{"error":{"message":"no such model"}}', 'The model provider answered 404: no such model'],
  ['{"error":"no such model"}', 'The model provider answered 404: no such model'],
  ['{"message":"no such model"}', 'The model provider answered 404: no such model'],
  ['{"detail":"Not Found"}', 'The model provider answered 404: 404 {"detail":"Not Found"}'],
  ['["no"]', 'The model provider answered 404: 404 ["no"]'],
  ['<h1>Not\nfound</h1>', 'The model provider answered 404: 404 <h1>Not found</h1>'],
  [' ', 'The model provider answered 404: 404 status code (no body)'],
])('a refusal with the body %s says so', async (body, message) => {
  expect(await errorOf(async () => new Response(body, { status: 404 }))).toBe(message)
})

test('a refusal whose body breaks off is still a refusal', async () => {
  const text = () => Promise.reject(new Error('The connection was closed early.'))
  const cut = { ok: false, status: 500, headers: new Headers(), text } as unknown as Response
  expect(await errorOf(async () => cut)).toBe(
    'The model provider answered 500: 500 Error: The connection was closed early.',
  )
})

test('what did not leave is a fault of the connection, whatever the system calls it', async () => {
  const unsent = new UnsentError('The connection could not be made.', undefined, undefined)
  expect(await errorOf(() => Promise.reject(unsent))).toBe(
    'The connection to the model provider failed: The connection could not be made.',
  )
})
