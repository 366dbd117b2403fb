import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  copyExample,
  endWithTests,
  serve,
  serveHere,
  svc,
  svcJson,
  svcProcess,
  type Project,
  type RunOptions,
  type ServerProcess,
} from './binary.ts'
import { caller, type Caller, type Json } from './caller.ts'

const AGENT = 'acme.refund-desk'
const BIN = resolve(import.meta.dirname, '../../bin/svc.js')
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const uuid = expect.stringMatching(UUID)
/** No server listens there. */
const NOWHERE = 'http://127.0.0.1:9'

let project: Project
let server: ServerProcess
let agentId: string
let secret: string
let api: Caller
let here: RunOptions

const cli = (...args: string[]) => svc(args, here)
const json = <T = Json>(...args: string[]): Promise<T> => svcJson<T>(args, here)

beforeAll(async () => {
  project = copyExample('refund')
  here = { cwd: project.directory, env: { REFUNDS_LEDGER: join(project.directory, 'ledger') } }
  // Nothing runs yet: the data directory is made by the first command, beside the project file.
  agentId = (await json('publish', '--deploy')).deployed.agentId
  await json('triggers', 'create', AGENT, '--type', 'api', '--name', 'api', '--allow-approvals')
  secret = (await json('keys', 'create', '--agent', AGENT, '--trigger', 'api', '--allow-uploads')).secret
  server = await serve([], here)
  api = caller(server.url, secret)
})
afterAll(async () => {
  await server.stop('SIGTERM')
  project.remove()
})

/** A refund that waits for its approval. */
const waiting = async (): Promise<{ runId: string; userTaskId: string }> => {
  const runId = await api.start(agentId, { order: 'A-1042', amount: 180 })
  await api.settled(runId)
  return { runId, userTaskId: (await api.task(runId)).user_task_id }
}

describe('serve', () => {
  test('prints one ready line and nothing else on stdout', () => {
    const lines = server.stdout().trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        type: 'ready',
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        uploadUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        consoleUrl: null,
        pid: server.process.pid,
      },
    ])
    expect(server.uploadUrl).not.toBe(server.url)
  })

  test('logs JSON lines on stderr', () => {
    const lines = server.stderr().trimEnd().split('\n')
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines)
      expect(JSON.parse(line)).toMatchObject({ level: expect.any(String), msg: expect.any(String) })
  })

  test('--log-format pretty writes lines for people, and --admin-socket is where commands find it', async () => {
    const other = copyExample('refund')
    const socket = join(other.directory, 'here.sock')
    const more = ['--log-format', 'pretty', '--admin-socket', socket, '--data', other.data]
    const second = await serveHere(more, { cwd: other.directory })
    expect(existsSync(socket)).toBe(true)
    expect(await svcJson(['agents', 'list', '--data', other.data])).toEqual({ items: [], total: 0 })
    expect(await second.stop('SIGTERM')).toBe(0)
    expect(second.stderr()).toMatch(/^\d\d:\d\d:\d\d {2}info {3}listening {2}url="http:/)
    other.remove()
  })

  test('--storage takes the place of what the project file says', async () => {
    const other = copyExample('refund')
    const ran = await svc(['serve', '--port', '0', '--storage', 'ftp://bucket', '--data', other.data])
    other.remove()
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('ftp://bucket')])
  })

  test('deploys the bundles it is given before it is ready', async () => {
    const other = copyExample('refund')
    const second = await serveHere(['bundle.yaml', '--data', other.data], { cwd: other.directory })
    const { items } = await svcJson<Json>(['agents', 'list', '--data', other.data])
    expect(items.find(({ name }: Json) => name === AGENT)).toMatchObject({
      agentId,
      deployed: { versionLabel: '1.0.0' },
    })
    expect(await second.stop('SIGTERM')).toBe(0)
    other.remove()
  })

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('ends with 0 after %s', async (signal) => {
    const other = copyExample('refund')
    const second = await serve(['--data', other.data], { cwd: other.directory })
    expect(await second.stop(signal)).toBe(0)
    other.remove()
  })

  test('a port that is taken ends with 6, and says so', async () => {
    const { port } = new URL(server.url)
    const other = copyExample('refund')
    const ran = await svc(['serve', '--port', port, '--json', '--data', other.data], { cwd: other.directory })
    expect([ran.code, ran.stdout]).toEqual([6, ''])
    expect(errorOf(ran.stderr)).toMatchObject({ code: 'port_taken', message: expect.stringContaining('127.0.0.1') })
    other.remove()
  })
})

describe('dev', () => {
  test('says when it is ready and what it deploys, in lines of JSON, and drains', async () => {
    const other = copyExample('refund')
    // The data lie among the documents, and are none of them.
    const data = join(other.directory, 'state')
    const child = spawn(process.execPath, [BIN, 'dev', '--port', '0', '--json', '--data', data], {
      cwd: other.directory,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    endWithTests(child)
    const lines: Json[] = []
    const awaited = (type: string, then: () => void): Promise<void> =>
      new Promise((done) => {
        const look = (): void => {
          if (!lines.some((line) => line.type === type)) return
          child.stdout.off('data', look)
          done()
        }
        child.stdout.on('data', look)
        then()
      })
    let rest = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n')
      rest = parts.pop()!
      lines.push(...parts.map((line) => JSON.parse(line)))
    })
    const ended = new Promise((done) => child.on('close', done))
    await awaited('ready', () => {})
    expect(lines[0]).toMatchObject({ type: 'ready', pid: child.pid })
    expect((await fetch(`${lines[0].url}/v1/healthz`)).status).toBe(200)

    const policy = join(other.directory, 'policies/refund-limit.yaml')
    await awaited('reload', () =>
      writeFileSync(policy, readFileSync(policy, 'utf8').replace('value: 100', 'value: 20')),
    )
    const { items } = await svcJson<Json>(['agents', 'list', '--data', data])
    expect(items.find(({ name }: Json) => name === AGENT).deployed.versionLabel).toMatch(/^1\.0\.0-dev\.\d+$/)
    // 40 is above the limit now.
    const ran = await svc(['run', AGENT, 'order=A-1', 'amount:=40', '--data', data], { cwd: other.directory })
    expect([ran.code, ran.stdout]).toEqual([3, ''])
    // The run wrote its data all the while; a save may be seen in two steps.
    expect(lines.filter(({ type }) => type === 'reload').length).toBeLessThan(3)

    await awaited('diagnostic', () =>
      writeFileSync(policy, readFileSync(policy, 'utf8').replace('type: require_approval', 'type: ask')),
    )
    expect(lines.find(({ type }) => type === 'diagnostic')).toMatchObject({
      path: 'policies/refund-limit.yaml',
      severity: 'error',
    })
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
    other.remove()
  })
})

describe('the data directory', () => {
  test('is --data, else SVC_DATA, else .svc beside the nearest project file', async () => {
    const deep = join(project.directory, 'policies')
    expect((await svcJson<Json>(['agents', 'list'], { cwd: deep })).total).toBe(2)
    const elsewhere = join(project.directory, 'elsewhere')
    mkdirSync(elsewhere, { recursive: true })
    expect((await svcJson<Json>(['agents', 'list'], { cwd: deep, env: { SVC_DATA: elsewhere } })).items).toEqual([])
    const flagged = ['agents', 'list', '--data', project.data]
    expect((await svcJson<Json>(flagged, { cwd: deep, env: { SVC_DATA: elsewhere } })).total).toBe(2)
    expect((await svcJson<Json>(['-C', deep, 'agents', 'list'])).total).toBe(2)
  })
})

describe('while a server holds the directory', () => {
  test('publish again is the same version, and a trigger and a key made now work at once', async () => {
    const again = await json('publish', '--deploy')
    expect(again.published.every(({ already }: Json) => already)).toBe(true)
    expect(again.deployed.agentId).toBe(agentId)
    const made = await json('triggers', 'create', AGENT, '--type', 'api', '--name', 'second')
    expect(made).toMatchObject({
      triggerId: uuid,
      agentId,
      type: 'api',
      name: 'second',
      active: true,
      exposeTimeline: true,
    })
    const key = await json('keys', 'create', '--agent', AGENT, '--trigger', made.triggerId)
    expect(key).toMatchObject({
      keyId: uuid,
      secret: expect.stringMatching(/^svc_[0-9A-Za-z]{38}$/),
      agentId,
      triggerId: made.triggerId,
      allowUploads: false,
    })
    expect(key.prefix).toBe(key.secret.slice(0, key.prefix.length))
    expect((await caller(server.url, key.secret).get(`/v1/agents/${agentId}/sessions`)).status).toBe(200)
  })

  test('the key is stored as a digest only, and shown once', async () => {
    const listed = await cli('keys', 'list', '--json')
    expect(listed.stdout).not.toContain(secret)
    for (const name of readdirSync(project.data).filter((each) => each.startsWith('data.db'))) {
      expect([name, readFileSync(join(project.data, name)).includes(secret)]).toEqual([name, false])
    }
  })

  test('without --json stdout is the secret alone', async () => {
    const { stdout, stderr, code } = await cli('keys', 'create', '--agent', AGENT, '--trigger', 'api')
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^svc_[0-9A-Za-z]{38}\n$/)])
    expect(stderr).toMatch(/^key [0-9a-f]{6} for acme\.refund-desk \/ api\. Shown once:\n$/)
  })

  test('the same version with other content is refused with 6', async () => {
    const file = join(project.directory, 'prompts/refund-desk.md')
    const before = readFileSync(file, 'utf8')
    writeFileSync(file, `${before}\nBe kind.\n`)
    const ran = await cli('publish', '--json')
    writeFileSync(file, before)
    expect([ran.code, ran.stdout]).toEqual([6, ''])
    expect(errorOf(ran.stderr).code).toBe('version_exists')
  })
})

describe('run', () => {
  test('prints the output alone; a value takes the type of the contract', async () => {
    const ran = await cli('run', AGENT, 'order=A-7', 'amount=40')
    expect([ran.code, ran.stdout]).toEqual([0, '{"refunded":40,"currency":"EUR"}\n'])
    expect(ran.stderr).not.toContain('\u001B[')
  })

  test('reads the whole input from stdin', async () => {
    const ran = await svcProcess(['run', AGENT, '--input', '-', '--json'], {
      ...here,
      input: '{"order":"A-8","amount":41}',
    })
    expect(ran.code).toBe(0)
    expect(JSON.parse(ran.stdout)).toMatchObject({
      runId: uuid,
      sessionId: uuid,
      status: 'Completed',
      output: { refunded: 41 },
    })
  })

  test('that must wait for a person ends with 3 and names the task; another process approves it', async () => {
    const ran = await cli('run', AGENT, 'order=A-1042', 'amount:=180', '--json')
    expect(ran.code).toBe(3)
    const result = JSON.parse(ran.stdout)
    expect(result).toEqual({
      runId: uuid,
      sessionId: uuid,
      status: 'WaitingForHITL',
      output: null,
      totalTokensUsed: expect.any(Number),
      durationMs: expect.any(Number),
      task: {
        userTaskId: uuid,
        kind: 'approval',
        tool: 'acme.refunds',
        args: { order: 'A-1042', amount: 180, currency: 'EUR' },
        expiresAt: expect.any(String),
      },
    })
    const { userTaskId } = result.task
    const short = userTaskId.slice(-6)
    expect(ran.stderr).toContain(
      `waiting for approval of acme.refunds (task ${short}). Answer with: svc approve ${short}   or   svc reject ${short} --reason …`,
    )

    const inbox = await json('inbox')
    expect(inbox.items.find((item: Json) => item.userTaskId === userTaskId)).toMatchObject({
      kind: 'approval',
      runId: result.runId,
      agent: AGENT,
      tool: 'acme.refunds',
      apiCompletable: true,
      approvals: { have: 0, need: 1 },
    })
    const approved = await json('approve', userTaskId)
    expect(approved.items).toMatchObject([{ userTaskId, approvals: { have: 1, need: 1 } }])
    const got = await cli('runs', 'get', result.runId, '--wait=terminal', '--json')
    expect(JSON.parse(got.stdout)).toEqual((await api.get(`/v1/runs/${result.runId}`)).body)
    expect(JSON.parse(got.stdout).output).toEqual({ refunded: 180, currency: 'EUR' })
    const late = await cli('approve', userTaskId, '--json')
    expect([late.code === 0 || late.code === 6]).toEqual([true])
    expect((await cli('reject', userTaskId, '--reason', 'too late', '--json')).code).toBe(6)
  })

  test('--on-task wait goes on when somebody else answers', async () => {
    const running = cli('run', AGENT, 'order=A-9', 'amount:=190', '--on-task', 'wait', '--json')
    let item: Json
    while (!item) item = (await json('inbox')).items.find(({ args }: Json) => args?.order === 'A-9')
    await json('approve', item.userTaskId.slice(-8))
    const ran = await running
    expect([ran.code, JSON.parse(ran.stdout).output]).toEqual([0, { refunded: 190, currency: 'EUR' }])
  })

  test('--on-task reject refuses, and the end of the run decides', async () => {
    const ran = await cli('run', AGENT, 'order=A-10', 'amount:=200', '--on-task', 'reject')
    expect([ran.code, JSON.parse(ran.stdout)]).toMatchObject([0, { refunded: 0 }])
  })

  test('--on-task prompt without a terminal is a usage error', async () => {
    const ran = await cli('run', AGENT, 'order=A-10', 'amount:=200', '--on-task', 'prompt', '--json')
    expect([ran.code, ran.stdout]).toEqual([2, ''])
    expect(ran.stderr).toContain('"code":"needs_terminal"')
  })

  test('--detach prints the ids; --max-wait ends with 9 and leaves the run', async () => {
    const started = await json('run', AGENT, 'order=A-11', 'amount:=180', '-d')
    expect(started).toMatchObject({ runId: uuid, sessionId: uuid, status: 'Running' })
    const watched = await cli(
      'run',
      AGENT,
      'order=A-12',
      'amount:=180',
      '--on-task',
      'wait',
      '--max-wait',
      '1s',
      '--json',
    )
    expect(watched.code).toBe(9)
  })

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('that is left with %s leaves the run as it is and ends with %i', async (signal, code) => {
    const args = ['run', AGENT, `order=A-${code}`, 'amount:=180', '--on-task', 'wait']
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd: project.directory,
      env: { PATH: process.env['PATH'] },
    })
    let stderr = ''
    await new Promise<void>((done) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text
        if (stderr.includes('needs a person')) done()
      })
    })
    child.kill(signal)
    expect(await new Promise((done) => child.on('close', done))).toBe(code)
    expect(stderr).toContain('svc runs watch')
    const { items } = await json('inbox')
    expect(items.some(({ args }: Json) => args?.order === `A-${code}`)).toBe(true)
  })

  describe('of a trigger that hides its timeline', () => {
    let hidden: Json
    beforeAll(async () => {
      const at = ['--data', join(project.directory, 'hidden')]
      const where = { cwd: project.directory }
      await svcJson(['publish', '--deploy', ...at], where)
      await svcJson(
        ['triggers', 'create', AGENT, '--type', 'api', '--name', 'api', '--no-expose-timeline', ...at],
        where,
      )
      const key = await svcJson<Json>(['keys', 'create', '--agent', AGENT, '--trigger', 'api', ...at], where)
      hidden = { at, where, secret: key.secret, server: await serveHere(at, here) }
    })
    afterAll(() => hidden.server.stop('SIGTERM'))

    test('ends with 3 and the task, as the operator sees it', async () => {
      const ran = await svc(['run', AGENT, 'order=A-1', 'amount:=180', '--json', ...hidden.at], hidden.where)
      expect([ran.code, JSON.parse(ran.stdout)]).toMatchObject([
        3,
        { task: { kind: 'approval', tool: 'acme.refunds' } },
      ])
    })

    test('ends with 3 without the task, as a key sees it', async () => {
      const env = { SVC_API_KEY: hidden.secret, SVC_URL: hidden.server.url }
      const ran = await svc(['run', agentId, 'order=A-2', 'amount:=180', '--json'], { cwd: '/', env })
      const result = JSON.parse(ran.stdout)
      expect([ran.code, result.status, result.task]).toEqual([3, 'WaitingForHITL', undefined])
      expect(ran.stderr).toContain('svc inbox')
    })
  })

  test('--events is one JSON object a line', async () => {
    const { stdout, code } = await cli('run', AGENT, 'order=A-13', 'amount:=20', '--events', '--json')
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(code).toBe(0)
    expect(lines[0]).toMatchObject({ kind: 'session', subject: 'engine.session.started' })
    expect(lines.at(-1)).toMatchObject({ type: 'result', status: 'Completed' })
  })

  test('with a key and an address alone goes through /v1', async () => {
    const env = { SVC_API_KEY: secret, SVC_URL: server.url }
    const ran = await svc(['run', agentId, 'order=A-14', 'amount:=30', '--json'], { cwd: '/', env })
    expect(ran.stderr).not.toContain('error')
    expect([ran.code, JSON.parse(ran.stdout).output]).toEqual([0, { refunded: 30, currency: 'EUR' }])
    const { runId } = JSON.parse(ran.stdout)
    const got = await svc(['runs', 'get', runId, '--json'], { cwd: '/', env })
    expect(JSON.parse(got.stdout)).toEqual((await api.get(`/v1/runs/${runId}`)).body)
  })
})

describe('what a client reads', () => {
  test('conversation, sessions and stream are the bodies of the API', async () => {
    const { runId, userTaskId } = await waiting()
    await json('reject', userTaskId, '--reason', 'already refunded')
    await api.settled(runId)
    expect(await json('runs', 'conversation', runId)).toEqual((await api.get(`/v1/runs/${runId}/conversation`)).body)
    expect(await json('sessions', 'list', '--agent', AGENT)).toEqual(
      (await api.get(`/v1/agents/${agentId}/sessions`)).body,
    )
    const { stdout } = await cli('stream', runId)
    const response = await fetch(`${server.url}/v1/runs/${runId}/stream`, { headers: { 'X-API-Key': secret } })
    const events = (await response.text())
      .split('\n')
      .flatMap((line) => (line.startsWith('data:') ? [JSON.parse(line.slice(5))] : []))
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(events)
  })

  test('a reader that closes the pipe ends the command with 141 and no stack trace', async () => {
    const { runId } = await waiting()
    const command = `"${process.execPath}" "${BIN}" stream ${runId} | true; echo \${PIPESTATUS[0]}`
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', command], { cwd: project.directory })
    expect([stdout, stderr]).toEqual(['141\n', ''])
  })
})

describe('exit codes', () => {
  test.each<[string, number, string, string[], Record<string, string>?]>([
    ['an unknown command', 2, 'usage', ['rnu']],
    ['an unknown flag', 2, 'usage', ['inbox', '--everything']],
    ['a missing argument', 2, 'usage', ['approve']],
    ['a number that is none', 2, 'usage', ['runs', 'list', '--limit', 'many']],
    ['a value that is none of the choices', 2, 'usage', ['run', AGENT, '--on-task', 'sleep']],
    ['a config that is not there', 5, 'file_missing', ['inbox', '--config', 'nowhere.yaml']],
    ['no reason when nobody can be asked', 2, 'usage', ['reject', '01a1fc2b-1d46-7001-8f16-ba4d0d7ecc03']],
    ['input that breaks the contract', 2, 'input_contract_violation', ['run', AGENT, 'order=nonsense', 'amount:=1']],
    ['an agent that is not there', 5, 'not_found', ['run', 'acme.nobody']],
    ['a version that is not there', 5, 'not_found', ['deploy', `${AGENT}@9.9.9`]],
    ['a run that is not there', 5, 'not_found', ['runs', 'get', '01a1fc2b-1d46-7001-8f16-ba4d0d7ecc03']],
    ['a task that is not there', 5, 'not_found', ['approve', '01a1fc2b-1d46-7001-8f16-ba4d0d7ecc03']],
    ['a path that is not there', 5, 'no_documents', ['publish', 'nowhere']],
    [
      'a key that is wrong',
      4,
      'invalid_api_key',
      ['runs', 'get', '01a1fc2b-1d46-7001-8f16-ba4d0d7ecc03'],
      { SVC_API_KEY: `svc_${'a'.repeat(38)}` },
    ],
    [
      'no server',
      8,
      'no_server',
      ['run', AGENT, 'order=A-1', 'amount:=1'],
      { SVC_URL: NOWHERE, SVC_API_KEY: 'SECRET' },
    ],
    ['a directory that is not empty', 6, 'directory_not_empty', ['init', '.']],
  ])('%s ends with %i: one line of JSON on stderr, nothing on stdout', async (_, code, name, args, env = {}) => {
    const known = env['SVC_API_KEY'] === 'SECRET' ? { ...env, SVC_API_KEY: secret } : env
    const ran = await svc([...args, '--json'], { cwd: project.directory, env: { ...known } })
    expect([ran.code, ran.stdout, errorOf(ran.stderr).code]).toEqual([code, '', name])
    expect(errorOf(ran.stderr).message).toMatch(/\S/)
  })

  test('a process says and ends as its command does', async () => {
    for (const args of [
      ['rnu', '--json'],
      ['inbox', '--json'],
      ['run', '--help'],
    ])
      expect(await svcProcess(args, here)).toEqual(await svc(args, here))
  })

  test('a limit ends with 7, and a refusal names its request', async () => {
    const at = ['--data', join(project.directory, 'limited')]
    await svcJson(['publish', '--deploy', ...at], here)
    await svcJson(['triggers', 'create', AGENT, '--type', 'api', '--max-concurrent', '1', ...at], here)
    const limited = await serveHere(at, here)
    const run = () => svc(['run', AGENT, 'order=A-1', 'amount:=180', '--json', ...at], here)
    expect((await run()).code).toBe(3)
    const second = await run()
    expect([second.code, second.stdout]).toEqual([7, ''])
    expect(errorOf(second.stderr)).toMatchObject({
      code: 'concurrency_limited',
      status: 429,
      request: `POST /v1/agents/${agentId}/runs → 429`,
      requestId: uuid,
    })
    await limited.stop('SIGTERM')
  })

  test('runs get --exit-status tells the status', async () => {
    const status = async (id: string) => (await cli('runs', 'get', id, '--exit-status', '--json')).code
    const { runId, userTaskId } = await waiting()
    expect(await status(runId)).toBe(3)
    // It repeats an earlier refund of the order.
    const { items } = await json('inbox')
    const { argsDigest } = items.find((item: Json) => item.userTaskId === userTaskId)
    await json('approve', userTaskId, '--args-digest', argsDigest)
    await api.settled(runId)
    expect(await status(runId)).toBe(0)
    const other = await waiting()
    await json('runs', 'cancel', other.runId)
    expect(await status('@last')).toBe(1)
  })

  test.each([
    [['--version'], /^\d+\.\d+\.\d+\n$/],
    [['--help'], /serve/],
    [['run', '--help'], /--on-task/],
  ])('%j ends with 0 and answers on stdout', async (args, text) => {
    const ran = await cli(...args)
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect(ran.stdout).toMatch(text)
  })
})

/** The error of `--json`: one line, whatever hints come before it. */
function errorOf(stderr: string): Json {
  const lines = stderr.trimEnd().split('\n')
  expect(lines).toHaveLength(1)
  return JSON.parse(lines[0]!).error
}
