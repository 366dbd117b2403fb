/** What a person reads of the bodies of refusals that model servers, gateways and proxies write, and when the next attempt is due. */
import { afterEach, expect, test } from 'vitest'
import { isRetryableStatus } from '../../src/providers/reading/error-body.ts'
import type { ProviderError } from '../../src/providers/provider.ts'
import { startFakeModel, type FakeModel } from '../fakes/model-server.ts'
import { HOUSE_KEY, openAt } from './open-at.ts'
import { complete, requestWith } from './request.ts'

let fake: FakeModel | undefined
afterEach(() => fake?.close())

const WIRES = ['openai-compatible', 'anthropic', 'gemini'] as const

async function refusalOf(
  wire: (typeof WIRES)[number],
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<ProviderError> {
  fake = await startFakeModel([{}], (_, response) => response.writeHead(status, headers).end(body))
  const error: unknown = await complete(openAt(wire, fake.url), requestWith()).catch((each: unknown) => each)
  await fake.close()
  return error as ProviderError
}

const BODIES: readonly (readonly [seen: string, status: number, body: object | string, says: string])[] = [
  [
    'vLLM, flat',
    400,
    { object: 'error', message: 'The context is full.', type: 'BadRequestError', code: 400 },
    'The context is full.',
  ],
  ['FastAPI', 422, { detail: 'No such route' }, 'No such route'],
  [
    'FastAPI, fields',
    422,
    { detail: [{ loc: ['body', 'messages', 0], msg: 'Field required' }] },
    'body.messages.0: Field required',
  ],
  [
    'Mistral',
    422,
    { object: 'error', message: { detail: [{ loc: ['body', 'x'], msg: 'Not permitted' }] } },
    'body.x: Not permitted',
  ],
  ['LM Studio', 400, { error: 'No models are loaded.' }, 'No models are loaded.'],
  ['Cloudflare', 400, { success: false, errors: [{ code: 7, message: 'No route' }] }, 'No route'],
  ['AI gateways', 400, { success: false, error: [{ code: 7, message: 'No route' }] }, 'No route'],
  [
    'OpenRouter',
    400,
    {
      error: { message: 'Provider returned error', metadata: { raw: '{"error":{"message":"The name is too long"}}' } },
    },
    'Provider returned error: The name is too long',
  ],
  ['Envoy', 400, 'upstream connect error', 'upstream connect error'],
  ['nginx', 413, '<html><head><title>413 Too Large</title></head><body>nginx</body></html>', '413 Too Large'],
  ['a page without a title', 400, '<p>No <b>such</b> host</p>', 'No such host'],
  ['nobody', 400, '', 'It gave no reason.'],
]

test.each(BODIES)('%s: %i %j', async (_, status, body, says) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = { 'content-type': typeof body === 'string' ? 'text/html' : 'application/json' }
  for (const wire of WIRES) {
    const { message, retryable } = await refusalOf(wire, status, text, headers)
    expect([wire, message, retryable]).toEqual([wire, `The model provider answered ${status}: ${says}`, false])
  }
})

test.each(WIRES)('%s: a body without an end holds nobody up', async (wire) => {
  fake = await startFakeModel([{}], (_, response) => {
    response.writeHead(400, { 'content-type': 'text/plain' })
    const send = (): void => void (response.writable && response.write('x'.repeat(65_536), send))
    send()
  })
  const error: unknown = await complete(openAt(wire, fake.url), requestWith()).catch((each: unknown) => each)
  expect((error as Error).message).toMatch(/^The model provider answered 400: x+\.\.\.$/)
})

test.each(WIRES)('%s: a redirect is named, and not followed', async (wire) => {
  const { message } = await refusalOf(wire, 307, '', { location: 'https://other.example/v1' })
  expect(message).toBe('The model provider answered with a redirect to other.example. Check base_url.')
})

test.each([
  ['retry-after', '41', 41_000],
  ['retry-after-ms', '250', 250],
  ['retry-after-ms', '', undefined],
])('%s: %s', async (name, value, ms) => {
  const { retryAfterMs } = await refusalOf('openai-compatible', 429, '{}', { [name]: value })
  expect(retryAfterMs).toBe(ms)
})

test('Google says in the body when the next attempt is due', async () => {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' }]
  const { message, retryAfterMs } = await refusalOf(
    'gemini',
    429,
    JSON.stringify({ error: { code: 429, message: 'Slow down', status: 'RESOURCE_EXHAUSTED', details } }),
    { 'content-type': 'application/json' },
  )
  expect([message, retryAfterMs]).toEqual(['The model provider answered 429: Slow down', 34_500])
})

test.each([
  ['a text that is no JSON', `data: ${'x'.repeat(60)} ${HOUSE_KEY}\n\n`],
  ['a list of texts', `data: ["${'x'.repeat(10)}${HOUSE_KEY}"]\n\n`],
  ['a reason to end', `data: {"choices":[{"delta":{},"finish_reason":"${'x'.repeat(56)}${HOUSE_KEY}"}]}\n\n`],
  ['an error', `event: error\ndata: ${'x'.repeat(490)} ${HOUSE_KEY}\n\n`],
])('no part of the key is shown where %s is cut', async (_, raw) => {
  fake = await startFakeModel([{ raw, headers: { 'content-type': 'text/event-stream' } }], () => {})
  const error: unknown = await complete(openAt('openai-compatible', fake.url), requestWith()).catch(
    (each: unknown) => each,
  )
  expect((error as Error).message).toContain('x'.repeat(10))
  expect((error as Error).message).not.toContain(HOUSE_KEY.slice(0, 3))
})

test('statuses that another attempt may not meet', () => {
  const all = [400, 401, 403, 404, 408, 409, 413, 422, 425, 429, 498, 499, 500, 501, 502, 503, 504, 520, 529]
  expect(all.filter(isRetryableStatus)).toEqual([408, 409, 425, 429, 498, 499, 500, 502, 503, 504, 520, 529])
})
