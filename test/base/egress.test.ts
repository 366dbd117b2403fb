import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isUnsent, EGRESS_REFUSED } from '../../src/base/net/transport.ts'
import { createEgress } from '../../src/base/net/egress.ts'
import { createOwnListeners, type ListenerRegister } from '../../src/base/net/own-listeners.ts'
import { listen, stop } from '../fakes/model-server.ts'

let server: Server
let url: string
const seen: string[] = []
beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    const [, status, target] = /^\/(\d+)\/(.*)$/.exec(request.url ?? '') ?? []
    if (status) response.writeHead(Number(status), { location: decodeURIComponent(target ?? '') }).end()
    else request.pipe(response)
  })
  url = await listen(server)
})
afterAll(() => stop(server))

const listening = (port: number): ListenerRegister => {
  const listeners = createOwnListeners()
  listeners.add('127.0.0.1', port)
  return listeners
}

/** DNS with these answers and no others. */
const resolveTo =
  (names: Record<string, string[]>) =>
  (
    hostname: string,
    done: (error: NodeJS.ErrnoException | null, addresses: { address: string; family: number }[]) => void,
  ): void =>
    done(
      null,
      (names[hostname] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )

const refusalOf = async (
  address: string,
  names: Record<string, string[]> = {},
  allowedHosts: string[] = [],
): Promise<string> => {
  try {
    await createEgress({ from: 'document', allowedHosts, resolve: resolveTo(names) })(address, {
      signal: AbortSignal.timeout(50_000),
    })
  } catch (error) {
    expect(isUnsent(error)).toBe(true)
    return (error as Error).message
  }
  return 'was sent'
}

test.each([
  'http://mcp.example/',
  'http://10.0.0.1/',
  'ftp://mcp.example/',
  'https://10.0.0.1/',
  'https://10.255.255.255/',
  'https://012.0.0.1/',
  'https://172.16.0.1/',
  'https://172.31.255.254/',
  'https://192.168.1.1/',
  'https://192.168.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://169.254.170.2/',
  'https://0xa9.0xfe.0xa9.0xfe/',
  'https://0xa9fea9fe/',
  'https://2852039166/',
  'https://0251.0376.0251.0376/',
  'https://169.254.43518/',
  'https://１６９.254.169.254/',
  'https://169。254。169。254/',
  'https://169.254.169.254./',
  'https://100.64.0.1/',
  'https://100.100.100.200/',
  'https://0.0.0.0/',
  'https://0/',
  'https://0.0.0.1/',
  'https://0x0a.1/',
  'https://0x0a000001/',
  'https://167772161/',
  'https://012.1/',
  'https://10.1/',
  'https://user:secret@10.0.0.1/',
  'https://mcp.example@10.0.0.1/',
  'https://10.0.0.1:443/',
  'https://10.0.0.1#@mcp.example/',
  'https://10.0.0.1\\@mcp.example/',
  'https://[fd00::1]/',
  'https://[fc00::]/',
  'https://[fd00:ec2::254]/',
  'https://[fe80::1]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[::ffff:a00:1]/',
  'https://[0:0:0:0:0:ffff:169.254.169.254]/',
  'https://[64:ff9b::a00:1]/',
  'https://[64:ff9b::169.254.169.254]/',
  'https://[64:ff9b:1::1]/',
  'https://[2002:a00:1::]/',
  'https://[2001::1]/',
  'https://[2001:db8::1]/',
  'https://[::10.0.0.1]/',
  'https://[::]/',
  'https://224.0.0.1/',
  'https://239.255.255.250/',
  'https://255.255.255.255/',
  'https://240.0.0.1/',
  'https://198.18.0.1/',
  'https://192.0.0.192/',
  'https://192.0.2.1/',
  'https://203.0.113.1/',
])('%s is not connected to', async (address) => {
  expect(await refusalOf(address)).toMatch(
    /(is a private address|is not https, which all hosts but those of this machine need); network\.allowed_hosts/,
  )
})

test.each([
  ['one private address', ['10.0.0.1']],
  ['a private address among public ones', ['192.0.2.10', '169.254.169.254']],
  ['this machine', ['127.0.0.1']],
  ['an IPv6 address of this machine', ['::1']],
  ['a mapped address', ['::ffff:192.168.0.1']],
])('a name that leads to %s is not connected to', async (_, addresses) => {
  expect(await refusalOf('https://mcp.example/', { 'mcp.example': addresses })).toMatch(
    /^mcp\.example leads to the private address /,
  )
})

test('a host that the config allows may be private', async () => {
  const { port } = new URL(url)
  // No TLS is spoken there, which shows that the connection was made.
  expect(
    await refusalOf(`https://inner.example:${port}/`, { 'inner.example': ['127.0.0.1'] }, ['inner.example']),
  ).not.toMatch(/private|was sent/)
})

test('this machine may be spoken to without TLS', async () => {
  const response = await createEgress({ from: 'document', allowedHosts: [] })(`${url}/echo`, {
    method: 'POST',
    body: 'hello',
  })
  expect([response.status, await response.text()]).toEqual([200, 'hello'])
})

test('a redirect on the same host is followed with method and body', async () => {
  seen.length = 0
  const response = await createEgress({ from: 'document', allowedHosts: [] })(`${url}/307/%2Fecho`, {
    method: 'POST',
    body: 'hello',
  })
  expect([response.status, await response.text(), seen]).toEqual([200, 'hello', ['POST /307/%2Fecho', 'POST /echo']])
})

test.each([
  ['to another host', '/307/http%3A%2F%2F169.254.169.254%2F', 307],
  ['to another port of this machine', '/308/http%3A%2F%2F127.0.0.1%3A1%2F', 308],
  ['that would lose the body', '/302/%2Fecho', 302],
])('a redirect %s is not followed', async (_, path, status) => {
  seen.length = 0
  const response = await createEgress({ from: 'document', allowedHosts: [] })(url + path, {
    method: 'POST',
    body: 'hello',
  })
  expect([response.status, seen]).toEqual([status, [`POST ${path}`]])
})

test('a name of this machine must lead to it', async () => {
  expect(await refusalOf('http://desk.localhost/', { 'desk.localhost': ['10.0.0.1'] })).toMatch(
    /^desk\.localhost leads to 10\.0\.0\.1, which is not this machine/,
  )
})

test('a name whose answers change is connected to where they were checked, or not at all', async () => {
  const { port } = new URL(url)
  seen.length = 0
  const answers = [['192.0.2.10'], ['127.0.0.1'], ['127.0.0.1']]
  const egress = createEgress({
    from: 'document',
    allowedHosts: [],
    resolve: (hostname, done) => resolveTo({ [hostname]: answers.shift() ?? [] })(hostname, done),
  })
  for (let tries = 0; tries < 3; tries++)
    await expect(egress(`https://mcp.example:${port}/`, { signal: AbortSignal.timeout(100) })).rejects.toThrow(
      'mcp.example leads to the private address',
    )
  expect(seen).toEqual([])
})

test.each([
  'http://127.0.0.1',
  'http://127.1',
  'http://127.0.0.2',
  'http://2130706433',
  'http://0x7f.1',
  'http://0177.0.0.1',
  'http://１２７.0.0.1',
  'http://0.0.0.0',
  'http://0',
  'http://localhost',
  'http://LOCALHOST',
  'http://localhost.',
  'http://desk.localhost',
  'http://user@localhost',
  'http://[::1]',
  'http://[0:0:0:0:0:0:0:1]',
  'http://[::ffff:127.0.0.1]',
  'http://[::ffff:7f00:1]',
  'http://[::127.0.0.1]',
  'http://[::]',
  'http://rebound.example',
  'https://rebound.example',
  'https://localhost',
])('%s is not this server, for a document nor for the config', async (origin) => {
  const { port } = new URL(url)
  seen.length = 0
  for (const from of ['document', 'config'] as const) {
    const egress = createEgress({
      from,
      // What the config allows by its name alone may be private, but not this server.
      allowedHosts: ['127.0.0.1', 'localhost', 'rebound.example'],
      plain: true,
      ownListeners: listening(Number(port)),
      resolve: (hostname, done) => resolveTo({ [hostname]: ['127.0.0.1', '::1'] })(hostname, done),
    })
    const error: unknown = await egress(`${origin}:${port}/v1/runs`, { method: 'POST', body: '{}' }).catch(
      (cause: unknown) => cause,
    )
    expect(error).toMatchObject({ code: EGRESS_REFUSED })
  }
  expect(seen).toEqual([])
})

test('the config may allow a listener of this server by host and port', async () => {
  const { host, port } = new URL(url)
  const egress = createEgress({ from: 'config', allowedHosts: [host], ownListeners: listening(Number(port)) })
  expect(await (await egress(`${url}/echo`, { method: 'POST', body: 'hello' })).text()).toBe('hello')
})

test.each([
  ['http://127.0.0.1', 'one on this machine, at any loopback address'],
  ['http://127.9.9.9', 'one on this machine, at any loopback address'],
  ['http://[::1]', 'one on this machine, at any loopback address'],
  ['http://10.0.0.5', 'one on another machine'],
  ['http://[::ffff:10.0.0.5]', 'one on another machine'],
  ['https://peer.example', 'one on another machine'],
])('%s is not another server of the store: %s', async (origin) => {
  const ownListeners = createOwnListeners()
  ownListeners.setOthers({ ports: [4777], addresses: ['10.0.0.5'] })
  for (const from of ['document', 'config'] as const) {
    const egress = createEgress({
      from,
      allowedHosts: ['127.0.0.1', '10.0.0.5', 'peer.example'],
      plain: true,
      ownListeners,
      resolve: resolveTo({ 'peer.example': ['10.0.0.5'] }),
    })
    await expect(egress(`${origin}:4777/v1/runs`)).rejects.toMatchObject({
      code: EGRESS_REFUSED,
      message: expect.stringContaining('is an address of this server'),
    })
  }
})

test('a listener that has gone is no listener of ours', async () => {
  const port = Number(new URL(url).port)
  const ownListeners = createOwnListeners()
  ownListeners.setOthers({ ports: [port], addresses: [] })
  const egress = createEgress({ from: 'config', allowedHosts: [], ownListeners })
  await expect(egress(`${url}/echo`)).rejects.toMatchObject({ code: EGRESS_REFUSED })
  ownListeners.setOthers({ ports: [], addresses: [] })
  expect((await egress(`${url}/echo`)).status).toBe(200)
})
