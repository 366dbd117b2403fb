import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SvcWebhookError, verifyWebhook } from '../../clients/typescript/src/index.ts'

/** The example of the convention's own documents. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const BODY = '{"test": 2432232314}'
const SENT = {
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': '1614265330',
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}
const SENT_AT = 1_614_265_330_000

beforeEach(() => void vi.useFakeTimers({ now: SENT_AT, toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const signed = (id: string, timestamp: string, body: string): string =>
  `v1,${createHmac('sha256', Buffer.from(SECRET.slice(6), 'base64'))
    .update(`${id}.${timestamp}.${body}`)
    .digest('base64')}`

test.each([
  ['as an object', SENT],
  ['as Headers', new Headers(SENT)],
  [
    'with signatures of other versions and secrets beside it',
    { ...SENT, 'webhook-signature': `v1a,xyz v1,${btoa('another')} ${SENT['webhook-signature']}` },
  ],
])('takes a delivery with its headers %s', async (_, headers) => {
  expect(await verifyWebhook(SECRET, headers, BODY)).toEqual({ test: 2_432_232_314 })
})

test('takes a body beyond ASCII, and a secret without its prefix', async () => {
  const body = '{"name":"Zoë 😀"}'
  const headers = { ...SENT, 'webhook-signature': signed(SENT['webhook-id'], SENT['webhook-timestamp'], body) }
  expect(await verifyWebhook(SECRET.slice(6), headers, body)).toEqual({ name: 'Zoë 😀' })
})

test.each([
  ['another body', SENT, `${BODY} `, 'No signature'],
  ['another id', { ...SENT, 'webhook-id': 'msg_x' }, BODY, 'No signature'],
  ['another time', { ...SENT, 'webhook-timestamp': '1614265331' }, BODY, 'No signature'],
  [
    'a signature of another version',
    { ...SENT, 'webhook-signature': `v2,${signed('', '', '').slice(3)}` },
    BODY,
    'No signature',
  ],
  ['no signature', { ...SENT, 'webhook-signature': undefined }, BODY, 'no webhook-signature'],
  ['a signature that is not base64', { ...SENT, 'webhook-signature': 'v1,%%%' }, BODY, 'not base64'],
  ['a time that is no number', { ...SENT, 'webhook-timestamp': 'NaN' }, BODY, 'five minutes'],
])('refuses a delivery with %s', async (_, headers, body, message) => {
  const refusal = verifyWebhook(SECRET, headers, body)
  await expect(refusal).rejects.toThrow(SvcWebhookError)
  await expect(refusal).rejects.toThrow(message)
})

test.each([
  ['before', -301],
  ['after', 301],
])('refuses a delivery that was signed well, but more than five minutes %s now', async (_, seconds) => {
  vi.setSystemTime(SENT_AT + seconds * 1000)
  await expect(verifyWebhook(SECRET, SENT, BODY)).rejects.toThrow('five minutes')
  vi.setSystemTime(SENT_AT + (seconds - Math.sign(seconds)) * 1000)
  expect(await verifyWebhook(SECRET, SENT, BODY)).toBeDefined()
})
