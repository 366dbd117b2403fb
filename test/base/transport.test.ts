import { createServer, type Server } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ENDLESS_ANSWER } from '../../src/base/net/chunk-response.ts'
import { createTransport, isHeldBack, isUnsent } from '../../src/base/net/transport.ts'
import { listen, stop } from '../fakes/model-server.ts'

let server: Server
let url: string
let connections = 0
let requests = 0
beforeAll(async () => {
  server = createServer((request, response) => {
    requests++
    if (request.url === '/hang') return
    if (request.url === '/drip') {
      response.write('first')
      return
    }
    if (request.url === '/line') {
      const sendMore = (): unknown => response.destroyed || response.write('x'.repeat(65_536), sendMore)
      sendMore()
      return
    }
    if (request.url === '/events') {
      response.setHeader('content-type', 'text/event-stream')
      const rest = ['ta: 1\n\ndata: 2', '\r\rdata', ': 3']
      const sendMore = (): unknown =>
        rest.length === 0 ? response.end() : void response.write(rest.shift(), () => setImmediate(sendMore))
      response.write('da', () => setImmediate(sendMore))
      return
    }
    if (request.url === '/lines') {
      let sent = 0
      const sendMore = (): unknown =>
        sent++ === 20 ? response.end() : response.write(`${'x'.repeat(999_999)}\n`, sendMore)
      sendMore()
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

test.each([false, true])(
  'with keepAlive %s a request asks on the open connection whether it may leave, and is not sent if not',
  async (keepAlive) => {
    const transport = createTransport({ keepAlive })
    await (await transport(url, { method: 'POST', body: 'x', mayLeave: () => true })).text()
    let asked = 0
    const before = requests
    const held = transport(url, {
      method: 'POST',
      body: 'x',
      mayLeave: () => {
        asked++
        return false
      },
    })
    const error: unknown = await held.catch((each: unknown) => each)
    expect([isUnsent(error), isHeldBack(error), asked]).toEqual([true, true, 1])
    await (await transport(url)).text()
    expect(requests - before).toBe(1)
  },
)

test('a request to a port where nobody listens is never asked', async () => {
  let asked = false
  const error: unknown = await createTransport({ keepAlive: false })('http://127.0.0.1:1/', {
    mayLeave: () => (asked = true),
  }).catch((each: unknown) => each)
  expect([isUnsent(error), isHeldBack(error), asked]).toEqual([true, false, false])
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

test('a line without an end breaks a plain body off, and many lines do not', async () => {
  const read = async (path: string): Promise<number> => {
    let bytes = 0
    for await (const chunk of (await plain(`${url}${path}`)).body!) bytes += chunk.byteLength
    return bytes
  }
  await expect(read('/line')).rejects.toMatchObject({
    code: ENDLESS_ANSWER,
    message: 'A line of more than 16 MiB.',
  })
  expect(await read('/lines')).toBe(20_000_000)
})

test('a plain body that is read as one text has a bound', async () => {
  await expect((await plain(`${url}/lines`)).text()).rejects.toMatchObject({
    code: ENDLESS_ANSWER,
    message: 'A text of more than 16 MiB.',
  })
})

test('an event stream comes in whole lines, its last one without an end', async () => {
  const pieces: string[] = []
  for await (const chunk of (await plain(`${url}/events`)).body!) pieces.push(Buffer.from(chunk).toString())
  expect(pieces.join('')).toBe('data: 1\n\ndata: 2\r\rdata: 3')
  expect(pieces.slice(0, -1).every((piece) => /[\r\n]$/.test(piece))).toBe(true)
  expect(pieces.at(-1)).toBe('data: 3')
})

test('fails when the other side changes the protocol, or closes without an answer, and may have got the request', async () => {
  const rude = createTcpServer((socket) =>
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: odd\r\n\r\n'),
    ),
  )
  const address = await listen(rude as unknown as Server)
  const failed = await createTransport({ keepAlive: false })(address, { method: 'POST', body: 'x' }).catch(
    (error: unknown) => error,
  )
  expect(failed).toBeInstanceOf(Error)
  expect(isUnsent(failed)).toBe(false)
  rude.close()
})
