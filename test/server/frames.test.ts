/** What arrives on the socket and is no good HTTP, or good HTTP that comes too slowly. Source: docs/design/security.md#requests */
import { connect } from 'node:net'
import { toNodeHandler } from 'h3/node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from '../../src/server/app.ts'
import { listenHttp, type HttpListener } from '../../src/server/http/listen.ts'
import { openFixture } from './fixtures.ts'

const fixture = openFixture()
let listener: HttpListener
/** Requests that reached a handler. */
let handled = 0

beforeAll(async () => {
  const handle = toNodeHandler(createApp(fixture.services, { loopback: true, hosts: [], origins: [] }))
  listener = await listenHttp((request, response) => (handled++, handle(request, response)), {
    host: '127.0.0.1',
    port: 0,
    ids: fixture.services.ids,
    patience: { headersMs: 150, requestMs: 300, checkMs: 20 },
  })
})
afterAll(() => listener.close(0))

/** Status lines of all answers to these bytes, and whether the server closed the connection by itself. */
const statuses = async (text: string | Buffer, how: { readonly end?: boolean } = {}): Promise<string> =>
  [...(await answersTo(text, how)).matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status).join(' ') || 'closed'

/** All that comes until the server closes the connection. */
const answersTo = (text: string | Buffer, { end = false } = {}): Promise<string> =>
  new Promise((resolve) => {
    let answer = ''
    const socket = connect(listener.port, '127.0.0.1', () => (end ? socket.end(text) : socket.write(text)))
    socket.setEncoding('latin1').on('data', (chunk: string) => (answer += chunk))
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer))
  })

const HOST = 'Host: localhost\r\n'
const CLOSE = 'Connection: close\r\n'
const get = (headers: string, target = '/v1/healthz', version = 'HTTP/1.1') =>
  `GET ${target} ${version}\r\n${headers}\r\n`
const post = (headers: string, body: string) => `POST /v1/runs/x/input HTTP/1.1\r\n${HOST}${headers}\r\n${body}`

test.each<[string, string | Buffer, string]>([
  ['a good request', get(HOST + CLOSE), '200'],
  ['two good requests in one piece', get(HOST) + get(HOST + CLOSE), '200 200'],
])('%s is answered', async (_what, text, expected) => {
  expect(await statuses(text)).toBe(expected)
})

test.each<[string, string | Buffer]>([
  ['no HTTP', 'HELLO\r\n\r\n'],
  ['a TLS greeting', Buffer.from([0x16, 0x03, 0x01, 0x00, 0xa5, 0x01, 0x00, 0x00, 0xa1, 0x03, 0x03])],
  ['an HTTP/2 greeting', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['an unknown method', `BREW /v1/healthz HTTP/1.1\r\n${HOST}\r\n`],
  ['a method in lower case', `get /v1/healthz HTTP/1.1\r\n${HOST}\r\n`],
  ['CONNECT', 'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n'],
  ['HTTP/0.9', 'GET /v1/healthz\r\n\r\n'],
  ['HTTP/3.0', get(HOST, '/v1/healthz', 'HTTP/3.0')],
  ['no version number', get(HOST, '/v1/healthz', 'HTTP/')],
  ['a space in the target', get(HOST, '/v1/health z')],
  ['a NUL in the target', get(HOST, '/v1/\0healthz')],
  ['a line end in the target', get(HOST, '/v1/\nhealthz')],
  ['an absolute target', get(HOST, 'http://localhost/v1/healthz')],
  ['an absolute target of another host', get('Host: evil.example\r\n', 'http://localhost/v1/healthz')],
  ['an asterisk', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`],
  ['no Host', get('')],
  ['an empty Host', get('Host:\r\n' + CLOSE)],
  ['two Hosts', get(HOST + HOST)],
  ['two Hosts in different case', get(`${HOST}hOST: localhost\r\n`)],
  ['a Host with a path', get(`Host: localhost/evil\r\n${CLOSE}`)],
  ['a Host with a user', get(`Host: user@localhost\r\n${CLOSE}`)],
  ['a space before the colon', get('Host : localhost\r\n')],
  ['a header without a colon', get(`${HOST}nonsense\r\n`)],
  ['a header without a name', get(`${HOST}: x\r\n`)],
  ['a folded header', get(`${HOST}X-A: 1\r\n 2\r\n`)],
  ['a header name with a control character', get(`${HOST}X\x01A: 1\r\n`)],
  ['a header value with a NUL', get(`${HOST}X-A: a\0b\r\n`)],
  ['a header value with a bare CR', get(`${HOST}X-A: a\rX-B: b\r\n`)],
  ['bare LFs', `GET /v1/healthz HTTP/1.1\nHost: localhost\n\n`],
  ['101 headers', get(HOST + 'X-A: 1\r\n'.repeat(100))],
  ['a header of 20 KiB', get(`${HOST}X-A: ${'a'.repeat(20_000)}\r\n`)],
  ['a target of 20 KiB', get(HOST, `/${'a'.repeat(20_000)}`)],
  ['a length and chunks', post('Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n')],
  ['two lengths', post('Content-Length: 2\r\nContent-Length: 3\r\n', '{} ')],
  ['two lengths in one', post('Content-Length: 2, 3\r\n', '{} ')],
  ['a negative length', post('Content-Length: -1\r\n', '')],
  ['a length with a sign', post('Content-Length: +2\r\n', '{}')],
  ['a hexadecimal length', post('Content-Length: 0x2\r\n', '{}')],
  ['a length beyond all numbers', post('Content-Length: 99999999999999999999999\r\n', '')],
  ['an unknown coding', post('Transfer-Encoding: gzip\r\n', '{}')],
  ['chunks that are not last', post('Transfer-Encoding: chunked, gzip\r\n', '0\r\n\r\n')],
  ['chunks twice', post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n', '0\r\n\r\n')],
  ['chunks by a look-alike', post('Transfer-Encoding: \x0bchunked\r\n', '0\r\n\r\n')],
])('%s is refused, and the connection ends', async (_what, text) => {
  const before = handled
  const seen = await statuses(text)
  expect(seen).toMatch(/^(?:closed|400|403|431)$/)
  // Host and Origin are looked at by the application; everything else does not get there.
  expect(handled - before).toBe(seen === '403' ? 1 : 0)
})

test.each([
  [400, 'The request has no Host header.', get('')],
  [417, 'No expectation but 100-continue can be met.', get(`${HOST}Expect: a-miracle\r\n`)],
])('%i is said in the words of every other refusal: %s', async (status, error, text) => {
  const [head, body] = (await answersTo(text)).split('\r\n\r\n')
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  const requestId = /^x-request-id: (\S+)$/im.exec(head!)?.[1]
  expect(JSON.parse(body!)).toEqual({ error, code: 'validation_failed', requestId })
})

test.each<[string, string]>([
  ['a chunk size that is no number', 'zz\r\nx\r\n0\r\n\r\n'],
  ['a chunk size with a sign', '+2\r\n{}\r\n0\r\n\r\n'],
  ['a chunk that is longer than it says', '1\r\n{}\r\n0\r\n\r\n'],
  ['a chunk size beyond all numbers', 'fffffffffffffffff\r\n{}\r\n0\r\n\r\n'],
])('a body with %s smuggles no second request', async (_what, body) => {
  const smuggled = 'GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const seen = await statuses(
    `POST /v1/runs/x/input HTTP/1.1\r\n${HOST}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${body}${smuggled}`,
  )
  expect(seen).not.toContain('200')
})

test('bytes that are no HTTP behind a stream cut it, and put nothing into it', async () => {
  await fixture.deploy('acme.refund-desk')
  const { secret, triggerId } = await fixture.keyFor('acme.refund-desk', { trigger: { name: 'streams' } })
  const { runId } = await fixture.storeRun('acme.refund-desk', { triggerId })
  fixture.doors.follow = async function* (_run, _after, signal) {
    yield ['live']
    await new Promise<void>((end) => signal.addEventListener('abort', () => end()))
  }
  const text = await new Promise<string>((resolve) => {
    let answer = ''
    const socket = connect(listener.port, '127.0.0.1', () =>
      socket.write(get(`${HOST}X-API-Key: ${secret}\r\n`, `/v1/runs/${runId}/stream`)),
    )
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      answer += chunk
      if (chunk.includes(': live')) socket.write('NONSENSE\r\n\r\n')
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer))
  })
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200'])
})

test('a request whose body never comes whole is not answered as if it had', async () => {
  expect(
    await statuses(post('Content-Length: 10\r\nContent-Type: application/json\r\n', '{}'), { end: true }),
  ).not.toContain('202')
})

test('30 senders of slow headers are cut off, and others are served meanwhile', async () => {
  const slow = Array.from({ length: 30 }, () => statuses('GET /v1/healthz HTTP/1.1\r\nHost: local'))
  expect(await statuses(get(HOST + CLOSE))).toBe('200')
  expect(new Set(await Promise.all(slow))).toEqual(new Set(['408']))
})

test('30 senders of slow bodies are cut off', async () => {
  await fixture.deploy('acme.refund-desk')
  const { secret, triggerId } = await fixture.keyFor('acme.refund-desk')
  const { runId } = await fixture.storeRun('acme.refund-desk', { triggerId })
  const head = `POST /v1/runs/${runId}/input HTTP/1.1\r\n${HOST}X-API-Key: ${secret}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`
  const slow = Array.from({ length: 30 }, () => statuses(head))
  expect(await statuses(get(HOST + CLOSE))).toBe('200')
  for (const seen of await Promise.all(slow)) expect(seen).toMatch(/^(?:408|400|closed)$/)
  expect(fixture.asked.answers).toEqual([])
})
