import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isUnsent } from '../../src/base/transport.ts'
import { createEgress } from '../../src/tools/egress.ts'
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
    await createEgress({ allowedHosts, resolve: resolveTo(names) })(address, { signal: AbortSignal.timeout(5000) })
  } catch (error) {
    expect(isUnsent(error)).toBe(true)
    return (error as Error).message
  }
  return 'was sent'
}

test.each([
  'http://mcp.example/',
  'http://10.0.0.1/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://100.64.0.1/',
  'https://0.0.0.0/',
  'https://0x0a.1/',
  'https://167772161/',
  'https://[fd00::1]/',
  'https://[fe80::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[64:ff9b::a00:1]/',
  'https://[::10.0.0.1]/',
  'https://[::]/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
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
  const response = await createEgress({ allowedHosts: [] })(`${url}/echo`, { method: 'POST', body: 'hello' })
  expect([response.status, await response.text()]).toEqual([200, 'hello'])
})

test('a redirect on the same host is followed with method and body', async () => {
  seen.length = 0
  const response = await createEgress({ allowedHosts: [] })(`${url}/307/%2Fecho`, { method: 'POST', body: 'hello' })
  expect([response.status, await response.text(), seen]).toEqual([200, 'hello', ['POST /307/%2Fecho', 'POST /echo']])
})

test.each([
  ['to another host', '/307/http%3A%2F%2F169.254.169.254%2F', 307],
  ['to another port of this machine', '/308/http%3A%2F%2F127.0.0.1%3A1%2F', 308],
  ['that would lose the body', '/302/%2Fecho', 302],
])('a redirect %s is not followed', async (_, path, status) => {
  seen.length = 0
  const response = await createEgress({ allowedHosts: [] })(url + path, { method: 'POST', body: 'hello' })
  expect([response.status, seen]).toEqual([status, [`POST ${path}`]])
})
