import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTransport, isUnsent } from '../../src/base/net/transport.ts'
import { listen, stop } from '../fakes/model-server.ts'

let server: Server
let url: string
let connections = 0
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/hang') return
    if (request.url === '/drip') {
      response.write('first')
      return
    }
    if (request.url === '/large') {
      response.end('x'.repeat(1_000_000))
      return
    }
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    request.pipe(response)
  })
  server.on('connection', () => connections++)
  url = await listen(server)
})
afterAll(() => stop(server))

test('sends a body and reads the answer', async () => {
  const response = await createTransport({ keepAlive: false })(url, {
    method: 'POST',
    body: 'größer',
    headers: { 'x-a': '1' },
  })
  expect([response.status, response.headers.getSetCookie(), await response.text()]).toEqual([
    200,
    ['a=1', 'b=2'],
    'größer',
  ])
})

const bothKinds = test.each([{ plainBodies: false }, { plainBodies: true }])

bothKinds('a large body comes whole, however slowly it is read, $plainBodies', async (kind) => {
  const response = await createTransport({ keepAlive: false, ...kind })(`${url}/large`)
  let bytes = 0
  for await (const chunk of response.body!) {
    bytes += chunk.byteLength
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(bytes).toBe(1_000_000)
})

test.each([
  [false, 3],
  [true, 1],
])('with keepAlive %s three requests use %i connections', async (keepAlive, count) => {
  const transport = createTransport({ keepAlive })
  const before = connections
  for (let at = 0; at < 3; at++) await (await transport(url, { method: 'POST', body: 'x' })).text()
  expect(connections - before).toBe(count)
})

const failureOf = async (action: Promise<unknown>): Promise<unknown> =>
  action.then(
    () => undefined,
    (error: unknown) => error,
  )

test('distinguishes a request that could not leave from one that may have arrived', async () => {
  const transport = createTransport({ keepAlive: false })
  expect(isUnsent(await failureOf(transport('http://127.0.0.1:1/')))).toBe(true)
  expect(isUnsent(await failureOf(transport('http://host.invalid/')))).toBe(true)
  const controller = new AbortController()
  const hanging = failureOf(transport(`${url}/hang`, { signal: controller.signal }))
  await new Promise<void>((resolve) => server.once('request', () => resolve()))
  controller.abort(new Error('cancelled'))
  expect(await hanging).toEqual(new Error('cancelled'))
  expect(isUnsent(await hanging)).toBe(false)
})

bothKinds('an abort in the middle of a body ends it with the reason, $plainBodies', async (kind) => {
  const controller = new AbortController()
  const response = await createTransport({ keepAlive: false, ...kind })(`${url}/drip`, { signal: controller.signal })
  const reading = failureOf(response.text())
  controller.abort(new Error('cancelled'))
  expect(await reading).toEqual(new Error('cancelled'))
})

test.each([
  ['hang', false],
  ['drip', false],
  ['drip', true],
])('a server that falls silent (/%s) is given up, where a bound is set', async (path, plainBodies) => {
  const fetch = createTransport({ keepAlive: true, plainBodies, idleMs: 50 })
  await expect(fetch(`${url}/${path}`).then((response) => response.text())).rejects.toMatchObject({
    message: 'Nothing came for 0.05 s.',
    code: 'ETIMEDOUT',
  })
})

const plain = createTransport({ keepAlive: true, plainBodies: true })

test('a plain body is text, JSON, pieces or a reader, and its headers have no case', async () => {
  const post = (body: string) => plain(url, { method: 'POST', body })
  const response = await post('größer')
  expect([response.ok, response.headers.get('Set-Cookie'), await response.text()]).toEqual([true, 'a=1, b=2', 'größer'])
  expect(new Headers(response.headers).get('set-cookie')).toBe('a=1, b=2')
  expect(await (await post('{"a":1}')).json()).toEqual({ a: 1 })
  const reader = (await post('x')).body!.getReader()
  expect([await reader.read(), await reader.read()]).toEqual([
    { done: false, value: Buffer.from('x') },
    { done: true, value: undefined },
  ])
})

test('a plain body that is left early closes its connection, one that was read keeps it', async () => {
  const before = connections
  await (await plain(url, { method: 'POST', body: 'x' })).text()
  const left = await plain(`${url}/large`)
  for await (const chunk of left.body!) if (chunk.byteLength > 0) break
  await (await plain(url, { method: 'POST', body: 'x' })).text()
  expect(connections - before).toBeLessThanOrEqual(2)
})
