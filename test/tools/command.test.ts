import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createRedactor } from '../../src/base/secret.ts'
import { invoke, toolNamed } from './invocation.ts'
import { removeDirectory } from '../remove-directory.ts'

const tool = toolNamed('acme.orders')
const config = (timeout = '30s', env: string[] = []) => ({
  tools: { 'acme.orders': { command: ['node', 'programs/tool.mjs'], timeout, env } },
})

let directory: string
beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), 'svc-command-'))))
afterAll(() => removeDirectory(directory))

test('reads the call on stdin and answers JSON on stdout', async () => {
  expect(await invoke(config(), tool, { do: 'echo', order: 'A-1' })).toEqual({
    at: 'returned',
    isError: false,
    result: {
      tool: 'acme.orders',
      arguments: { do: 'echo', order: 'A-1' },
      idempotency_key: 'svc:run-1:2:0',
      run: {
        id: 'run-1',
        session_id: 'session-1',
        agent: 'acme.desk',
        version: '1.2.0',
        tool_call_id: 'call_2_1',
        attempt: 1,
      },
    },
  })
})

test.each([
  ['nothing', { at: 'returned', isError: false, result: null }],
  ['text', { at: 'returned', isError: true, result: 'The call was executed, but its output is not JSON: refunded!' }],
  ['fail', { at: 'returned', isError: true, result: 'exit code 3: warning: old order\nNo such order.' }],
  [
    'flood',
    {
      at: 'returned',
      isError: false,
      result: `"${'x'.repeat(1024 * 1024 - 1)}\n[cut: the output is longer than 1048576 bytes]`,
    },
  ],
  ['die', { at: 'unknown', code: 'broken', error: 'node was ended by SIGKILL.' }],
])('a program that ends with: %s', async (what, outcome) => {
  expect(await invoke(config(), tool, { do: what })).toEqual(outcome)
})

test('what a program says of a secret is redacted before it is cut', async () => {
  const secret = 'erp-token-0123456789'
  const redactor = createRedactor()
  redactor.add(secret)
  const env = { PATH: process.env['PATH'], ERP_TOKEN: secret }
  // 4,096 characters are kept: the cut falls before, within and behind the secret.
  for (const behind of [10, 4080, 4085, 4090, 4200]) {
    const outcome = await invoke(config('30s', ['ERP_TOKEN']), tool, { do: 'complain', behind }, { env, redactor })
    expect(JSON.stringify(outcome)).not.toMatch(/\d{5}|token/)
  }
})

test('the program sees a short list of variables and those the config names, never those of svc itself', async () => {
  const env = {
    PATH: process.env['PATH'],
    HOME: '/home/ana',
    TZ: 'UTC',
    ERP_TOKEN: 'erp-1',
    OTHER_TOKEN: 'x',
    SVC_API_KEY: 'svc_1',
    SVC_HOST: 'http://x',
  }
  const outcome = await invoke(
    config('30s', ['ERP_TOKEN', 'SVC_API_KEY', 'SVC_HOST', 'MISSING']),
    tool,
    { do: 'environment' },
    { env },
  )
  expect(outcome).toEqual({
    at: 'returned',
    isError: false,
    result: { PATH: process.env['PATH'], HOME: '/home/ana', TZ: 'UTC', ERP_TOKEN: 'erp-1', cwd: import.meta.dirname },
  })
})

test('a program that cannot be started was not called', async () => {
  const missing = { tools: { 'acme.orders': { command: ['./no-such-program'] } } }
  expect(await invoke(missing, tool, {})).toEqual({
    at: 'not_sent',
    code: 'refused',
    error: './no-such-program could not be started: ENOENT.',
  })
})

/** Whether a process is still there (and is more than a dead entry of the table). */
const isAlive = (pid: number): boolean => {
  const status = `/proc/${pid}/status`
  if (process.platform !== 'linux') return false
  return existsSync(status) && !/^State:\s+Z/m.test(readFileSync(status, 'utf8'))
}
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('a program out of time is ended with all it started, and nobody knows what it did', async () => {
  const file = join(directory, 'late.json')
  expect(await invoke(config('3s'), tool, { do: 'hang', file })).toEqual({
    at: 'unknown',
    code: 'timeout',
    error: 'node did not answer within 3000 ms and was ended.',
  })
  const pids = JSON.parse(readFileSync(file, 'utf8')) as number[]
  expect(pids).toHaveLength(2)
  await until(() => !pids.some(isAlive))
})

test.each([
  ['in its group', false],
  ['in a group of its own', true],
])('a program that has answered is not waited for because of what it left behind %s', async (_, detached) => {
  const file = join(directory, `left-${detached}.json`)
  expect(await invoke(config(), tool, { do: 'leave', file, detached })).toEqual({
    at: 'returned',
    isError: false,
    result: { left: true },
  })
  const [pid] = JSON.parse(readFileSync(file, 'utf8')) as [number]
  if (detached) process.kill(pid, 'SIGKILL')
  await until(() => !isAlive(pid))
})

test('a cancelled run ends the program', async () => {
  const file = join(directory, 'cancelled.json')
  const controller = new AbortController()
  const running = invoke(config(), tool, { do: 'hang', file }, {}, controller.signal)
  await until(() => existsSync(file))
  controller.abort()
  expect(await running).toEqual({
    at: 'unknown',
    code: 'broken',
    error: 'node was ended because the run was cancelled.',
  })
  expect(await invoke(config(), tool, { do: 'echo' }, {}, controller.signal)).toEqual({
    at: 'not_sent',
    code: 'cancelled',
    error: 'The run was cancelled before the call.',
  })
})

test('a program that cannot be killed is not waited for, and nobody knows what it did', async () => {
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' })
  })
  const file = join(directory, 'escaped.json')
  try {
    expect(await invoke(config('1s'), tool, { do: 'hang', file })).toEqual({
      at: 'unknown',
      code: 'timeout',
      error: 'node did not answer within 1000 ms and could not be ended.',
    })
  } finally {
    kill.mockRestore()
    for (const pid of JSON.parse(readFileSync(file, 'utf8')) as number[]) process.kill(pid, 'SIGKILL')
  }
})
