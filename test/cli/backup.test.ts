/** What is kept can be carried away, brought back and forgotten. */
import { execFileSync } from 'node:child_process'
import { createReadStream, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { lockDirectory } from '../../src/store/sqlite/database/lock.ts'
import { going, svc as runSvc, temporary, type Going, type Ran, type WorldOptions } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
const svc = (argv: readonly string[], options: Omit<WorldOptions, 'cwd'> = {}): Promise<Ran> =>
  runSvc(argv, { cwd, ...options })
const json = async <T>(argv: readonly string[]): Promise<T> => JSON.parse((await svc([...argv, '--json'])).stdout) as T
const archive = join(parent, 'shop.tgz')

let server: Going | undefined

beforeAll(async () => {
  await runSvc(['init', 'shop', '--full'], { cwd: parent })
  await json(['publish', '--deploy'])
  await svc(['triggers', 'create', 'acme.refund-desk', '--type', 'api'])
  server = going(['serve', '--port', '0', '--json'], { cwd })
  await server.line(/"ready"/)
  await svc(['run', 'acme.refund-desk', 'order=A-1042', 'amount=60'])
  writeFileSync(join(cwd, 'note.txt'), 'paid twice\n')
  await svc(['files', 'upload', 'note.txt'])
})

afterAll(async () => {
  await server?.end()
  remove()
})

describe('while a server runs', () => {
  test('a backup is one file for its owner, and says what it holds', async () => {
    const made = await json<{ bytes: number; digest: string }>(['backup', archive])
    expect(made).toEqual({
      file: archive,
      bytes: statSync(archive).size,
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
      runs: 2,
      objects: 1,
    })
    expect(statSync(archive).mode & 0o077).toBe(0)
    expect((await svc(['backup', join(parent, 'again.tgz')])).stdout).toMatch(
      /^backed up 2 runs, 1 object, [\d.]+ KiB → .*again\.tgz \(server kept running\)\n$/,
    )
    expect(readdirSync(join(cwd, '.svc')).filter((name) => name.startsWith('backup'))).toEqual([])
  })

  test('a backup into a pipe passes through it, and the pipe stays', async () => {
    const pipe = join(parent, 'pipe')
    execFileSync('mkfifo', [pipe])
    const reading = buffer(createReadStream(pipe))
    const { bytes } = await json<{ bytes: number }>(['backup', pipe])
    expect((await reading).length).toBe(bytes)
    expect(statSync(pipe).isFIFO()).toBe(true)
  })

  test.each([[['reset', '--all', '--yes']], [['reset', '--yes']], [['restore', archive, '--force', '--yes']]])(
    '%j is refused',
    async (argv) => {
      expect(await svc([...argv, '--json'])).toMatchObject({ code: 6, stdout: '' })
    },
  )
})

describe('restoring', () => {
  const other = join(parent, 'other')

  test('brings runs and files back into an empty directory', async () => {
    const { stdout, stderr } = await runSvc(['restore', archive, '--data', other], { cwd: parent })
    expect(stdout).toBe(`restored 2 runs, 1 object of shop → ${other}\n`)
    expect(stderr).toBe(
      '0 open runs and 1 trigger are held, since they may have gone on after the backup:  svc restore --plan   svc restore --resume\n',
    )
    expect(await json(['runs', 'list', '--data', other])).toEqual(await json(['runs', 'list']))
    const { items } = await json<{ items: { filename: string }[] }>(['files', 'list', '--data', other])
    await svc(['files', 'get', items[0]!.filename, '-o', join(parent, 'back.txt'), '--data', other])
    expect(readFileSync(join(parent, 'back.txt'), 'utf8')).toBe('paid twice\n')
    expect(readdirSync(other).filter((name) => name.startsWith('restore'))).toEqual([])
  })

  test('over what is there needs --force and a yes', async () => {
    const again = ['restore', archive, '--data', other]
    expect(await runSvc(again, { cwd: parent })).toMatchObject({ code: 6, stdout: '' })
    expect(await runSvc([...again, '--force'], { cwd: parent })).toMatchObject({ code: 2, stdout: '' })
    expect(await runSvc([...again, '--force'], { cwd: parent, tty: true, answers: [false] })).toMatchObject({
      code: 0,
      stdout: '',
      asked: [`Replace what is in ${other} (2 runs and 1 file are lost)?`],
    })
    expect(await runSvc([...again, '--force', '--yes'], { cwd: parent })).toMatchObject({ code: 0 })
  })

  test.each([
    ['no archive at all', () => Buffer.from('no archive')],
    ['half an archive', () => readFileSync(archive).subarray(0, 2000)],
  ])('%s changes nothing', async (_, bytes) => {
    writeFileSync(join(parent, 'bad.tgz'), bytes())
    const before = await json(['runs', 'list', '--data', other])
    const refused = await runSvc(['restore', 'bad.tgz', '--data', other, '--force', '--yes', '--json'], { cwd: parent })
    expect([refused.code, refused.stdout, JSON.parse(refused.stderr)]).toMatchObject([
      1,
      '',
      { error: { code: 'backup_invalid' } },
    ])
    expect(await json(['runs', 'list', '--data', other])).toEqual(before)
  })
})

describe('what came from a backup', () => {
  const held = join(parent, 'held')
  const at = ['--data', held]

  test('is held until it is released, all or some of it', async () => {
    const { userTaskId, runId } = await waiting()
    await svc(['backup', join(parent, 'open.tgz')])
    await svc(['reject', userTaskId, '--no-reason'])
    const restored = await json<object>(['restore', join(parent, 'open.tgz'), ...at])
    expect(restored).toMatchObject({ held: { runs: 1, triggers: 1 } })
    type Plan = Record<'runs' | 'triggers', Record<string, unknown>[]>
    const { restore, ...plan } = await json<Plan & { restore: object }>(['restore', '--plan', ...at])
    const time = expect.any(String) as string
    expect(restore).toEqual({ at: time, backedUpAt: time, releasedAt: null, asksUntil: null })
    expect(plan).toEqual({
      runs: [
        {
          runId,
          agent: 'acme.refund-desk',
          status: 'WaitingForHITL',
          startedAt: expect.any(String) as string,
          heldSince: expect.any(String) as string,
          mayRepeat: [
            {
              runId,
              agent: 'acme.refund-desk',
              what: 'call',
              tool: 'acme.refunds',
              sideEffectClass: 'non_idempotent_write',
              idempotencyKey: expect.stringContaining(`svc:${runId}:`) as string,
              onRelease: 'asked',
            },
          ],
        },
      ],
      triggers: [
        {
          triggerId: expect.any(String) as string,
          agent: 'acme.refund-desk',
          type: 'api',
          name: 'api',
          nextAt: null,
        },
      ],
    })
    expect((await svc(['restore', '--plan', ...at])).stdout).toBe(
      `${runId}\tacme.refund-desk\tWaitingForHITL\tacme.refunds (non_idempotent_write): a person is asked\n` +
        `${plan['triggers']![0]!['triggerId'] as string}\tacme.refund-desk\tapi api\ttakes starts\n`,
    )
    // What is named alone, in the plan and in the question.
    expect((await svc(['restore', '--plan', '--run', runId, ...at])).stdout).toBe(
      `${runId}\tacme.refund-desk\tWaitingForHITL\tacme.refunds (non_idempotent_write): a person is asked\n`,
    )
    const triggerId = plan['triggers']![0]!['triggerId'] as string
    const asked = await svc(['restore', '--resume', '--trigger', triggerId, ...at], { tty: true, answers: [false] })
    expect(asked.stderr).toContain('takes starts')
    expect(asked.stderr).not.toContain('a person is asked')

    const [run] = (await json<{ items: object[] }>(['runs', 'list', '--waiting', ...at])).items
    expect(run).toMatchObject({ runId, hold: { reason: 'restored' } })

    expect(await svc(['restore', '--resume', ...at])).toMatchObject({ code: 2, stdout: '' })
    expect(await svc(['restore', '--resume', ...at], { tty: true, answers: [false] })).toMatchObject({
      code: 0,
      asked: ['Release all of it? Calls made after the backup may then be made again.'],
    })
    expect(await json(['restore', '--resume', '--run', runId, '--yes', ...at])).toEqual({
      runs: 1,
      triggers: 0,
      asksUntil: null,
      known: 0,
    })
    expect(await json(['restore', '--resume', '--agent', 'acme.refund-desk', '--yes', ...at])).toEqual({
      runs: 0,
      triggers: 1,
      asksUntil: null,
      known: 0,
    })
    // The store itself is held until everything is released.
    writeFileSync(join(cwd, 'paid.txt'), 'refund:A-7\nrefund:A-8\n')
    const whole = await svc(['restore', '--resume', '--happened', 'paid.txt', '--ask-for', '2d', '--yes', ...at])
    expect(whole.stdout).toBe('released 0 runs, 0 triggers\n2 effect keys taken for what is known to have happened\n')
    expect(whole.stderr).toMatch(/^Until \S+ a person is asked before an unsafe call, or one with an effect key,/)
    expect(await svc(['restore', '--resume', '--ask-for', '0', ...at])).toMatchObject({
      stdout: 'Nothing is held.\n',
      stderr: '',
    })
    expect(await json(['runs', 'list', '--waiting', ...at])).not.toHaveProperty('items.0.hold')
  })

  test.each([
    [['restore']],
    [['restore', 'x.tgz', '--resume']],
    [['restore', '--plan', '--resume']],
    [['restore', 'x.tgz', '--run', '0f0f0f']],
    [['restore', '--plan', '--ask-for', '1d']],
    [['restore', '--resume', '--ask-for', 'long']],
    [['restore', '--resume', '--run', '0f0f0f', '--ask-for', '1d']],
  ])('%j is refused', async (argv) => {
    expect(await svc([...argv, ...at])).toMatchObject({ code: 2, stdout: '' })
  })
})

async function waiting(): Promise<{ readonly userTaskId: string; readonly runId: string }> {
  await svc(['run', 'acme.refund-desk', 'order=A-1042', 'amount:=180', '--show', 'none'])
  const { items } = await json<{ items: { userTaskId: string; runId: string }[] }>(['inbox'])
  return items[0]!
}

describe('resetting', () => {
  beforeAll(async () => {
    await server?.end()
    server = undefined
  })

  test('without a terminal names what would be lost and the flag', async () => {
    expect(await svc(['reset', '--all'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr:
        'error[usage]: reset --all deletes 4 runs and 1 file, versions, triggers and keys; not interactive.\n  fix:  svc reset --all --yes\n',
    })
  })

  test('forgets runs and keeps the rest', async () => {
    expect(await svc(['reset'], { tty: true, answers: [false] })).toMatchObject({
      asked: ['Delete 4 runs?'],
      stdout: '',
    })
    await svc(['audit', 'export', 'before.tar'])
    expect((await svc(['reset', '--yes'])).stdout).toBe(`forgot 4 runs in ${join(cwd, '.svc')}\n`)
    expect(await json(['runs', 'list'])).toEqual({ items: [], total: 0 })
    expect(await json(['sessions', 'list'])).toEqual({ items: [], total: 0 })
    expect(await json(['agents', 'list'])).toMatchObject({ total: 2 })
    expect(await json(['files', 'list'])).toMatchObject({ total: 1 })
    expect(await json(['log', 'acts', '--kind', 'sessions'])).toMatchObject({
      items: [{ by: 'operator:operator', channel: 'local', subject: 'all 2 sessions and the records of their calls' }],
    })
    await svc(['audit', 'export', 'after.tar'])
    expect(await json(['audit', 'verify', 'after.tar', '--extends', 'before.tar'])).toMatchObject({ ok: true, gone: 2 })
  })

  test('everything asks for the name of the project', async () => {
    expect(await svc(['reset', '--all'], { tty: true, answers: ['sho'] })).toMatchObject({ code: 0, stdout: '' })
    expect(await json(['agents', 'list'])).toMatchObject({ total: 2 })
    await svc(['reset', '--all'], { tty: true, answers: ['shop'] })
    expect(existsSync(join(cwd, '.svc/data.db'))).toBe(false)
    expect(existsSync(join(cwd, '.svc/objects'))).toBe(false)
    expect((await svc(['reset', '--all', '--yes'])).stdout).toBe(`nothing is kept in ${join(cwd, '.svc')}\n`)
  })

  test('outside of a project touches nothing', async () => {
    const nowhere = join(parent, 'nowhere')
    mkdirSync(nowhere)
    expect(await runSvc(['reset', '--all', '--yes'], { cwd: nowhere })).toMatchObject({ code: 2, stdout: '' })
    expect(readdirSync(nowhere)).toEqual([])
  })
})

test('svc serve waits for a store that another command holds for a moment', async () => {
  const held = lockDirectory(join(cwd, '.svc'))
  const waiting = going(['serve', '--port', '0', '--json'], { cwd })
  await vi.waitFor(() => expect(waiting.world.stderr()).toContain('waiting up to 10 s'), 50_000)
  held.release()
  expect(await waiting.line(/"ready"/)).toContain('"url"')
  await waiting.end()
})

test('a server that ends during a backup ends it with exit 8 and leaves no archive', async () => {
  const socket = join(parent, 'dying.sock')
  const dying = createServer((request, response) => {
    response.writeHead(200, { 'content-type': request.url === '/backup' ? 'application/gzip' : 'application/json' })
    if (request.url !== '/backup') return void response.end('{}')
    response.write('half of it', () => response.destroy())
  }).listen(socket)
  await once(dying, 'listening')
  const data = join(parent, 'dying')
  mkdirSync(data, { mode: 0o700 })
  writeFileSync(
    join(data, 'server.json'),
    JSON.stringify({ pid: process.pid, url: 'http://127.0.0.1:1', uploadUrl: '', adminSocket: socket }),
  )
  const file = join(parent, 'broken.tgz')
  const { code, stdout, stderr } = await svc(['backup', file, '--data', data])
  dying.close()
  expect([code, stdout, stderr.split('\n')[0]]).toEqual([
    8,
    '',
    'error[backup_broken]: The server ended before the backup was complete; the received part cannot be restored.',
  ])
  expect(readdirSync(parent).filter((name) => name.startsWith('broken'))).toEqual([])
})
