/** What a log of checkpoints has signed can not be written anew without being seen. Source: docs/design/audit.md#checkpoints */
import { execFileSync } from 'node:child_process'
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
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createMerkleTree } from '../../src/spec/chain/merkle-tree.ts'
import { connectSqlite } from '../../src/store/sqlite/database/connect.ts'
import { openStorage } from '../blobs/storage.ts'
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

test('an act that was signed and is gone with what it did is found, though the chain is whole', async () => {
  await sign()
  exec('delete from act where seq = (select max(seq) from act); delete from pause_act')
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

test('a receiver is asked with user and password, which no answer repeats, and its own answer may have no end', async () => {
  const asked: (string | undefined)[] = []
  let status = 200
  const receiver = createServer(({ headers }, response) => {
    asked.push(headers.authorization)
    response.writeHead(status).write('…')
  })
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening))
  const { port } = receiver.address() as AddressInfo
  const post = () => sign('--post', `http://witness:pa55%2Fword@127.0.0.1:${port}/svc?key=s3cret`, '--json')
  expect(await post()).toMatchObject({ code: 0 })
  status = 302
  const { code, text } = await post()
  expect([code, JSON.parse(text)]).toMatchObject([
    1,
    { copies: [{ to: `http://127.0.0.1:${port}/svc`, failure: 'HTTP 302, a redirect, which is not followed' }] },
  ])
  expect(text).not.toMatch(/pa55|s3cret/)
  expect(asked).toEqual(Array(2).fill(`Basic ${Buffer.from('witness:pa55/word').toString('base64')}`))
  receiver.closeAllConnections()
  await new Promise((closed) => receiver.close(closed))
})

test('a server that asks for checkpoints pauses everything until one has reached all its copies', async () => {
  appendFileSync(join(cwd, 'svc.config.yaml'), '\naudit: { checkpoint_within: 15m }\n')
  let status = 507
  const receiver = createServer(
    (request, response) => void request.resume().on('end', () => response.writeHead(status).end()),
  )
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  await svc('agents', 'resume', 'acme.refund-desk')
  const paused = async () => JSON.parse((await svc('stop', '--list', '--json')).text) as { items: object[] }
  const held = {
    items: [{ kind: 'all', by: 'server:checkpoints', reason: 'no checkpoint of the audit was ever reported' }],
  }
  expect(await paused()).toMatchObject(held)
  // Without a word to the server, to one that is full, and to one that is away.
  expect(await sign()).toMatchObject({ code: 0 })
  expect(await sign('--report', '--post', url)).toMatchObject({ code: 1 })
  expect(await sign('--report', '--post', 'http://127.0.0.1:1/')).toMatchObject({ code: 1 })
  expect(await paused()).toMatchObject(held)
  const resumed = await svc('stop', '--all', '--resume')
  expect(resumed.text).toBe('everything is not paused; nothing has changed\nstill paused: everything\n')
  expect((await svc('doctor')).text).toContain('svc audit checkpoint LOG --key FILE --report')
  status = 200
  const { code, text } = await sign('--report', '--post', url, '--json')
  expect([code, JSON.parse(text)]).toMatchObject([0, { copies: [{ to: url, failure: null }], reported: true }])
  expect(await paused()).toMatchObject({ items: [] })
  await new Promise((closed) => receiver.close(closed))
})

describe('a bucket', () => {
  test('gets each part of the log once, also those that it missed, and has the log', async () => {
    const opened = await openStorage()
    const { endpoint, bucket, credentials } = opened.storage
    vi.stubEnv('AWS_ACCESS_KEY_ID', credentials.accessKeyId)
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', credentials.secretAccessKey)
    const url = `s3://${bucket}/audit/desk?endpoint=${endpoint}`
    const keys = [1, 2, 3].map((size) => `audit/desk/${String(size).padStart(16, '0')}.log`)
    const there = async () => {
      const found = await Promise.all(keys.map((each) => opened.blobs.get(each)))
      return found.map((bytes) => bytes && Buffer.from(bytes).toString()).join('')
    }
    // The first checkpoint was signed without it.
    expect(await sign('--s3', url)).toMatchObject({ code: 0 })
    const log = readFileSync(join(cwd, 'audit.log'), 'utf8')
    expect(await there()).toBe(log)
    await svc('agents', 'resume', 'acme.refund-desk')
    const away = await sign('--s3', `s3://${bucket}/audit/desk?endpoint=http://127.0.0.1:1`)
    expect(away).toMatchObject({ code: 1, text: expect.stringContaining('did not take the checkpoint: ') as string })
    expect(await there()).toBe(log)
    expect(await sign('--s3', url)).toMatchObject({ code: 0 })
    expect(await there()).toBe(readFileSync(join(cwd, 'audit.log'), 'utf8'))
    expect(await there()).not.toBe(log)
    // Another log, with objects of the same names.
    renameSync(join(cwd, 'audit.log'), join(cwd, 'old.log'))
    expect(await sign('--s3', url)).toMatchObject({
      code: 1,
      text: expect.stringContaining('.log is there, and of another log: name another prefix for this one.') as string,
    })
    vi.unstubAllEnvs()
    await opened.close()
  })

  test('is asked to keep its objects, and named where it does not', async () => {
    const locks: (readonly [mode: unknown, until: unknown, checksum: unknown])[] = []
    let isLocking = true
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        const { headers, method } = request
        if (method !== 'PUT') return response.writeHead(404).end()
        locks.push([
          headers['x-amz-object-lock-mode'],
          headers['x-amz-object-lock-retain-until-date'],
          headers['x-amz-checksum-sha256'],
        ])
        const why = '<Error><Code>InvalidRequest</Code><Message>Bucket is missing Object Lock.</Message></Error>'
        return isLocking ? response.writeHead(200).end() : response.writeHead(400).end(why)
      })
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'key')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
    const url = `s3://audit?endpoint=http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const before = Date.now()
    expect(await sign('--s3', url, '--lock', '10d')).toMatchObject({ code: 0 })
    expect(locks).toHaveLength(2)
    for (const [mode, until, checksum] of locks) {
      expect([mode, typeof checksum]).toEqual(['COMPLIANCE', 'string'])
      expect(Date.parse(String(until)) - before).toBeGreaterThanOrEqual(10 * 86_400_000 - 1000)
    }
    isLocking = false
    const refused = await sign('--s3', url, '--lock', '10d')
    expect(refused).toMatchObject({ code: 1, text: expect.stringContaining('InvalidRequest: Bucket is') as string })
    vi.unstubAllEnvs()
    await new Promise((closed) => server.close(closed))
  })

  test.each([
    [['--post', 'witness.example'], '--post takes an address of the form https://host/path'],
    [['--s3', 'https://bucket'], 's3://bucket/prefix'],
    [['--s3', 's3://bucket', '--lock', '10'], '--lock takes a duration'],
    [['--lock', '10d'], '--lock is for the objects of --s3'],
  ])('%j is refused before anything is signed', async (options, why) => {
    const before = readFileSync(join(cwd, 'audit.log'), 'utf8')
    expect(await sign(...options)).toMatchObject({ code: 2, text: expect.stringContaining(why) as string })
    expect(readFileSync(join(cwd, 'audit.log'), 'utf8')).toBe(before)
  })
})

test('a repository gets a commit of each checkpoint, and what its remote missed with the next one', async () => {
  const git = (at: string, ...args: readonly string[]) =>
    execFileSync('git', ['-C', at, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const [remote, clone] = [join(cwd, 'remote.git'), join(cwd, 'clone')]
  git(cwd, 'init', '--quiet', '--bare', '--initial-branch=main', remote)
  git(cwd, 'clone', '--quiet', remote, clone)
  const commit = (...more: readonly string[]) =>
    svc('audit', 'checkpoint', 'clone/svc.log', '--key', 'audit.pem', '--git', ...more)
  expect(await commit()).toMatchObject({ code: 0 })
  const pushed = () => git(remote, 'show', 'main:svc.log')
  const log = () => readFileSync(join(clone, 'svc.log'), 'utf8')
  expect(pushed()).toBe(log())
  const first = log()
  renameSync(remote, `${remote}.away`)
  await svc('agents', 'resume', 'acme.refund-desk')
  expect(await commit()).toMatchObject({ code: 1, text: expect.stringContaining('git did not take') as string })
  renameSync(`${remote}.away`, remote)
  expect(pushed()).toBe(first)
  // Nothing is new, and the remote gets what it missed.
  expect(await commit()).toMatchObject({ code: 0 })
  expect(pushed()).toBe(log())
  expect(log().length).toBeGreaterThan(first.length)
  // `*.log` is ignored in many repositories.
  writeFileSync(join(clone, '.gitignore'), '*.log\n')
  await svc('agents', 'pause', 'acme.refund-desk', '--reason', 'audit')
  expect(await commit()).toMatchObject({ code: 0 })
  expect(pushed()).toBe(log())
  expect(git(remote, 'log', '--format=%an %s', 'main').trim().split('\n')).toEqual([
    'svc audit Checkpoint of svc.log',
    'svc audit Checkpoint of svc.log',
    'svc audit Checkpoint of svc.log',
  ])
  // One that the repository ignores has a copy all the same.
  expect(await svc('audit', 'checkpoint', 'clone/other.log', '--key', 'audit.pem', '--git')).toMatchObject({ code: 0 })
  expect(git(remote, 'show', 'main:other.log')).toBe(readFileSync(join(clone, 'other.log'), 'utf8'))
  git(clone, 'remote', 'remove', 'origin')
  const alone = await commit()
  expect(alone).toMatchObject({ code: 1, text: expect.stringContaining('No configured push destination') as string })
  expect(await sign('--git')).toMatchObject({ code: 1, text: expect.stringContaining('not a git') as string })
  expect(await commit('--json')).toMatchObject({
    code: 1,
    text: expect.stringContaining('"copies":[{"to":"git","failure":"fatal: No configured') as string,
  })
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
  expect((await svc('agents', 'resume', AGENT)).code).not.toBe(70)
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
