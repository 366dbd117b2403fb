/** What an operator looks at and looks after: agents, sessions, files, keys. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { going, svc as runSvc, temporary, type Going, type Ran, type WorldOptions } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
const svc = (argv: readonly string[], options: Omit<WorldOptions, 'cwd'> = {}): Promise<Ran> =>
  runSvc(argv, { cwd, ...options })
const json = async <T>(argv: readonly string[]): Promise<T> => JSON.parse((await svc([...argv, '--json'])).stdout) as T

let server: Going

beforeAll(async () => {
  await runSvc(['init', 'shop'], { cwd: parent })
  await json(['publish', '--deploy'])
  await svc(['triggers', 'create', 'acme.refund-desk', '--type', 'api'])
  server = going(['serve', '--port', '0', '--json'], { cwd })
  await server.line(/"ready"/)
  await svc(['run', 'acme.refund-desk', 'order=A-1042', 'amount=60'])
  await svc(['run', 'acme.refund-desk', 'order=A-1042', 'amount=180'])
})

afterAll(async () => {
  await server.end()
  remove()
})

const UUID = '[0-9a-f]{8}-[0-9a-f-]{27}'

describe('agents', () => {
  test('are listed with what they did and what waits', async () => {
    const { items } = await json<{ items: { name: string }[] }>(['agents', 'list'])
    expect(items.find(({ name }) => name === 'acme.refund-desk')).toMatchObject({
      deployed: { versionLabel: '1.0.0' },
      triggers: ['api'],
      runsToday: 2,
      waiting: 1,
    })
  })

  test('one is shown with a line that runs it and one that calls it', async () => {
    const { stdout } = await svc(['agents', 'show', 'acme.refund-desk'])
    const [run, curl] = stdout.trimEnd().split('\n').slice(-2)
    expect(run).toBe('run\tsvc run acme.refund-desk order=A-1042 amount:=180')
    expect(curl).toMatch(
      new RegExp(
        String.raw`^curl\tcurl -H "X-API-Key: \$SVC_API_KEY" -H "Content-Type: application/json" -d '\{"input":\{"order":"A-1042","amount":180\}\}' http://127\.0\.0\.1:\d+/v1/agents/${UUID}/runs$`,
      ),
    )
    expect(await svc(['agents', 'show', 'acme.refund-dsk'])).toMatchObject({ code: 5, stdout: '' })
  })
})

describe('sessions', () => {
  test('are listed as the API does, those of all agents too', async () => {
    const of = await json<{ items: object[]; total: number }>(['sessions', 'list', '--agent', 'acme.refund-desk'])
    expect(of.total).toBe(2)
    expect(of.items[0]).not.toHaveProperty('agent')
    const all = await json<{ items: object[] }>(['sessions', 'list'])
    expect(all.items[0]).toMatchObject({ agent: 'acme.refund-desk', status: 'WaitingForHITL' })
  })

  test('are narrowed to a version, by its label', async () => {
    const list = ['sessions', 'list', '--agent', 'acme.refund-desk', '--version']
    expect(await json([...list, '1.0.0'])).toMatchObject({ total: 2 })
    expect(await svc([...list, '9.0.0'])).toMatchObject({ code: 5, stdout: '' })
  })

  test('--all follows the pages, a line of JSON for each session', async () => {
    const { stdout } = await svc(['sessions', 'list', '--all', '--take', '1'])
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { status: string }).status),
    ).toEqual(['WaitingForHITL', 'Completed'])
  })

  test('one is shown as the tree of its runs, by id, by ending or by its run', async () => {
    const { items } = await json<{ items: { id: string }[] }>(['sessions', 'list'])
    const id = items[1]!.id
    const shown = await svc(['sessions', 'show', id])
    expect(shown.stdout).toMatch(
      new RegExp(
        `^${id} Completed\n└─ ${UUID} acme\\.refund-desk  Completed  [\\d.]+ m?s\n   └─ ${UUID} acme\\.fraud-check  Completed  [\\d.]+ m?s  depth 1\n$`,
      ),
    )
    expect(await json(['sessions', 'show', id.slice(-8)])).toMatchObject({ id, runs: [{ depth: 0 }, { depth: 1 }] })
    expect(await json(['sessions', 'show', '@last-1'])).toMatchObject({ id })
    expect(await svc(['sessions', 'show', 'ffffff'])).toMatchObject({ code: 5, stdout: '' })
    expect(await svc(['sessions', 'show', 'soon'])).toMatchObject({ code: 2, stdout: '' })
  })
})

describe('files', () => {
  test('are uploaded, listed and read back, each with the reference that a run takes', async () => {
    writeFileSync(join(cwd, 'note.txt'), 'paid twice\n')
    const { items } = await json<{ items: { objectKey: string; filename: string }[] }>(['files', 'upload', 'note.txt'])
    const { objectKey, filename } = items[0]!
    expect(items).toEqual([
      {
        objectKey,
        filename,
        mediaType: 'text/plain',
        bytes: 11,
        inputRef: { svcFile: true, filename, mediaType: 'text/plain' },
        messageRef: { svcFile: true, objectKey, filename, mediaType: 'text/plain' },
      },
    ])
    expect(filename).toMatch(new RegExp(`^${UUID}-note\\.txt$`))
    expect(await json(['files', 'list'])).toMatchObject({ items: [{ objectKey, sizeBytes: 11 }], total: 1 })
    await svc(['files', 'get', filename, '-o', 'back.txt'])
    expect(readFileSync(join(cwd, 'back.txt'), 'utf8')).toBe('paid twice\n')
    expect(await svc(['files', 'get', 'nothing'])).toMatchObject({ code: 5, stdout: '' })
  })

  test('from standard input have the name that is given', async () => {
    const piped = await svc(['files', 'upload', '-', '--name', 'a.csv', '--json'], { stdin: 'a,b\n' })
    expect(JSON.parse(piped.stdout)).toMatchObject({ items: [{ bytes: 4, mediaType: 'text/csv' }] })
    expect(await svc(['files', 'upload', '-'], { stdin: 'a' })).toMatchObject({ code: 2, stdout: '' })
  })

  test('that are too large are refused before a byte is sent', async () => {
    expect(await svc(['files', 'upload', 'note.txt', '--max-size', '10B'])).toMatchObject({ code: 2, stdout: '' })
  })

  test('need a key that may upload, where a key is given', async () => {
    const key = (await svc(['keys', 'create', '--agent', 'acme.refund-desk', '--trigger', 'api'])).stdout.trim()
    const refused = await svc(['files', 'upload', 'note.txt', '--json'], { env: { SVC_API_KEY: key } })
    expect([refused.code, refused.stdout]).toEqual([4, ''])
    expect(JSON.parse(refused.stderr)).toMatchObject({
      error: {
        code: 'uploads_not_allowed',
        status: 403,
        hint: 'svc keys create --agent … --trigger … --allow-uploads',
      },
    })
  })
})

test('keys that commands made for themselves are not among the keys when they are over', async () => {
  const names = async (more: string[]): Promise<unknown[]> =>
    (await json<{ items: { name: unknown }[] }>(['keys', 'list', ...more])).items.map(({ name }) => name)
  expect(await names([])).not.toContain('one command')
  expect(await names(['--all'])).toContain('one command')
})

describe('outside of a project', () => {
  const nowhere = join(parent, 'nowhere')
  beforeAll(() => mkdirSync(nowhere))

  test.each([
    [['runs', 'list'], 2, 'no_project'],
    [['keys', 'list'], 2, 'no_project'],
    [['inbox'], 2, 'no_project'],
    [['runs', 'get', '@last'], 4, 'missing_api_key'],
    [['run', 'acme.refund-desk'], 4, 'missing_api_key'],
  ])('%j says what is missing and makes no directory', async (argv, code, name) => {
    const ran = await runSvc([...argv, '--json'], { cwd: nowhere })
    expect([ran.code, ran.stdout]).toEqual([code, ''])
    expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: name } })
    expect(readdirSync(nowhere)).toEqual([])
  })

  test('--data names a directory, which is made', async () => {
    expect(await runSvc(['runs', 'list', '--json', '--data', 'data'], { cwd: nowhere })).toMatchObject({
      code: 0,
      stdout: '{"items":[],"total":0}\n',
    })
    expect(readdirSync(nowhere)).toEqual(['data'])
  })
})
