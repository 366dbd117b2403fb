/** What an operator looks at and looks after: agents, sessions, files, keys. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { waitUntil } from '../wait-until.ts'
import { going, svc as runSvc, temporary, type Going, type Ran, type WorldOptions } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
const svc = (argv: readonly string[], options: Omit<WorldOptions, 'cwd'> = {}): Promise<Ran> =>
  runSvc(argv, { cwd, ...options })
const json = async <T>(argv: readonly string[]): Promise<T> => JSON.parse((await svc([...argv, '--json'])).stdout) as T

let server: Going

beforeAll(async () => {
  await runSvc(['init', 'shop', '--full'], { cwd: parent })
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

  test('on a terminal its input is a table, and the commands stand unbroken below it', async () => {
    const { stdout } = await svc(['agents', 'show', 'acme.refund-desk'], { tty: true })
    const sections = stdout.trimEnd().split('\n\n')
    expect(sections.slice(1, 3)).toEqual([
      [
        'INPUT   TYPE    REQUIRED  ABOUT',
        'order   string  yes       Number of the order. (matches ^[A-Z]-[0-9]{1,8}$)',
        'amount  number  yes       What the customer asks for, in EUR. (more than 0)',
      ].join('\n'),
      'svc run acme.refund-desk order=A-1042 amount:=180',
    ])
    const [key, curl, ...more] = sections[3]!.split('\n').slice(-2)
    expect(key).toBe('export SVC_API_KEY=$(svc keys create --agent acme.refund-desk --trigger api)')
    expect(curl).toMatch(/^curl -H "X-API-Key: \$SVC_API_KEY" .* -d '\{"input":.*\}' http:\/\/127\S+\/runs$/)
    expect(more).toEqual([])
  })
})

describe('sessions', () => {
  test('are listed as the API does, those of all agents too', async () => {
    const of = await json<{ items: object[]; total: number }>(['sessions', 'list', '--agent', 'acme.refund-desk'])
    expect(of.total).toBe(2)
    expect(of.items[0]).not.toHaveProperty('agent')
    expect(of).toHaveProperty('nextCursor', null)
    const page = await json<object>(['sessions', 'list', '--agent', 'acme.refund-desk', '--take', '1'])
    expect(page).toHaveProperty('nextCursor', expect.stringMatching(/^[\w-]{20,}$/))
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

describe('api', () => {
  test('prints the body as it came, filtered where that is asked for', async () => {
    const { runId } = (await json<{ items: { runId: string }[] }>(['runs', 'list', '--waiting'])).items.at(-1)!
    const body = await svc(['api', 'GET', `/v1/runs/${runId}`])
    expect(JSON.parse(body.stdout)).toEqual(await json(['runs', 'get', runId]))
    expect((await svc(['api', 'get', `v1/runs/${runId}`, '--jq', '.status'])).stdout).toBe('"WaitingForHITL"\n')
    expect((await svc(['api', 'GET', '/v1/healthz', '-i'])).stdout).toMatch(
      /^HTTP\/1\.1 200 OK\n(?:[\w-]+: .*\n)+\n\{"status":"ready"\}\n$/,
    )
  })

  test('sends pairs as the body, and ends as the answer says', async () => {
    const { items } = await json<{ items: { runId: string }[] }>(['runs', 'list', '--status', 'Completed'])
    const path = `/v1/runs/${items[0]!.runId}/messages`
    const differs = await svc(['api', 'POST', path, 'runId=other', 'text=hi'])
    expect([differs.code, JSON.parse(differs.stdout)]).toMatchObject([
      2,
      { code: 'validation_failed', details: [{ path: '/runId' }] },
    ])
    expect(await svc(['api', 'GET', '/v1/runs/none'])).toMatchObject({ code: 5, stderr: '' })
    const refused = await svc(['api', 'POST', path, `runId=${items[0]!.runId}`, 'text=hi'])
    expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([6, { code: 'run_not_waiting' }])
    expect(await svc(['api', 'GET', '/elsewhere'])).toMatchObject({ code: 2, stdout: '' })
  })

  test('follows the pages', async () => {
    const { agentId } = await json<{ agentId: string }>(['agents', 'show', 'acme.refund-desk'])
    const list = ['api', 'GET', `/v1/agents/${agentId}/sessions`, 'take=1']
    expect(JSON.parse((await svc(list)).stdout)).toMatchObject({ items: [{}], total: 2 })
    expect(JSON.parse((await svc([...list, '--paginate'])).stdout)).toMatchObject({ items: [{}, {}], total: 2 })
  })

  test('ends with 8 where no server listens', async () => {
    const env = { SVC_URL: 'http://127.0.0.1:9', SVC_API_KEY: 'svc_none' }
    expect(await svc(['api', 'GET', '/v1/healthz'], { env })).toMatchObject({ code: 8, stdout: '' })
  })
})

test('--debug shows what is sent and answered, and no key', async () => {
  const { stderr } = await svc(['sessions', 'list', '--agent', 'acme.refund-desk', '--debug'])
  expect(stderr).toMatch(/^> GET http:\/\/operator\.svc\/agents$/m)
  expect(stderr).toMatch(/^< 200$/m)
  const key = await svc(['keys', 'create', '--agent', 'acme.refund-desk', '--trigger', 'api', '--debug'])
  expect(key.stdout).toMatch(/^svc_\w{38}\n$/)
  expect(key.stderr).toContain('"secret":"***"')
  expect(key.stderr).not.toContain(key.stdout.trim())
  const used = await svc(['runs', 'get', '@last', '--debug'], { env: { SVC_API_KEY: key.stdout.trim() } })
  expect(used.stderr).not.toContain(key.stdout.trim())
})

describe('svc alone at a terminal', () => {
  test('shows the state and the likely next commands', async () => {
    const { code, stdout } = await svc([], { tty: true })
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^acme\.refund-desk@1\.0\.0 · server up \(\d+\) · 1 task waiting\n {2}last run [0-9a-f]{6} {2}WaitingForHITL {2}/,
    )
    expect(stdout).toContain('  svc inbox                                           answer what waits\n')
    expect(stdout).toContain('  svc run acme.refund-desk order=A-1042 amount:=180   start a run\n')
  })
})

const NOTHING_OFFERED = ':4\n'

/** What TAB offers. Presses it again where the server took longer to answer than the shell waits. */
async function offered(...words: string[]): Promise<string> {
  let stdout = NOTHING_OFFERED
  await waitUntil(async () => {
    stdout = (await svc(['complete', '--', ...words])).stdout
    return stdout !== NOTHING_OFFERED
  })
  return stdout
}

test('TAB offers what a running server knows', async () => {
  expect(await offered('run', 'acme.re')).toBe('acme.refund-desk\t1.0.0\n:4\n')
  expect(await offered('approve', '')).toMatch(/^[0-9a-f]{6}\tapproval of acme\.refund-desk\n:4\n$/)
  expect(await offered('versions', 'show', '')).toMatch(/^acme\.[\w-]+@1\.0\.0\tdeployed\n/)
  expect(await offered('effects', 'show', '')).toMatch(/^refund:A-1042\tacme\.refunds done\n:4\n$/)
  expect(await offered('workers', 'drain', '')).toMatch(/^[0-9a-f]{6}\tserving\n:4\n$/)
  expect((await svc(['complete', '--', 'secrets', 'set', ''])).stdout).toBe(NOTHING_OFFERED)
  expect(await offered('policy', 'can', 'acme.refund-desk', '')).toMatch(/^acme\.(?:refunds|orders\.lookup)\n/)
  expect(await offered('stop', '--provider', '')).toMatch(/^scripted\n/)
  expect(await offered('stop', '--version', '')).toMatch(/^acme\.[\w-]+@1\.0\.0\tdeployed\n/)
  expect(await offered('runs', 'migrate', '--agent', 'acme.refund-desk', '--to', '')).toBe('1.0.0\tdeployed\n:4\n')
  expect(await offered('sessions', 'show', '')).toMatch(/^@last\n[0-9a-f]{6}\tacme\.refund-desk /)
  expect((await svc(['complete', '--', 'policy', 'revoke', ''])).stdout).toBe(NOTHING_OFFERED)
})

test('TAB offers no value that a shell would take for more than a word', async () => {
  const name = 'nightly $(touch x)'
  await svc(['triggers', 'create', 'acme.refund-desk', '--name', name])
  expect(await offered('triggers', 'show', '')).toMatch(/^[0-9a-f]{6}\tacme\.refund-desk nightly \$\(touch x\)$/m)
  expect((await svc(['complete', '--', 'triggers', 'show', 'night'])).stdout).toBe(':4\n')
})

test('TAB offers keys that can be revoked, and none that is', async () => {
  const offeredKeys = async () => (await offered('keys', 'revoke', '')).split('\n')
  const createKey = () => svc(['keys', 'create', '--agent', 'acme.refund-desk', '--trigger', 'api'])
  await createKey()
  const before = await offeredKeys()
  await createKey()
  const [added] = (await offeredKeys()).filter((line) => !before.includes(line))
  const [, ending] = /^([0-9a-f]+)\tsvc_[\w-]+… of acme\.refund-desk \/ api$/.exec(added!)!
  expect(await svc(['keys', 'revoke', ending!, '--yes'])).toMatchObject({ code: 0 })
  expect(await offeredKeys()).toEqual(before)
})

describe('a server elsewhere', () => {
  const bin = join(parent, 'bin')
  beforeAll(() => {
    mkdirSync(bin)
    // Stands in for the system's ssh: carries the socket as -L says, and writes down how it was called.
    writeFileSync(
      join(bin, 'ssh'),
      `#!${process.execPath}
const { createServer, connect } = require('node:net')
const args = process.argv.slice(2)
require('node:fs').writeFileSync(${JSON.stringify(join(parent, 'called.json'))}, JSON.stringify(args))
const [local, remote] = args[args.indexOf('-L') + 1].split(':')
if (args.at(-1) === 'nobody') { console.error('ssh: Could not resolve hostname nobody'); process.exit(255) }
createServer((socket) => {
  const far = connect(remote)
  far.on('error', () => socket.destroy())
  socket.on('error', () => far.destroy())
  socket.pipe(far).pipe(socket)
}).listen(local)
`,
      { mode: 0o755 },
    )
  })
  const nowhere = join(parent, 'elsewhere')
  beforeAll(() => mkdirSync(nowhere))
  const env = { PATH: `${bin}:${process.env['PATH']}`, XDG_CONFIG_HOME: join(parent, 'settings') }

  test('is reached through ssh with SVC_HOST, from anywhere', async () => {
    const host = `ssh://ana@agents.example:2222${join(cwd, '.svc')}`
    const { code, stdout } = await runSvc(['agents', 'list', '--json'], {
      cwd: nowhere,
      env: { ...env, SVC_HOST: host },
    })
    expect(code).toBe(0)
    expect((JSON.parse(stdout) as { items: { name: string }[] }).items.map(({ name }) => name)).toContain(
      'acme.refund-desk',
    )
    const called = JSON.parse(readFileSync(join(parent, 'called.json'), 'utf8')) as string[]
    expect(called.slice(called.indexOf('-p'))).toEqual([
      '-p',
      '2222',
      '-L',
      called[called.indexOf('-L') + 1],
      '--',
      'ana@agents.example',
    ])
    expect(
      await runSvc(['runs', 'get', '@last-1', '--json'], { cwd: nowhere, env: { ...env, SVC_HOST: host } }),
    ).toMatchObject({ code: 0 })
    expect(readdirSync(nowhere)).toEqual([])
  })

  test('that cannot be reached ends with 8 and says what ssh said', async () => {
    const { code, stderr } = await runSvc(['agents', 'list'], {
      cwd: nowhere,
      env: { ...env, SVC_HOST: 'ssh://nobody/x' },
    })
    expect([code, stderr]).toEqual([
      8,
      'error[no_server]: No server answers at ssh://nobody/x.\n  fix:  ssh: Could not resolve hostname nobody\n',
    ])
    expect(await runSvc(['agents', 'list'], { cwd: nowhere, env: { ...env, SVC_HOST: 'http://x' } })).toMatchObject({
      code: 2,
    })
  })

  test('is named by a profile, with the key where the profile says', async () => {
    const key = (await svc(['keys', 'create', '--agent', 'acme.refund-desk', '--trigger', 'api'])).stdout.trim()
    const { url } = JSON.parse(readFileSync(join(cwd, '.svc/server.json'), 'utf8')) as { url: string }
    const at = { cwd: nowhere, env: { ...env, PROD_KEY: key, SVC_URL: 'http://127.0.0.1:9' } }
    await runSvc(['config', 'set', 'profiles.prod.url', url, '--user'], at)
    await runSvc(['config', 'set', 'profiles.prod.key_env', 'PROD_KEY', '--user'], at)
    const { items } = await json<{ items: { runId: string }[] }>(['runs', 'list'])
    expect(await runSvc(['runs', 'get', items[0]!.runId, '--profile', 'prod', '--json'], at)).toMatchObject({ code: 0 })
    expect(await runSvc(['runs', 'get', items[0]!.runId, '--profile', 'prd'], at)).toMatchObject({
      code: 2,
      stderr: 'error[usage]: There is no profile "prd".\n  fix:  Did you mean prod?\n',
    })
  })
})

describe('logs', () => {
  const lines = async (argv: string[]): Promise<Record<string, unknown>[]> =>
    (await svc(['logs', ...argv, '--json'])).stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>)

  test('tell what a run did and what it waits for', async () => {
    const { items } = await json<{ items: { runId: string; parentRunId: string | null }[] }>(['runs', 'list'])
    const { runId } = items.find(({ parentRunId }) => parentRunId === null)!
    const told = await lines(['--run', runId])
    expect(told.map(({ msg }) => msg)).toEqual([
      'engine.run.started',
      'engine.subagent.spawned',
      'engine.subagent.completed',
      'engine.user_task.created',
      'engine.run.paused',
    ])
    expect(told[3]).toMatchObject({ agent: 'acme.refund-desk@1.0.0', kind: 'approval', tool: 'acme.refunds', runId })
    expect((await lines(['--agent', 'acme.fraud-check'])).map(({ msg }) => msg)).toContain('engine.run.completed')
    expect(await lines(['--grep', 'user_task.created.*nothing'])).toEqual([])
    expect(await lines(['--level', 'error'])).toEqual([])
  })

  test('--http reports requests, with the beginning of the key and never more', async () => {
    const key = (await svc(['keys', 'create', '--agent', 'acme.refund-desk', '--trigger', 'api'])).stdout.trim()
    await svc(['api', 'GET', '/v1/runs/none'], { env: { SVC_API_KEY: key } })
    await expect
      .poll(() => lines(['--http', '--status-code', '4xx', '--path', '/v1/runs/n*']))
      .toMatchObject([
        { method: 'GET', path: '/v1/runs/none', status: 404, key: key.slice(0, 8), error: 'No such run.' },
      ])
    expect(readFileSync(join(cwd, '.svc/logs/server.log'), 'utf8')).not.toContain(key.slice(4))
    const shown = await svc(['logs', '--http', '--path', '/v1/runs/none'])
    expect(shown.stdout).toMatch(
      /^\d\d:\d\d:\d\d {2}GET \/v1\/runs\/none {2}404 {2}\d+ ms {2}key svc_\w{4}… {2}No such run\. {2}req [0-9a-f]{6}$/m,
    )
  })

  test('-f goes on until it is interrupted', async () => {
    const following = going(['logs', '-f', '--json', '--http', '--path', '/v1/openapi.json'], { cwd })
    await svc(['api', 'GET', '/v1/openapi.json'])
    expect(JSON.parse(await following.line(/openapi/))).toMatchObject({ path: '/v1/openapi.json', status: 200 })
    expect(await following.end()).toBe(143)
  })

  test('an invalid pattern is a usage error', async () => {
    expect(await svc(['logs', '--grep', '('])).toMatchObject({ code: 2, stdout: '' })
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

  test('--data names a directory, which is made by what writes', async () => {
    expect(await runSvc(['runs', 'list', '--json', '--data', 'data'], { cwd: nowhere })).toMatchObject({
      code: 0,
      stdout: '{"items":[],"total":0}\n',
    })
    expect(readdirSync(nowhere)).toEqual([])
    const key = ['keys', 'create', '--operator', '--email', 'eva@acme.example', '--data', 'data']
    expect((await runSvc(key, { cwd: nowhere })).code).toBe(0)
    expect(readdirSync(nowhere)).toEqual(['data'])
  })
})
