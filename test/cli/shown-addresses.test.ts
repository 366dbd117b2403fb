/** Addresses are shown without their password, also where it stands at a place that no address has. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeUrl } from '../../src/store/postgres/database/pool.ts'
import { describeBucket } from '../../src/store/postgres/cluster/identity.ts'
import { showAddress } from '../../src/base/net/show-address.ts'
import { svc, temporary } from './recording-io.ts'

/** Both halves are searched for: an address may be cut within a password. */
const [HEAD, TAIL] = ['7391', 'hunter2Zq']

/** How somebody writes or miswrites an address; another spelling is one more line. */
const SPELLINGS: readonly ((scheme: string, password: string) => string)[] = [
  (scheme, password) => `${scheme}://ana:${password}@db.internal/shop`,
  (scheme, password) => `${scheme}:/ana:${password}@db.internal/shop`,
  (scheme, password) => `${scheme}:ana:${password}@db.internal/shop`,
  (scheme, password) => `${scheme}:///ana:${password}@db.internal/shop`,
  (scheme, password) => `${scheme}:\\\\ana:${password}@db.internal\\shop`,
  (scheme, password) => `${scheme}//ana:${password}@db.internal/shop`,
  (_, password) => `//ana:${password}@db.internal/shop`,
  (_, password) => `ana:${password}@db.internal/shop`,
  (scheme, password) => ` ${scheme}://ana:${password}@db.internal/shop `,
  (scheme, password) => `"${scheme}://ana:${password}@db.internal/shop"`,
  (scheme, password) => `${scheme}://ana:${password}@/shop`,
  (scheme, password) => `${scheme}://:${password}@db.internal`,
  (scheme, password) => `${scheme}://ana:${password}@[::1/shop`,
  (scheme, password) => `${scheme}://db.internal/shop?user=ana&password=${password}`,
  (scheme, password) => `${scheme}://db.internal/shop#${password}`,
  (scheme, password) => `${scheme}://db.internal/ana:${password}@shop`,
  (scheme, password) => `${scheme}://files?endpoint=https://ana:${password}@store.internal`,
  (scheme, password) => `${scheme}://files?endpoint=${encodeURIComponent(`https://ana:${password}@store.internal`)}`,
]
const BETWEEN = ['', '/', '#', '?', '@', ':', '%', '%2F', ' ', '\\', '[', '\n', '?x=', '/@']
const SCHEMES = ['postgres', 'postgresql', 'POSTGRES', 'http', 'https', 's3', 'ssh', 'mysql']

const addresses = fc
  .tuple(fc.constantFrom(...SPELLINGS), fc.constantFrom(...SCHEMES), fc.constantFrom(...BETWEEN))
  .map(([spell, scheme, between]) => spell(scheme, HEAD + between + TAIL))

const shows = (text: string): boolean => text.includes(TAIL) || text.includes(HEAD)

test.each([
  ['postgres://ana:hunter2Zq@db.internal:5433/shop?sslmode=require', 'postgres://db.internal:5433/shop'],
  ['https://api.example.com/v1', 'https://api.example.com/v1'],
  ['http://127.0.0.1:4310', 'http://127.0.0.1:4310'],
  ['s3://files?endpoint=http://127.0.0.1:9000', 's3://files?endpoint=http://127.0.0.1:9000'],
  ['postgres:/ana:hunter2Zq@db.internal/shop', '(unreadable address)'],
  ['localhost:4310', '(unreadable address)'],
])('%s is shown as %s', (text, shown) => expect(showAddress(text)).toBe(shown))

test('no spelling of an address shows a part of its password', () => {
  fc.assert(
    fc.property(addresses, (address) =>
      [showAddress, describeUrl, describeBucket].every((show) => !shows(show(address))),
    ),
    { numRuns: 2000 },
  )
})

describe('a command that gets an address', () => {
  const { path: cwd, remove } = temporary()
  afterAll(remove)
  beforeAll(() => {
    mkdirSync(join(cwd, 'agents'))
    writeFileSync(join(cwd, 'svc.config.yaml'), 'workspace: acme\n')
  })

  /** Every way by which a person gives an address to a command; another way is one more line. */
  const WAYS: readonly ((address: string) => {
    readonly argv: readonly string[]
    readonly env?: Record<string, string>
  })[] = [
    (address) => ({ argv: ['lint'], env: { SVC_STORE: address } }),
    (address) => ({ argv: ['doctor', 'project', 'store'], env: { SVC_STORE: address } }),
    (address) => ({ argv: ['serve', '--port', '0', '--store', address, '--timeout', '1s'] }),
    (address) => ({ argv: ['store', 'migrate', '--store', address, '--timeout', '1s'] }),
    (address) => ({ argv: ['store', 'migrate', '--storage', address], env: { SVC_STORE: 'postgres:/x' } }),
    (address) => ({ argv: ['store', 'copy', 'sqlite:', address, '--timeout', '1s'] }),
    (address) => ({ argv: ['runs', 'list', '--url', address, '--timeout', '1s'], env: { SVC_API_KEY: 'svc_x' } }),
    (address) => ({ argv: ['health'], env: { SVC_URL: address } }),
    (address) => ({ argv: ['api', 'GET', '/v1/runs'], env: { SVC_URL: address, SVC_API_KEY: 'svc_x' } }),
    (address) => ({ argv: ['config', 'list'], env: { SVC_URL: address } }),
    (address) => ({ argv: ['inbox', '--timeout', '1s'], env: { SVC_HOST: address, SVC_OPERATOR_KEY: 'svc_op' } }),
    (address) => ({ argv: ['doctor', 'proxy'], env: { HTTPS_PROXY: address } }),
    (address) => ({ argv: ['lint', '--debug'], env: { SVC_URL: address } }),
  ]

  /** Refuses at once, as a machine without a network does. */
  const fetch: typeof globalThis.fetch = async (input) => {
    throw new TypeError(`fetch failed for ${new Request(input instanceof Request ? input.url : input).url}`)
  }

  test('prints no part of its password, whatever else it says', async () => {
    for (const way of WAYS)
      for (const spell of SPELLINGS) {
        const { argv, env } = way(spell('postgres', HEAD + TAIL))
        const http = way(spell('http', `${HEAD}/${TAIL}`))
        for (const each of [{ argv, env }, http]) {
          const { stdout, stderr } = await svc(each.argv, { cwd, fetch, env: { HOME: cwd, ...each.env } })
          expect([each.argv.slice(0, 2), shows(stdout + stderr) ? stdout + stderr : '']).toEqual([
            each.argv.slice(0, 2),
            '',
          ])
        }
      }
  })
})
