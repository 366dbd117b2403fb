/** What a log of checkpoints has signed can not be written anew without being seen. Source: docs/design/audit.md#checkpoints */
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createMerkleTree } from '../../src/spec/chain/merkle-tree.ts'
import { connectSqlite } from '../../src/store/sqlite/database/connect.ts'
import { svc as runSvc, temporary } from './recording-io.ts'

const { path: parent, remove } = temporary()
afterAll(remove)
const AGENT = 'acme.refund-desk@1.0.0'

let cwd: string
let count = 0
const svc = async (...argv: readonly string[]) => {
  const { code, stdout, stderr } = await runSvc(argv, { cwd, env: { XDG_CONFIG_HOME: join(parent, 'user') } })
  return { code, text: `${stdout}${stderr}` }
}
const sign = (...more: readonly string[]) => svc('audit', 'checkpoint', 'audit.log', '--key', 'audit.pem', ...more)
const check = (log = 'audit.log') => svc('audit', 'verify', 'audit.tar', '--log', log, '--trust', 'keys')
/** Trusts the key of a checkpoint. */
const trust = ({ text }: { readonly text: string }): void =>
  appendFileSync(join(cwd, 'keys'), `${/line: (\S+)/.exec(text)?.[1] ?? ''}\n`)
const exec = (sql: string): void => {
  const db = connectSqlite(join(cwd, '.svc/data.db'), {})
  db.exec(sql)
  db.close()
}

/** A workspace with some acts, of which the first ones are signed. */
beforeEach(async () => {
  cwd = join(parent, `desk-${++count}`)
  await runSvc(['init', `desk-${count}`], { cwd: parent, env: {} })
  await svc('publish', '--deploy')
  trust(await sign())
  await svc('agents', 'pause', 'acme.refund-desk', '--reason', 'audit')
})

test('each checkpoint signs what is new, and an export agrees with all of them', async () => {
  const before = readFileSync(join(cwd, 'audit.log'), 'utf8')
  expect((await sign()).text).toContain('1 head → audit.log, 2 signed')
  expect((await sign()).text).toContain('0 heads → audit.log, 2 signed')
  expect(readFileSync(join(cwd, 'audit.log'), 'utf8').startsWith(before)).toBe(true)
  await svc('audit', 'export', 'audit.tar')
  const { code, text } = await check()
  expect([code, text]).toEqual([0, expect.stringContaining('2 checkpoints, signed up to act') as string])
  expect(statSync(join(cwd, 'audit.pem')).mode & 0o777).toBe(0o600)
})

test('an act that was signed and is gone is found, though the chain is whole', async () => {
  await sign()
  exec('delete from act where seq = (select max(seq) from act)')
  await svc('audit', 'export', 'audit.tar')
  expect((await svc('audit', 'verify', 'audit.tar')).code).toBe(0)
  expect(await check()).toEqual({
    code: 1,
    text: expect.stringMatching(
      /^checkpoint: Act \d+ is another one than the one that was signed, or is gone\.\n$/,
    ) as string,
  })
  expect(await sign()).toMatchObject({ code: 1 })
})

test('a key that is lost or changed: what it signs counts once it is trusted', async () => {
  renameSync(join(cwd, 'audit.pem'), join(cwd, 'old.pem'))
  const renewed = await sign()
  await svc('audit', 'export', 'audit.tar')
  expect((await check()).text).toMatch(/^checkpoint: No trusted key has signed the checkpoint of 2 lines\./)
  trust(renewed)
  expect((await check()).code).toBe(0)
})

test.each<[string, (log: string) => string]>([
  ['a forged root', (log) => log.replace(/\\n([A-Za-z0-9+/]{43}=)\\n\\n/, `\\n${'A'.repeat(43)}=\\n\\n`)],
  ['a forged head', (log) => log.replace(/"hash":"[0-9a-f]/, '"hash":"x')],
  ['a line removed', (log) => log.slice(log.indexOf('\n') + 1)],
  ['a line that is none', (log) => `{}\n${log}`],
  [
    'a forged signature',
    (log) => log.replace(/(— \S+ [A-Za-z0-9+/]{20})./, '$1A').replace(/(— \S+ [A-Za-z0-9+/]{30})./, '$1B'),
  ],
  ['no checkpoint', () => ''],
])('%s in the log is refused', async (_, forge) => {
  await svc('audit', 'export', 'audit.tar')
  writeFileSync(join(cwd, 'forged.log'), forge(readFileSync(join(cwd, 'audit.log'), 'utf8')))
  expect(await check('forged.log')).toMatchObject({ code: 1, text: expect.stringMatching(/^checkpoint: /) as string })
})

test('lines that a full disk cut off are written anew', async () => {
  copyFileSync(join(cwd, 'audit.log'), join(cwd, 'first.log'))
  await sign()
  const whole = readFileSync(join(cwd, 'audit.log'), 'utf8')
  const { size } = statSync(join(cwd, 'first.log'))
  for (const cut of [size + 1, size + 40, whole.length - 5]) {
    truncateSync(join(cwd, 'audit.log'), cut)
    expect(await sign()).toMatchObject({ code: 0 })
    expect(readFileSync(join(cwd, 'audit.log'), 'utf8')).toBe(whole)
  }
})

test('a receiver that is away is named, and the next checkpoint covers what it missed', async () => {
  const notes: string[] = []
  let status = 503
  const receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => {
      if (status === 200) notes.push(body)
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const refused = await sign('--post', url)
  expect(refused).toMatchObject({
    code: 1,
    text: expect.stringContaining('did not take the checkpoint: HTTP 503.') as string,
  })
  status = 200
  expect(await sign('--post', url)).toMatchObject({ code: 0 })
  expect(notes).toHaveLength(1)
  expect(notes[0]).toMatch(/^svc\/\S+\n2\n\S+\n\n— svc\/\S+ \S+\n$/)
  await new Promise((closed) => receiver.close(closed))
})

test('a key that others may read, or that is none, is refused', async () => {
  chmodSync(join(cwd, 'audit.pem'), 0o644)
  expect(await sign()).toMatchObject({
    code: 2,
    text: expect.stringContaining('others may read it: chmod 600') as string,
  })
  writeFileSync(join(cwd, 'audit.pem'), 'no key')
  chmodSync(join(cwd, 'audit.pem'), 0o600)
  expect(await sign()).toMatchObject({ code: 2, text: expect.stringContaining('no private key of Ed25519') as string })
  expect((await svc('agents', 'unpause', AGENT)).code).not.toBe(70)
})

test('the tree is that of RFC 6962', () => {
  const hash = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
  /** By the definition: split at the largest power of two below the size. */
  const rootOf = (leaves: readonly string[]): Buffer => {
    const [only] = leaves
    if (only === undefined) return hash()
    if (leaves.length === 1) return hash(Buffer.of(0), Buffer.from(only))
    let half = 1
    while (half * 2 < leaves.length) half *= 2
    return hash(Buffer.of(1), rootOf(leaves.slice(0, half)), rootOf(leaves.slice(half)))
  }
  const tree = createMerkleTree()
  const leaves: string[] = []
  for (let size = 0; size < 70; size++) {
    expect(tree.root()).toBe(rootOf(leaves).toString('base64'))
    leaves.push(`leaf ${size}`)
    tree.add(`leaf ${size}`)
  }
  // The root of no leaves, as RFC 6962 says it: the hash of nothing.
  expect(createMerkleTree().root()).toBe('47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=')
})
