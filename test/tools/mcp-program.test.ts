/** MCP servers that are programs: the reference server, and small ones that misbehave. A new kind is one line of a table. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createRedactor } from '../../src/base/secret.ts'
import type { Clock } from '../../src/base/clock.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { McpProgramConfig } from '../../src/spec/project/config.ts'
import { digestOfTool } from '../../src/tools/mcp/listed-tool.ts'
import { startMcpProcess } from '../../src/tools/mcp/mcp-process.ts'
import type { Toolbox, ToolInvocation, ToolProgress } from '../../src/tools/tool.ts'
import { waitUntil } from '../wait-until.ts'
import { agentWith, invocationOf, timeless, toolboxWith, toolNamed } from './invocation.ts'

const URL_OF_SERVER = 'https://local.invalid/mcp'
const EVERYTHING = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'))

let directory: string
let pidFile: string
let now = 0
const clock: Clock = { now: () => Date.UTC(2026, 0, 1) + now, monotonic: () => now }
let toolbox: Toolbox | undefined
beforeEach(() => {
  now = 0
  directory = mkdtempSync(join(tmpdir(), 'svc-mcp-'))
  pidFile = join(directory, 'pids')
})
afterEach(async () => {
  await toolbox?.close()
  rmSync(directory, { recursive: true, force: true })
})

const ROUTES = { 'acme.*': { mock: [], timeout: '20s' }, 'acme.hang': { mock: [], timeout: '300ms' } }
const open = (program: McpProgramConfig, env: Record<string, string> = {}): void => {
  toolbox = toolboxWith(
    { mcp_servers: { 'HTTPS://local.invalid:443/mcp': program }, tools: ROUTES },
    { configDir: directory, clock, redactor: createRedactor(), env: { PATH: process.env['PATH'], ...env } },
  )
}
const openMode = (mode: string, more: Partial<McpProgramConfig> = {}, env?: Record<string, string>): void =>
  open({ command: ['node', join(import.meta.dirname, 'programs/mcp.mjs'), mode, pidFile], ...more }, env)

const agent = () =>
  agentWith({
    mcpServers: [{ name: 'local', url: URL_OF_SERVER, auth: { scheme: 'bearer', secret: 'unused' } }],
    secrets: { unused: { fromEnv: 'UNUSED' } },
  })
const named = (name: string, more: object = {}) =>
  toolNamed(`acme.${name}`, { mcp: { server: 'local', tool: name, ...more } })
const call = async (
  name: string,
  args: JsonObject = {},
  { signal = new AbortController().signal, ...more }: Partial<ToolInvocation> & { signal?: AbortSignal } = {},
): Promise<object> =>
  timeless(await toolbox!.route(agent(), named(name))!.invoke(invocationOf(named(name), args, more), signal))
const pids = (): readonly number[] =>
  existsSync(pidFile) ? readFileSync(pidFile, 'utf8').trim().split('\n').map(Number) : []
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
const said = (result: unknown) => ({ at: 'returned', isError: false, result })

test('the reference server answers over its standard streams', async () => {
  open({ command: ['node', EVERYTHING, 'stdio'] })
  const calls: readonly [string, JsonObject, unknown][] = [
    ['echo', { message: 'hi' }, 'Echo: hi'],
    ['get-sum', { a: 2, b: 3 }, 'The sum of 2 and 3 is 5.'],
    ['get-structured-content', { location: 'New York' }, { temperature: 33, conditions: 'Cloudy', humidity: 82 }],
    ['trigger-long-running-operation', { duration: 0.05, steps: 2 }, expect.stringContaining('completed')],
  ]
  const reports: ToolProgress[] = []
  const onProgress = (each: ToolProgress): void => void reports.push(each)
  const answers = calls.map(([name, args]) => call(name, args, { idempotencyKey: name, onProgress }))
  expect(await Promise.all(answers)).toEqual(calls.map(([, , result]) => said(result)))
  expect(reports).toEqual([{ progress: 1, total: 2 }])
})

test.each(['answering in batches', 'answering in reversed order'])(
  'each of two calls gets its own answer from a program that is %s',
  async (mode) => {
    openMode(mode)
    const given = [
      { text: 'a', at: 1 },
      { text: 'b\u2028\u{1F600}', at: 2 },
    ]
    const answers = given.map((each) => call('echo', each, { idempotencyKey: `${each.at}` }))
    expect(await Promise.all(answers)).toEqual(given.map(said))
  },
)

test('no message that its program read counts as not sent', async () => {
  const log = join(directory, 'read')
  const program = await startMcpProcess({
    argv: ['node', join(import.meta.dirname, 'programs/late-reader.mjs'), log],
    cwd: directory,
    env: {},
    allow: [],
    mostMemory: Infinity,
    redactor: createRedactor(),
    onLine: () => {},
  })
  const messages = ['a', 'b', 'c', 'd'].map((name) => `${name}:${name === 'a' || name === 'd' ? 'x'.repeat(1e6) : ''}`)
  const written = await Promise.allSettled(messages.map((each) => program.write(each)))
  await waitUntil(() => program.ended.aborted)
  const read = readFileSync(log, 'utf8').trim().split('\n')
  const unsent = messages.filter((_, at) => written[at]!.status === 'rejected').map(([name]) => name)
  expect([read, unsent]).toEqual([['a', 'b', 'c'], ['d']])
})

test('what may not leave any more when its turn comes is not written', async () => {
  const log = join(directory, 'read')
  const program = await startMcpProcess({
    argv: [
      'node',
      '-e',
      `setTimeout(() => process.stdin.pipe(require('fs').createWriteStream(process.argv[1])), 200)`,
      log,
    ],
    cwd: directory,
    env: {},
    allow: [],
    mostMemory: Infinity,
    redactor: createRedactor(),
    onLine: () => {},
  })
  const first = 'x'.repeat(1e6)
  let mayLeave = true
  const refused = new Error('held back')
  const written = [
    program.write(first),
    program.write('second', () => {
      if (!mayLeave) throw refused
    }),
    program.write('third', () => {}),
  ]
  // It might leave when it was given, and waits for a program that does not read yet.
  mayLeave = false
  expect(await Promise.allSettled(written)).toEqual([
    { status: 'fulfilled', value: undefined },
    { status: 'rejected', reason: refused },
    { status: 'fulfilled', value: undefined },
  ])
  await program.end(new Error('done'))
  expect(readFileSync(log, 'utf8')).toBe(`${first}\nthird\n`)
})

test('all calls of all runs share one process, and none of the secrets of the agent is needed', async () => {
  openMode('good')
  const runs = ['run-1', 'run-2', 'run-3'].map((id) =>
    call('pid', {}, { idempotencyKey: id, run: { ...invocationOf(named('pid'), {}).run, id } }),
  )
  const answers = new Set((await Promise.all(runs)).map((each) => JSON.stringify(each)))
  expect([answers.size, pids().length]).toEqual([1, 1])
})

test('a program gets the variables that are named, and no others', async () => {
  openMode(
    'good',
    { env: ['TOKEN_OF_TEST', 'SVC_KEY'] },
    {
      TOKEN_OF_TEST: 'token-of-the-test',
      SVC_KEY: 'k',
      AWS_SECRET_ACCESS_KEY: 'x',
    },
  )
  const { result } = (await call('environment')) as { result: { names: string[]; cwd: string } }
  expect([result.names.filter((name) => !name.startsWith('__')), result.cwd]).toEqual([
    ['PATH', 'SVC_MCP_PROGRAM', 'TOKEN_OF_TEST'],
    directory,
  ])
})

test('a variable without a value holds the run as a missing secret does', async () => {
  openMode('good', { env: ['TOKEN_OF_TEST'] })
  expect(await call('echo', { text: 'x' })).toEqual({
    at: 'not_sent',
    code: 'secret_missing',
    error:
      'The secret "env of MCP server local" is not set: the environment variable TOKEN_OF_TEST is missing or empty.',
  })
  expect(toolbox!.findUnsetSecret(agentWith({ ...agent(), tools: [named('echo')] }))).toEqual({
    secret: 'env of MCP server local',
    env: 'TOKEN_OF_TEST',
  })
})

test.each([
  ['noisy', 'echo', 'echo hi'],
  ['many', 'echo', 'echo hi'],
  ['sample', 'sample', { code: -32601, message: 'Method not found' }],
  ['large', 'large', expect.stringMatching(/^x{9}/) as string],
])('a program that is %s is understood', async (mode, name, result) => {
  openMode(mode)
  expect(await call(name, { text: 'hi' })).toEqual(said(result))
})

test('a program that ends at a greeting of the newest revision is started again, and greeted in the older form', async () => {
  openMode('strict')
  expect([await call('echo', { text: 'a' }), await call('echo', { text: 'b' })]).toEqual([
    said('echo a'),
    said('echo b'),
  ])
  expect(pids().map(isAlive)).toEqual([false, true])
})

test.each<[string, object]>([
  ['listing in pages', said('echo hi')],
  ['ending without a newline', said('last words')],
  [
    'ending in its answer',
    {
      at: 'unknown',
      code: 'broken',
      error: 'The connection to MCP server "local" broke during the call: node ended with exit code 0.',
    },
  ],
  [
    'closing its output',
    {
      at: 'unknown',
      code: 'broken',
      error: 'The connection to MCP server "local" broke during the call: node closed its output, and was ended.',
    },
  ],
  [
    'writing no JSON',
    {
      at: 'returned',
      isError: true,
      result: expect.stringMatching(
        /^The call was executed, but the answer of MCP server "local" is not JSON: .*last\twords/,
      ) as string,
    },
  ],
  ['losing the id', { at: 'not_sent', code: 'refused', error: 'MCP server "local" refused: What?' }],
  ['complaining in a call', said('echo hi')],
  [
    'listing nothing',
    {
      at: 'not_sent',
      code: 'refused',
      error: 'MCP server "local" cannot be used: it answers "tools/list" without a list of tools.',
    },
  ],
  [
    'old',
    {
      at: 'not_sent',
      code: 'refused',
      error: 'MCP server "local" cannot be used: it speaks protocol version "1999-01-01", which svc does not.',
    },
  ],
])('what becomes of a call of a program that is %s', async (mode, outcome) => {
  openMode(mode)
  expect(await call('echo', { text: 'hi' })).toEqual(outcome)
})

test.each([
  [
    'does not exist',
    ['svc-no-such-program'],
    /^MCP server "local" cannot be reached: svc-no-such-program could not be started: ENOENT\.$/,
  ],
  [
    'is no server',
    ['no-server'],
    /^MCP server "local" cannot be reached: node ended with exit code 2: Usage: give me a token, not \*{3}$/,
  ],
  [
    'floods',
    ['chatty'],
    /^MCP server "local" cannot be reached: node wrote more than anybody asked for, and was ended\.$/,
  ],
  [
    'never ends a line',
    ['endless'],
    /^MCP server "local" cannot be reached: node wrote a message without end, and was ended\.$/,
  ],
  ['never answers', ['mute'], /^MCP server "local" cannot be reached: .*(?:no answer within 1500 ms|timed out)/i],
])('a program that %s is an outage, said in one sentence', async (_, [mode = ''], error) => {
  if (mode === 'svc-no-such-program') open({ command: [mode] })
  else
    openMode(
      mode,
      { env: ['TOKEN_OF_TEST'], ...(mode === 'mute' && { start_timeout: '1500ms' }) },
      { TOKEN_OF_TEST: 'token-of-the-test' },
    )
  expect(await call('echo')).toEqual({
    at: 'not_sent',
    code: 'unreachable',
    error: expect.stringMatching(error) as string,
  })
  await waitUntil(() => pids().every((pid) => !isAlive(pid)))
})

test('the error of a program whose directory does not exist names it', async () => {
  open({ command: ['node', 'x.mjs'], directory: 'gone' })
  expect(await call('echo')).toEqual({
    at: 'not_sent',
    code: 'unreachable',
    error: `MCP server "local" cannot be reached: node could not be started in ${join(directory, 'gone')}, which does not exist: ENOENT.`,
  })
})

test('a call during which the program dies has an unknown outcome; the next one starts it again, after a pause', async () => {
  openMode('good')
  expect(await call('echo', { text: 'a' })).toEqual(said('echo a'))
  expect(await call('die')).toEqual({
    at: 'unknown',
    code: 'broken',
    error: 'The connection to MCP server "local" broke during the call: node ended with exit code 3: Out of luck.',
  })
  expect(await call('echo', { text: 'b' })).toEqual({
    at: 'not_sent',
    code: 'unreachable',
    error:
      'MCP server "local" cannot be reached: it ended and is started again after a pause. node ended with exit code 3: Out of luck.',
  })
  now += 1000
  expect(await call('echo', { text: 'b' })).toEqual(said('echo b'))
  expect(pids()).toHaveLength(2)
})

test('the pause doubles with each end in a row, up to five minutes', async () => {
  open({ command: ['svc-no-such-program'] })
  const isTried = async (): Promise<boolean> => !JSON.stringify(await call('echo')).includes('after a pause')
  expect(await isTried()).toBe(true)
  for (const pause of [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]) {
    now += pause * 1000 - 1
    expect([pause, await isTried()]).toEqual([pause, false])
    now += 1
    expect([pause, await isTried()]).toEqual([pause, true])
  }
})

test('a call that is cut off leaves the others alone, and its program', async () => {
  openMode('good')
  await call('echo', { text: 'w' }, { idempotencyKey: 'w' })
  const [hung, echoed] = await Promise.all([
    call('hang', {}, { idempotencyKey: 'a' }),
    call('echo', { text: 'x' }, { idempotencyKey: 'b' }),
  ])
  expect([hung, echoed]).toEqual([
    { at: 'unknown', code: 'timeout', error: 'MCP server "local" did not answer within 300 ms.' },
    said('echo x'),
  ])
  expect(await call('echo', { text: 'y' })).toEqual(said('echo y'))
  expect(pids()).toHaveLength(1)
})

test.each([
  ['silent', false],
  ['good', true],
])('a program that is %s after a call was cut off goes on: %s', async (mode, goesOn) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
  onTestFinished(() => void vi.useRealTimers())
  openMode(mode)
  // Its start is not part of the time of the call that is cut off.
  await call('echo', { text: 'x' })
  expect(await call('hang')).toMatchObject({ at: 'unknown', code: 'timeout' })
  await waitUntil(() => existsSync(`${pidFile}.pings`))
  if (goesOn) await call('echo', { text: 'x' })
  await vi.advanceTimersByTimeAsync(10_000)
  if (!goesOn) await waitUntil(() => !pids().some(isAlive))
  expect(pids().map(isAlive)).toEqual([goesOn])
})

test.runIf(process.platform === 'linux').each([
  ['more than it may', false, 150],
  ['what it may', true, 2000],
])('a program that takes %s of memory with what it started goes on: %s', async (_, goesOn, mebibytes) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  openMode('grows', { memory_bytes: mebibytes * 2 ** 20 })
  expect(await call('echo', { text: 'x' })).toEqual(said('echo x'))
  vi.advanceTimersByTime(2000)
  if (!goesOn) await waitUntil(() => !pids().some(isAlive))
  expect(pids().map(isAlive)).toEqual([goesOn, goesOn])
  const next = await call('echo', { text: 'y' })
  expect('error' in next ? next.error : next).toEqual(
    goesOn
      ? said('echo y')
      : 'MCP server "local" cannot be reached: it ended and is started again after a pause. node took more memory than the 150 MiB of `memory_bytes`, and was ended.',
  )
})

test('many calls at once are no leak', async () => {
  openMode('good')
  const warnings: string[] = []
  const note = ({ message }: Error): void => void warnings.push(message)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  const keys = Array.from({ length: 30 }, (_, at) => `key-${at}`)
  await Promise.all(keys.map((idempotencyKey) => call('echo', { text: 'x' }, { idempotencyKey })))
  expect(warnings).toEqual([])
})

test('a call that may not leave is held back before the program sees it', async () => {
  openMode('good')
  let asked = 0
  expect(await call('die', {}, { mayLeave: () => ++asked < 2 })).toEqual({
    at: 'not_sent',
    code: 'held_back',
    error: 'The call was held back before it was sent.',
  })
  expect(await call('echo', { text: 'x' })).toEqual(said('echo x'))
})

test('a tool that is not the pinned one any more is refused', async () => {
  openMode('changing')
  const integrity = digestOfTool({ name: 'echo', description: 'list 1', inputSchema: { type: 'object' } })
  const pinned = named('echo', { integrity })
  const runOf = (id: string) => ({ run: { ...invocationOf(pinned, {}).run, id } })
  const route = toolbox!.route(agent(), pinned)!
  const { signal } = new AbortController()
  expect(timeless(await route.invoke(invocationOf(pinned, { text: 'x' }, runOf('run-1')), signal))).toEqual(
    said('echo x'),
  )
  expect(await route.invoke(invocationOf(pinned, { text: 'x' }, runOf('run-2')), signal)).toMatchObject({
    at: 'not_sent',
    code: 'refused',
  })
})

test.each(['good', 'stubborn', 'forks', 'leaves'])(
  'a program that is %s is ended with the toolbox, its own processes too',
  async (mode) => {
    openMode(mode)
    expect(await call('echo', { text: 'x' })).toEqual(said('echo x'))
    const started = pids()
    expect(started.filter(isAlive)).toHaveLength(mode === 'forks' || mode === 'leaves' ? 2 : 1)
    await toolbox!.close()
    await waitUntil(() => started.every((pid) => !isAlive(pid)))
  },
)

test('the reference server asks a person over its standard streams, and gets the answer', async () => {
  open({ command: ['node', EVERYTHING, 'stdio'] })
  const asked: string[] = []
  const onQuestion: ToolInvocation['onQuestion'] = ({ message }) => {
    asked.push(message)
    return Promise.resolve({ action: 'accept', content: { name: 'Ann' } })
  }
  const outcome = await call('trigger-elicitation-request', {}, { onQuestion })
  expect(asked).toEqual(['Please provide inputs for the following fields:'])
  expect(JSON.stringify(outcome)).toContain('- Name: Ann')
})

test('a program whose question could belong to two calls is told so', async () => {
  open({ command: ['node', EVERYTHING, 'stdio'] })
  const asked: string[] = []
  const onQuestion: ToolInvocation['onQuestion'] = ({ message }) => {
    asked.push(message)
    return Promise.resolve({ action: 'decline' })
  }
  const long = call('trigger-long-running-operation', { duration: 2, steps: 1 }, { idempotencyKey: 'long' })
  const outcome = await call('trigger-elicitation-request', {}, { onQuestion })
  expect([asked, JSON.stringify(outcome)]).toEqual([
    [],
    expect.stringContaining('svc cannot tell which call asks: a question names none'),
  ])
  await long
})
