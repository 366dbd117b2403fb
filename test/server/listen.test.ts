import { connect } from 'node:net'
import { request } from 'node:http'
import { mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toNodeHandler } from 'h3/node'
import { afterEach, expect, test } from 'vitest'
import { createApp } from '../../src/server/app.ts'
import { listenHttp, listenAdmin, type HttpListener } from '../../src/server/http/listen.ts'
import { createOperatorApp } from '../../src/server/operator-app.ts'
import { openFixture } from './fixtures.ts'
import { removeDirectory } from '../remove-directory.ts'

const DESK = 'acme.refund-desk'
const rules = { loopback: true, hosts: [], origins: [] }
let open: (() => Promise<unknown> | void)[] = []

afterEach(async () => {
  for (const close of open.reverse()) await close()
  open = []
})

async function onSocket(given: Parameters<typeof openFixture>[0] = {}) {
  const fixture = openFixture(given)
  const agentId = await fixture.deploy(DESK)
  const listener: HttpListener = await listenHttp(toNodeHandler(createApp(fixture.services, rules)), {
    host: '127.0.0.1',
    port: 0,
    ids: fixture.services.ids,
  })
  open.push(() => listener.close(0))
  return { ...fixture, agentId, listener, port: listener.port, url: `http://127.0.0.1:${listener.port}` }
}

/** What comes back for these bytes until the server closes the connection. */
const raw = (port: number, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk))
    socket.on('error', reject).on('close', () => resolve(answer))
  })

const statusOf = async (port: number, text: string) => Number((await raw(port, text)).split(' ')[1])

test.each([
  ['a plain request', 'GET /v1/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 200],
  ['two Hosts', 'GET /v1/healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n', 400],
  ['no Host', 'GET /v1/healthz HTTP/1.1\r\n\r\n', 400],
  ['HTTP/1.0 without Host', 'GET /v1/healthz HTTP/1.0\r\n\r\n', 403],
  ['a foreign Host', 'GET /v1/healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n', 403],
  [
    'a foreign Origin',
    'GET /v1/healthz HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\nConnection: close\r\n\r\n',
    403,
  ],
  ['absolute form', 'GET http://localhost/v1/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
  ['absolute form with another host', 'GET http://localhost/v1/healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n', 400],
  ['asterisk form', 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
  [
    '100 headers',
    `GET /v1/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${'X-A: 1\r\n'.repeat(98)}\r\n`,
    200,
  ],
  [
    '101 headers',
    `GET /v1/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${'X-A: 1\r\n'.repeat(99)}\r\n`,
    431,
  ],
  ['2,500 headers', `GET /v1/healthz HTTP/1.1\r\nHost: localhost\r\n${'X: 1\r\n'.repeat(2500)}\r\n`, 431],
  ['a header line of 20 KiB', `GET /v1/healthz HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  [
    'length and chunks',
    'POST /v1/runs/x/input HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['a line that is no HTTP', 'HELLO\r\n\r\n', 400],
  ['a space before the colon', 'GET /v1/healthz HTTP/1.1\r\nHost : localhost\r\n\r\n', 400],
])('%s', async (_what, text, status) => {
  const { port } = await onSocket()
  expect(await statusOf(port, text)).toBe(status)
})

test('what is no HTTP is answered as every other refusal', async () => {
  const { port } = await onSocket()
  const answer = await raw(port, 'HELLO\r\n\r\n')
  const id = /x-request-id: (\S+)/.exec(answer)![1]
  expect(answer).toBe(
    [
      'HTTP/1.1 400 Bad Request',
      'content-type: application/json',
      'content-length: 117',
      `x-request-id: ${id}`,
      'connection: close',
      '',
      `{"error":"The request is not valid HTTP.","code":"validation_failed","requestId":"${id}"}`,
    ]
      .join('\r\n')
      .replace('content-length: 117', `content-length: ${/content-length: (\d+)/.exec(answer)![1]}`),
  )
})

test('what is too large says so', async () => {
  const { port } = await onSocket()
  const answer = await raw(port, `GET /v1/healthz?${'a'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  expect(answer).toContain('"error":"The address and the headers of the request are larger than 16384 bytes."')
})

test('the trigger’s allowlist is held against the socket, whatever a header says', async () => {
  const { url, agentId, keyFor } = await onSocket()
  const inside = await keyFor(DESK, { trigger: { name: 'inside', allowIps: ['127.0.0.0/8'] } })
  const outside = await keyFor(DESK, { trigger: { name: 'outside', allowIps: ['10.0.0.0/8'] } })
  const start = async (key: string, headers = {}) =>
    (await fetch(`${url}/v1/agents/${agentId}/runs`, { method: 'POST', headers: { 'x-api-key': key, ...headers } }))
      .status
  expect(await start(inside.secret)).toBe(202)
  expect(await start(outside.secret)).toBe(403)
  expect(await start(outside.secret, { 'x-forwarded-for': '10.0.0.1' })).toBe(403)
})

test('a configured proxy tells who is behind it', async () => {
  const { url, agentId, keyFor } = await onSocket({ config: { network: { proxies: ['127.0.0.1'] } } })
  const { secret } = await keyFor(DESK, { trigger: { allowIps: ['10.0.0.0/8'] } })
  const start = async (from: string) =>
    (
      await fetch(`${url}/v1/agents/${agentId}/runs`, {
        method: 'POST',
        headers: { 'x-api-key': secret, 'x-forwarded-for': from },
      })
    ).status
  expect(await start('10.0.0.1')).toBe(202)
  expect(await start('10.0.0.1, 9.9.9.9')).toBe(403)
})

test('a body that is too large is refused while it arrives, and the answer arrives', async () => {
  const { url, agentId, keyFor } = await onSocket()
  const { secret } = await keyFor(DESK)
  const chunks = new ReadableStream<Uint8Array>({
    pull: (controller) => (sent++ < 64 ? controller.enqueue(new Uint8Array(64 * 1024).fill(0x20)) : controller.close()),
  })
  let sent = 0
  const headers = { 'x-api-key': secret, 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/agents/${agentId}/runs`, {
    method: 'POST',
    headers,
    body: chunks,
    duplex: 'half',
  } as RequestInit)
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([413, 'body_too_large'])
  const declared = await fetch(`${url}/v1/agents/${agentId}/runs`, {
    method: 'POST',
    headers,
    body: ' '.repeat(2 * 1024 * 1024),
  })
  expect(declared.status).toBe(413)
})

test('a body arrives whole over the socket', async () => {
  const { url, agentId, keyFor, asked } = await onSocket()
  const { secret } = await keyFor(DESK)
  const input = { text: 'ä'.repeat(100_000) }
  const response = await fetch(`${url}/v1/agents/${agentId}/runs`, {
    method: 'POST',
    headers: { 'x-api-key': secret, 'content-type': 'application/json' },
    body: JSON.stringify({ input }),
  })
  expect(response.status).toBe(202)
  expect(asked.starts[0]!.input).toEqual(input)
})

test('a stream that its reader leaves is let go', async () => {
  const { url, keyFor, storeRun, doors } = await onSocket()
  const { secret, triggerId } = await keyFor(DESK)
  const { runId } = await storeRun(DESK, { triggerId })
  const gone = new Promise<void>((resolve) => {
    doors.follow = async function* (_run, _after, signal) {
      signal.addEventListener('abort', () => resolve())
      yield ['live']
      await new Promise<void>((end) => signal.addEventListener('abort', () => end()))
    }
  })
  const leave = new AbortController()
  const response = await fetch(`${url}/v1/runs/${runId}/stream`, {
    headers: { 'x-api-key': secret },
    signal: leave.signal,
  })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  await response.body!.getReader().read()
  leave.abort()
  await gone
})

test('closing ends streams in good order, and accepts nothing more', async () => {
  const { url, keyFor, storeRun, doors, services, listener } = await onSocket()
  const { secret, triggerId } = await keyFor(DESK)
  const { runId } = await storeRun(DESK, { triggerId })
  doors.follow = async function* (_run, _after, signal) {
    yield ['live']
    await new Promise<void>((end) => signal.addEventListener('abort', () => end()))
  }
  const response = await fetch(`${url}/v1/runs/${runId}/stream`, { headers: { 'x-api-key': secret } })
  const text = response.text()
  services.serverState.closing = true
  services.readers.stopAll()
  await listener.close(5000)
  // When to come back, of each reader at a moment of its own.
  expect(await text).toMatch(/^retry: 1000\n\n: live\n\nretry: \d{1,4}\n\n$/)
  await expect(fetch(`${url}/v1/healthz`)).rejects.toThrow('fetch failed')
})

test('a taken port is told', async () => {
  const { port, services } = await onSocket()
  await expect(listenHttp(() => {}, { host: '127.0.0.1', port, ids: services.ids })).rejects.toThrow(
    `Cannot listen on 127.0.0.1:${port}: the port is taken.`,
  )
})

test('the operator’s socket belongs to its owner alone, and replaces what a crash left', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'svc-test-'))
  open.push(() => removeDirectory(directory))
  const path = join(directory, 'admin.sock')
  const { services } = openFixture()
  const first = await listenAdmin(createOperatorApp(services).handleNode, path, services.ids)
  open.push(() => first.close(0))
  const second = await listenAdmin(createOperatorApp(services).handleNode, path, services.ids)
  open.push(() => second.close(0))
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const status = await new Promise((resolve, reject) => {
    const sent = request({ socketPath: path, path: '/status', headers: { host: 'operator.svc' } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject).end()
  })
  expect(status).toBe(200)
})
