import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { failures } from '../../src/base/failure.ts'
import { nodeFinding } from '../../src/cli/doctor/machine.ts'
import { APPLICATION_ID } from '../../src/store/sqlite/database/migrate.ts'
import { connectSqlite } from '../../src/store/sqlite/database/connect.ts'
import { going, svc, temporary, type Ran } from './recording-io.ts'

const { path: parent, remove } = temporary()
afterAll(remove)

const INPUT = '{"order":"A-1","amount":40}'

let cwd: string
let count = 0
beforeEach(() => {
  cwd = join(parent, `project-${++count}`)
  mkdirSync(cwd)
})

const run = (argv: string[], more: { fetch?: typeof fetch; env?: Record<string, string> } = {}): Promise<Ran> =>
  svc(argv, { cwd, ...more, env: { XDG_CONFIG_HOME: join(cwd, 'user'), ...more.env } })
const write = (path: string, text: string): void => writeFileSync(join(cwd, path), text)

test('all checks are told, one line each, and nothing is made', async () => {
  const { code, stdout } = await run(['doctor', '--json'])
  const { items } = JSON.parse(stdout) as { items: { check: string; ok: boolean }[] }
  expect(items.map(({ check }) => check)).toEqual([
    'node',
    'sqlite',
    'ports',
    'disk',
    'clock',
    'project',
    'handlers',
    'data',
    'permissions',
    'database',
    'store',
    'server',
    'lock',
    'paused',
    'held',
    'notices',
    'triggers',
    'mcp',
    'models',
    'proxy',
    'channels',
    'telemetry',
  ])
  const bad = items.filter(({ ok }) => !ok).map(({ check }) => check)
  // Another program of this machine may use the ports.
  expect(bad.filter((check) => check !== 'ports')).toEqual([])
  expect(code).toBe(bad.length === 0 ? 0 : 1)
  expect(readdirSync(cwd)).toEqual([])
})

test('a check that is named says nothing when all is well', async () => {
  expect(await run(['doctor', 'sqlite', 'node', 'data'])).toEqual({ code: 0, stdout: '', stderr: '', asked: [] })
  expect(await run(['doctor', 'sqlit'])).toMatchObject({
    code: 2,
    stderr: 'error[usage]: There is no check "sqlit".\n  fix:  Did you mean sqlite?\n',
  })
})

test.each([
  ['20.18.3', '2026-11-28', false, '20.18.3'],
  ['20.20.2', '2027-04-29', true, '20.20.2, past its end of life (2026-04-30); svc supports it until 2027-04-30'],
  ['20.20.2', '2027-04-30', false, '20.20.2, past its end of life (2026-04-30); svc supports it until 2027-04-30'],
  ['24.19.0', '2030-01-01', true, '24.19.0'],
])('Node %s on %s: healthy is %s', (version, day, ok, say) => {
  const { fix, ...found } = nodeFinding(version, Date.parse(day))
  expect(found).toEqual({ ok, say })
  expect((fix ?? '').startsWith('Install Node 24')).toBe(!ok)
})

test('ports of the server of another project are no fault', async () => {
  const other = join(parent, 'other')
  mkdirSync(other)
  writeFileSync(join(other, 'svc.config.yaml'), 'workspace: other\n')
  const served = going(['serve', '--port', '0', '--json'], { cwd: other })
  const { url } = JSON.parse(await served.line(/"ready"/)) as { url: string }
  const { port } = new URL(url)
  write('svc.config.yaml', `dev: { port: ${port} }\n`)
  const { code, stdout } = await run(['doctor', 'ports', 'node', '--json'])
  await served.end()
  const [ports] = (JSON.parse(stdout) as { items: object[] }).items
  expect([code, ports]).toEqual([
    0,
    {
      check: 'ports',
      ok: true,
      say: expect.stringMatching(
        new RegExp(`^${port}\\b.* taken by the server of another project; svc dev takes the next free ones$`),
      ) as string,
    },
  ])
})

describe('a port that is taken', () => {
  let server: Server
  afterEach(() => server.close())
  test('is named', async () => {
    server = createServer()
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    write('svc.config.yaml', `dev: { port: ${port} }\n`)
    const { code, stdout } = await run(['doctor', 'ports'])
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^✖ ports +${port}\\b.* taken by another program\n {2}fix: `)) as string,
    ])
  })
})

test('what others could read is named', async () => {
  write('svc.config.yaml', 'workspace: acme\n')
  mkdirSync(join(cwd, '.svc'))
  chmodSync(join(cwd, '.svc'), 0o755)
  const { code, stdout } = await run(['doctor', 'permissions'])
  expect([code, stdout]).toEqual([
    1,
    `✖ permissions ${join(cwd, '.svc')} can be read by others (755)\n  fix: chmod go= ${join(cwd, '.svc')}\n`,
  ])
})

test.each([
  ['a newer svc', APPLICATION_ID, 99, 'Use that version of svc, or a newer one.'],
  ['a development version', 0x73766331, 32, 'Use the svc that wrote it, or name another data directory or database'],
])('a database of %s is not to be replaced', async (who, application, version, fix) => {
  mkdirSync(join(cwd, '.svc'))
  write('svc.config.yaml', 'workspace: acme\n')
  const db = connectSqlite(join(cwd, '.svc/data.db'), {})
  db.exec('create table runs (id text)')
  db.pragma(`application_id = ${application}`)
  db.pragma(`user_version = ${version}`)
  db.close()
  const { code, stdout } = await run(['doctor', 'database'])
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(`: ${who} .*wrote it \\(schema ${version}\\b.*\n  fix: ${fix}`),
  ])
})

/** What may be found instead of a database, and what `doctor` says of it. */
const NO_DATABASES: readonly (readonly [what: string, make: (directory: string) => void, say: string])[] = [
  [
    'text',
    (at) => writeFileSync(join(at, 'data.db'), 'not a database, whatever its name says, and long enough to be read'),
    'data.db cannot be read: file is not a database',
  ],
  [
    'an emptied file beside logs',
    (at) => {
      writeFileSync(join(at, 'data.db'), '')
      leaveLog(at)
    },
    'is missing or empty, but logs beside it are not',
  ],
  ['nothing beside logs', leaveLog, 'is missing or empty, but logs beside it are not'],
  [
    'a database of another program',
    (at) => {
      const db = connectSqlite(join(at, 'data.db'), {})
      db.exec('create table theirs (a)')
      db.close()
    },
    'it is a database of another program',
  ],
]

function leaveLog(directory: string): void {
  mkdirSync(join(directory, 'logs'))
  writeFileSync(join(directory, 'logs', 'server.log'), '{}')
}

test.each(NO_DATABASES)('a database that is none is named: %s', async (_, make, say) => {
  write('svc.config.yaml', 'workspace: acme\n')
  mkdirSync(join(cwd, '.svc'), { mode: 0o700 })
  make(join(cwd, '.svc'))
  expect(await run(['doctor', 'database'])).toMatchObject({ code: 1, stdout: expect.stringContaining(say) as string })
})

test('what cannot be found out counts as a fault', async () => {
  write('svc.config.yaml', 'workspace: acme\n')
  mkdirSync(join(cwd, '.svc'), { mode: 0o700 })
  writeFileSync(join(cwd, '.svc/data.db'), 'not a database, whatever its name says, and long enough to be read')
  const { code, stdout } = await run(['doctor', 'paused', 'held'])
  expect(code).toBe(1)
  expect(stdout).toMatch(/^✖ paused {6}not known: [^]*✖ held {8}not known: /)
})

test('a configuration that is wrong is told by its own check', async () => {
  write('svc.config.yaml', 'workspac: acme\n')
  const { code, stdout } = await run(['doctor', 'project', 'node', 'lock'])
  expect(code).toBe(1)
  expect(stdout).toMatch(/^✖ project .*`workspac`/)
})

const OF_MACHINE = ['node', 'sqlite', 'ports', 'disk', 'clock', 'store', 'proxy', 'telemetry']

test('what the variables of OpenTelemetry ask for is checked: an address that answers, or a sentence', async () => {
  const asked: string[] = []
  const answering = ((address: string, { method }: RequestInit) => {
    asked.push(`${method} ${address}`)
    return Promise.resolve(new Response(null, { status: 405 }))
  }) as typeof fetch
  const refusing = (() => Promise.reject(new Error('refused'))) as typeof fetch
  const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://user:pass@otel.example/v1/traces' }
  expect(await run(['doctor', 'telemetry'], { env, fetch: answering })).toMatchObject({ code: 0, stdout: '' })
  expect(asked).toEqual(['HEAD http://user:pass@otel.example/v1/traces'])
  const away = await run(['doctor', 'telemetry'], { env, fetch: refusing })
  expect(away.code).toBe(1)
  expect(away.stdout).toContain('cannot be reached')
  expect(away.stdout).not.toContain('pass')
  const wrong = await run(['doctor', 'telemetry'], { env: { ...env, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' } })
  expect([wrong.code, wrong.stdout]).toEqual([
    1,
    expect.stringContaining('Telemetry cannot be exported: OTEL_EXPORTER_OTLP_PROTOCOL is grpc.'),
  ])
})

test('nothing that is not known is healthy', async () => {
  write('svc.config.yaml', 'workspac: acme\n')
  const { code, stdout } = await run(['doctor', '--json'])
  const { items } = JSON.parse(stdout) as { items: { check: string; ok: boolean; say: string }[] }
  expect(code).toBe(1)
  const unknown = items.filter(({ say }) => say === 'not known: the project cannot be read')
  expect(unknown.map(({ check }) => check)).toEqual(
    expect.arrayContaining(['data', 'permissions', 'database', 'server', 'lock', 'paused', 'held', 'mcp', 'models']),
  )
  // What is left is of the machine alone.
  const healthyOnes = items.filter(({ ok }) => ok).map(({ check }) => check)
  expect(healthyOnes.filter((check) => !OF_MACHINE.includes(check))).toEqual([])
})

const AGENT = `apiVersion: svc/v1
kind: Agent
metadata: { namespace: acme, name: desk, version: 1.0.0, owner: team }
spec:
  purpose: Help.
  instructions: { inline: Help. }
  limits: { max_tokens_per_run: 1000 }
  model: { provider: openai, name: m, secret: main, base_url: "https://models.example/v1" }
secrets:
  main: { fromEnv: MODEL_API_KEY }
`

test.each([
  ['answers, whatever it says', 0, async () => new Response('', { status: 401 })],
  [
    'cannot be reached',
    1,
    async () => {
      throw new TypeError('fetch failed')
    },
  ],
])('a model that %s ends with %d', async (_, code, answer) => {
  write('svc.config.yaml', 'workspace: acme\n')
  write('agent.yaml', AGENT)
  const asked: string[] = []
  const fetch = (async (url: string) => {
    asked.push(url)
    return await answer()
  }) as unknown as typeof globalThis.fetch
  expect((await run(['doctor', 'models'], { fetch })).code).toBe(code)
  expect(asked).toEqual(['https://models.example/v1'])
})

test('a lock that is not what the documents compile to is named', async () => {
  await svc(['init', 'shop', '--full'], { cwd })
  const shop = join(cwd, 'shop')
  const lock = async (): Promise<Ran> => await svc(['doctor', 'lock'], { cwd: shop })
  await svc(['compile'], { cwd: shop })
  expect(await lock()).toMatchObject({ code: 0, stdout: '' })
  writeFileSync(join(shop, 'prompts/refund-desk.md'), 'Be brief.\n')
  expect(await lock()).toMatchObject({ code: 1, stdout: expect.stringMatching(/^✖ lock .*svc\.lock/) as string })
})

test('what a killed server left behind is cleaned by the next command that writes', async () => {
  write('svc.config.yaml', 'workspace: acme\n')
  const data = join(cwd, '.svc')
  mkdirSync(data, { mode: 0o700 })
  const left = {
    pid: 1,
    url: 'http://127.0.0.1:9',
    uploadUrl: 'http://127.0.0.1:9',
    adminSocket: join(data, 'admin.sock'),
  }
  write('.svc/server.json', JSON.stringify(left))
  write('.svc/admin.sock', '')
  expect((await run(['doctor'])).stdout).toContain('down; the last one was killed')
  const isLeft = () => ['server.json', 'admin.sock'].map((name) => existsSync(join(data, name)))
  expect(await run(['runs', 'list', '--json'])).toMatchObject({ code: 0, stdout: '{"items":[],"total":0}\n' })
  expect(isLeft()).toEqual([true, true])
  expect((await run(['keys', 'create', '--operator', '--email', 'eva@acme.example'])).code).toBe(0)
  expect(isLeft()).toEqual([false, false])
})

test('what operators have paused is told with who, when and why, and the command that ends it', async () => {
  write('svc.config.yaml', 'workspace: acme\n')
  await run(['keys', 'list'])
  const who = { SVC_OPERATOR: 'ana@acme.example' }
  expect(await run(['doctor', 'paused', 'held'], { env: who })).toMatchObject({ code: 0, stdout: '' })
  await run(['stop', '--all', '--reason', 'the bank called'], { env: who })
  const { code, stdout } = await run(['doctor', 'paused', '--json'], { env: who })
  const [finding] = (JSON.parse(stdout) as { items: object[] }).items
  expect([code, finding]).toEqual([
    1,
    {
      check: 'paused',
      ok: false,
      say: expect.stringMatching(
        /^everything since \d{4}-\d\d-\d\dT[\d:.]+Z, by operator ana@acme\.example \(the bank called\)$/,
      ) as string,
      fix: 'svc stop --all --resume',
    },
  ])
  await run(['stop', '--all', '--resume'], { env: who })
  expect(await run(['doctor', 'paused'], { env: who })).toMatchObject({ code: 0, stdout: '' })
})

test('the remedy of a schedule is that of what refuses it', async () => {
  await svc(['init', 'desk'], { cwd: parent, env: {} })
  cwd = join(parent, 'desk')
  await run(['publish', '--deploy'])
  await run(['triggers', 'create', 'acme.refund-desk', '--type', 'schedule', '--cron', '0 9 1 1 *', '--input', INPUT])
  const doctor = async () => JSON.parse((await run(['doctor', 'triggers', '--json'])).stdout) as { items: object[] }
  const exec = (sql: string): void => {
    const db = connectSqlite(join(cwd, '.svc/data.db'), {})
    db.exec(sql)
    db.close()
  }
  const refuse = (code: string): void =>
    exec(`update run_trigger set refusal = '{"at":0,"code":"${code}","message":"It was refused."}'`)
  const fixes: Record<string, string> = {
    input_contract_violation: 'svc triggers update TRIGGER --input JSON',
    deployment_expired: failures.deployment_expired.fix,
    version_altered: failures.version_altered.fix,
  }
  for (const [code, fix] of Object.entries(fixes)) {
    refuse(code)
    expect(await doctor()).toMatchObject({ items: [{ ok: false, fix }] })
  }
  refuse('internal')
  expect((await doctor()).items[0]).not.toHaveProperty('fix')
  exec(
    `update run_trigger set refusal = null; drop trigger version_is_final; update version set snapshot = replace(snapshot, '"limits"', '"other"')`,
  )
  expect(await doctor()).toMatchObject({
    items: [
      {
        say: 'acme.refund-desk / schedule: its next tick will be refused: acme.refund-desk@1.0.0 in the database is not what was published: its digest is another one, so it does not run.',
        fix: failures.version_altered.fix,
      },
    ],
  })
})
