/** The main job end to end, in one process: a served project, its runs, and people who answer. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { runCommandLine } from '../../src/cli/main.ts'
import { makeIrreversible } from './desk.ts'
import {
  createWorld,
  going,
  svc as runSvc,
  temporary,
  type Going,
  type Ran,
  type World,
  type WorldOptions,
} from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
const svc = (argv: readonly string[], options: Omit<WorldOptions, 'cwd'> = {}): Promise<Ran> =>
  runSvc(argv, { cwd, ...options })
const json = async <T>(argv: readonly string[]): Promise<T> => JSON.parse((await svc([...argv, '--json'])).stdout) as T
const bookings = (): number => readFileSync(join(cwd, 'refunds.log'), 'utf8').trimEnd().split('\n').length

let server: Going

beforeAll(async () => {
  await runSvc(['init', 'shop', '--full'], { cwd: parent })
  makeIrreversible(cwd)
  await json(['publish', '--deploy'])
  await svc(['triggers', 'create', 'acme.refund-desk', '--type', 'api'])
  server = going(['serve', '--port', '0', '--json'], { cwd })
  await server.line(/"ready"/)
})

afterAll(async () => {
  await server.end()
  remove()
})

describe('publishing', () => {
  test('documents with errors are not published, and the findings say where', async () => {
    const policy = join(cwd, 'policies/refund-limit.yaml')
    const text = readFileSync(policy, 'utf8')
    writeFileSync(policy, text.replace('op: gt', 'op: above'))
    const refused = await svc(['publish', '--json'])
    writeFileSync(policy, text)
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(JSON.parse(refused.stderr)).toMatchObject({
      error: {
        code: 'documents_have_errors',
        details: [{ path: expect.stringMatching(/^policies\/refund-limit\.yaml:\d+:\d+$/) as string }],
      },
    })
  })
})

describe('a run below the limit', () => {
  test('prints the output and nothing else on stdout', async () => {
    const { code, stdout, stderr } = await svc(['run', 'acme.refund-desk', 'order=A-1042', 'amount=60'])
    expect([code, stdout]).toEqual([0, '{"refunded":60,"currency":"EUR"}\n'])
    expect(stderr).toContain('acme.refunds {"order":"A-1042","amount":60,"currency":"EUR"}')
    expect(stderr).toMatch(/completed in .* · \d+ tokens\n$/)
    expect(bookings()).toBe(1)
  })

  test('an input that does not match the contract ends with 2 and says where', async () => {
    const { code, stdout, stderr } = await svc(['run', 'acme.refund-desk', 'order=none', 'amount=5'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('error[input_contract_violation]')
    expect(stderr).toContain('/input/order')
  })
})

/** Starts a run above the limit and waits for its task. */
async function held(amount = 180): Promise<{
  runId: string
  task: { userTaskId: string; kind: string; tool: string; args: unknown }
}> {
  const { code, stdout } = await svc(['run', 'acme.refund-desk', 'order=A-1042', `amount=${amount}`, '--json'])
  expect(code).toBe(3)
  return JSON.parse(stdout) as Awaited<ReturnType<typeof held>>
}

/** The digest of what was seen: all these runs ask for one order, so that all but the first repeat a refund. */
async function seen({ userTaskId }: { readonly userTaskId: string }): Promise<readonly string[]> {
  const { items } = await json<{ items: { userTaskId: string; argsDigest: string }[] }>(['inbox'])
  return ['--args-digest', items.find((each) => each.userTaskId === userTaskId)!.argsDigest]
}

describe('a run above the limit, where nobody can be asked', () => {
  test('is seen in the inbox, approved there once, and pays once', async () => {
    const before = bookings()
    const { runId, task } = await held()
    const inbox = await json<{ items: { userTaskId: string; why: string }[]; total: number }>(['inbox'])
    expect(inbox.items.find(({ userTaskId }) => userTaskId === task.userTaskId)).toMatchObject({
      why: 'acme.refund-limit@1.0.0: args.amount > 100 (180)',
      approvals: { have: 0, need: 1, by: [] },
      onTimeout: 'deny',
      apiCompletable: true,
    })
    expect(bookings()).toBe(before)

    const approved = await json<{ items: unknown[] }>(['approve', task.userTaskId.slice(-6), ...(await seen(task))])
    expect(approved.items).toEqual([
      { userTaskId: task.userTaskId, status: 'completed', approvals: { have: 1, need: 1 }, runStatus: 'Running' },
    ])
    expect(await json(['runs', 'get', runId, '--wait'])).toMatchObject({
      status: 'Completed',
      output: { refunded: 180, currency: 'EUR' },
    })
    expect(bookings()).toBe(before + 1)

    expect(await svc(['approve', task.userTaskId])).toMatchObject({
      code: 0,
      stdout: `already approved Refund 180 EUR for A-1042 (1 of 1); run ${runId.slice(-6)} continues\n`,
    })
    const twice = await svc(['reject', task.userTaskId, '--reason', 'too late', '--json'])
    expect([twice.code, twice.stdout]).toEqual([6, ''])
    expect(JSON.parse(twice.stderr)).toMatchObject({ error: { code: 'task_already_completed' } })
  })

  test('is rejected with a reason, pays nothing, and apologises', async () => {
    const before = bookings()
    const { runId, task } = await held()
    const silent = await svc(['reject', task.userTaskId])
    expect(silent).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'error[usage]: A reason is required when not interactive.\n  fix:  --reason TEXT   or   --no-reason\n',
    })
    const rejected = await svc(['reject', task.userTaskId, '--reason', 'customer already refunded'])
    expect(rejected).toMatchObject({
      code: 0,
      stdout: `rejected; on_reject: return to agent; run ${runId.slice(-6)} continues\n`,
    })
    expect(await json(['runs', 'get', runId, '--wait'])).toMatchObject({
      status: 'Completed',
      output: { refunded: 0, currency: 'EUR', message: 'I am sorry, this refund was not approved.' },
    })
    expect(bookings()).toBe(before)
  })

  test('is approved with other arguments, which are the ones that run', async () => {
    const { runId, task } = await held()
    const edited = ['--edit', '{"order":"A-1042","amount":150,"currency":"EUR"}']
    expect((await svc(['approve', task.userTaskId, ...edited, ...(await seen(task))])).stdout).toMatch(
      /^approved acme\.refunds amount 150 EUR, order A-1042 \(1 of 1\)/,
    )
    expect(await json(['runs', 'get', runId, '--wait'])).toMatchObject({
      status: 'Completed',
      output: { refunded: 150, currency: 'EUR' },
    })
  })

  test('is not approved when its arguments are not the ones that were reviewed', async () => {
    const { runId, task } = await held()
    const refused = await svc(['approve', task.userTaskId, '--args-digest', 'sha256:00aa00aa', '--json'])
    expect([refused.code, refused.stdout]).toEqual([6, ''])
    const { items } = await json<{ items: { userTaskId: string; argsDigest: string }[] }>(['inbox'])
    const { argsDigest } = items.find(({ userTaskId }) => userTaskId === task.userTaskId)!
    const is = /^sha256:[0-9a-f]{8}/.exec(argsDigest)![0]
    const changed = `The arguments changed since they were reviewed (sha256:00aa00aa… → ${is}…).`
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'arguments_changed', message: changed } })
    const asText = await svc(['approve', task.userTaskId, '--args-digest', '00aa00aa'])
    expect(asText).toMatchObject({ code: 6, stdout: '' })
    expect(asText.stderr).toContain(changed)
    expect(asText.stderr).toContain('svc inbox     look again, then approve')
    await svc(['runs', 'cancel', runId])
  })

  test('is answered with an API key through /v1 alone, where its trigger says so', async () => {
    const { runId, task } = await held()
    const key = (await svc(['keys', 'create', '--agent', 'acme.refund-desk', '--trigger', 'api'])).stdout.trim()
    const env = { SVC_API_KEY: key }
    expect(await svc(['approve', task.userTaskId.slice(-6)], { env })).toMatchObject({ code: 2, stdout: '' })
    const approve = ['approve', task.userTaskId.slice(-6), '--run', runId, ...(await seen(task))]
    const refused = await svc(approve, { env })
    expect(refused).toMatchObject({ code: 4, stdout: '' })
    expect(refused.stderr).toMatch(
      /^error\[approval_not_allowed\]: This API key may not answer approvals: .*svc triggers update [\w-]{36} --allow-approvals/s,
    )
    await svc(['triggers', 'update', 'api', '--allow-approvals'])
    expect(await svc(approve, { env })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^approved Refund 180 EUR for A-1042 \(1 of 1\)/) as string,
    })
    const got = await svc(['runs', 'get', runId, '--wait', '--json'], { env })
    expect(JSON.parse(got.stdout)).toMatchObject({ status: 'Completed' })
    await svc(['triggers', 'update', 'api', '--no-allow-approvals'])
  })

  test('takes the key from standard input, which is read once', async () => {
    const stdin = (await svc(['keys', 'create', '--agent', 'acme.refund-desk', '--trigger', 'api'])).stdout
    const started = await svc(['run', 'acme.refund-desk', 'order=A-77', 'amount:=20', '--key-file', '-'], { stdin })
    expect([started.code, started.stdout]).toEqual([0, '{"refunded":20,"currency":"EUR"}\n'])
  })

  test('a credential that is an option comes before a key of the environment', async () => {
    const stdin = (await svc(['keys', 'create', '--operator', '--email', 'eva@acme.example'])).stdout
    const env = { SVC_API_KEY: 'svc_none' }
    expect((await svc(['sessions', 'list', '--json'], { env })).code).toBe(2)
    expect((await svc(['sessions', 'list', '--json', '--operator-key-file', '-'], { env, stdin })).code).toBe(0)
  })

  test('is cancelled with its task', async () => {
    const { runId, task } = await held()
    const { items } = await json<{ items: unknown[] }>(['runs', 'cancel', runId])
    expect(items).toEqual([{ runId, before: 'WaitingForHITL', after: 'Cancelled' }])
    expect(await svc(['approve', task.userTaskId])).toMatchObject({ code: 6 })
    expect((await svc(['runs', 'get', runId, '--exit-status'])).code).toBe(1)
  })
})

describe('a run above the limit, at a terminal', () => {
  const start = ['run', 'acme.refund-desk', 'order=A-1042', 'amount=180']

  test('shows the card and pays when a and, as the call cannot be undone, y are pressed', async () => {
    const { code, stdout, stderr, asked } = await svc(start, { tty: true, answers: ['a', 'n', 'a', 'y'] })
    expect([code, stdout]).toEqual([0, '{"refunded":180,"currency":"EUR"}\n'])
    expect(stderr).toContain('┌ Approval needed · acme.refunds@1.0.0 · irreversible_action · expires in')
    expect(stderr).toContain('(then deny)')
    expect(stderr).toContain('│ ┆ ▸ amount    180 EUR   ← args.amount > 100  policies/refund-limit.yaml:15\n')
    expect(stderr).toContain('│ why       Refunds above EUR 100 need a person   acme.refund-limit@1.0.0\n')
    expect(stderr).toContain(
      '│ [a]pprove  [r]eject  [e]dit arguments  [v]iew whole  [w]hy  [h]istory  [W]rite a policy\n',
    )
    expect(stderr).toContain('└ this was done before, and this cannot be undone: approve it?  [y]es  [n]o\n')
    expect(stderr).toContain('└ approved by the operator\n')
    expect(asked).toEqual(['', '', '', ''])
  })

  test('r asks for the reason, which reaches the model', async () => {
    const { code, stdout } = await svc(start, { tty: true, answers: ['r', 'not again'] })
    expect([code, stdout]).toEqual([
      0,
      '{"refunded":0,"currency":"EUR","message":"I am sorry, this refund was not approved."}\n',
    ])
    const conversation = await json<{ items: { type: string; content: { result?: unknown } }[] }>([
      'runs',
      'conversation',
      '@last',
    ])
    expect(
      JSON.stringify(conversation.items.filter(({ type }) => type === 'ToolResult').at(-1)?.content.result),
    ).toContain('not again')
  })

  test('w and c tell more and ask again; l leaves the run waiting with 3', async () => {
    const { code, stdout, stderr, asked } = await svc(start, { tty: true, answers: ['w', 'c', 'q', 'l'] })
    expect([code, stdout]).toEqual([3, ''])
    expect(asked).toEqual(['', '', '', ''])
    expect(stderr).toContain('● acme.refund-limit@1.0.0')
    expect(stderr).toContain('UserTaskReq')
    expect((await svc(['runs', 'watch', '@last'], { tty: true, answers: ['a', 'y'] })).stdout).toBe(
      '{"refunded":180,"currency":"EUR"}\n',
    )
  })

  test('e opens the arguments; edited ones run, unchanged ones ask again', async () => {
    const edited = '{"order":"A-1042","amount":120,"currency":"EUR"}'
    const same = JSON.stringify({ order: 'A-1042', amount: 180, currency: 'EUR' }, null, 2)
    const { code, stdout, stderr } = await svc(start, {
      tty: true,
      answers: ['e', same, 'e', edited, 'n', 'e', edited, 'y'],
    })
    expect([code, stdout]).toEqual([0, '{"refunded":120,"currency":"EUR"}\n'])
    expect(stderr).toContain('Nothing was changed.')
  })

  test('Ctrl-C leaves the run as it is and says how to come back', async () => {
    const world = createWorld({ cwd, tty: true })
    const thinking: World['io'] = {
      ...world.io,
      prompts: {
        ...world.io.prompts,
        key: (_question, _keys, signal) =>
          new Promise((_, failed) => {
            signal?.addEventListener('abort', () => failed(signal.reason as Error))
            world.signal('SIGINT')
          }),
      },
    }
    expect(await runCommandLine(start, thinking)).toBe(130)
    expect(world.stdout()).toBe('')
    expect(world.stderr()).toMatch(/run [0-9a-f]{6} continues; come back with: svc runs watch [0-9a-f]{6}\n$/)
    expect(await json(['runs', 'get', '@last'])).toMatchObject({ status: 'WaitingForHITL' })
    await svc(['runs', 'cancel', '@last'])
  })

  test('a task that is answered elsewhere closes the question', async () => {
    const world = createWorld({ cwd, tty: true })
    const elsewhere: World['io'] = {
      ...world.io,
      prompts: {
        ...world.io.prompts,
        key: (_question, _keys, signal) =>
          new Promise((_, failed) => {
            signal?.addEventListener('abort', () => failed(signal.reason as Error))
            void json<{ items: { userTaskId: string }[] }>(['inbox']).then(async ({ items }) =>
              svc(['approve', '@waiting', ...(await seen(items[0]!))]),
            )
          }),
      },
    }
    expect(await runCommandLine(start, elsewhere)).toBe(0)
    expect(world.stdout()).toBe('{"refunded":180,"currency":"EUR"}\n')
    expect(world.stderr()).toContain('└ answered elsewhere: approved by the operator\n')
  })
})

describe('looking at a run', () => {
  beforeAll(async () => {
    await svc(['run', 'acme.refund-desk', 'order=A-9', 'amount=7'])
  })

  test('its stream is filtered by kind, subject and end', async () => {
    const { stdout } = await svc([
      'stream',
      '@last',
      '--kind',
      'session',
      '--kind',
      'run',
      '--subject',
      'engine.*.started',
      '--until',
      'engine.subagent.spawned',
      '--jq',
      '.subject',
    ])
    expect(stdout).toBe('"engine.session.started"\n"engine.run.started"\n')
  })

  test('its conversation is the body of the API, and can be narrowed', async () => {
    const { items, runs } = await json<{ items: { type: string; ordinal: number }[]; runs: unknown[] }>([
      'runs',
      'conversation',
      '@last',
      '--type',
      'ToolCall',
    ])
    expect(items.map(({ type }) => type)).toEqual(['ToolCall', 'ToolCall'])
    expect(runs).toHaveLength(2)
  })

  test('policy explain reports which policy decided each call', async () => {
    const { items } = await json<{
      items: { tool: string; decision: string; policies: { id: string; matched: boolean | null }[] }[]
    }>(['policy', 'explain', '@last'])
    expect(items.map(({ tool, decision }) => [tool, decision])).toEqual([
      ['lookup', 'allow'],
      ['fraud-check', 'allow'],
      ['refunds', 'allow'],
    ])
    expect(items[2]!.policies.find(({ id }) => id === 'acme.small-refunds')).toMatchObject({ matched: true })
  })

  test('policy backtest lists the recorded calls that other policies would decide otherwise', async () => {
    const ceiling = join(cwd, 'policies/refund-ceiling.yaml')
    const text = readFileSync(ceiling, 'utf8')
    const same = await json<{ calls: number; flips: unknown[] }>(['policy', 'backtest', '--policies', ceiling])
    expect([same.calls > 0, same.flips]).toEqual([true, []])
    writeFileSync(ceiling, text.replace('value: 5000', 'value: 1'))
    const last = await json<{ items: { runId: string; tool: string; decision: string }[] }>([
      'policy',
      'explain',
      '@last',
    ])
    const { flips } = await json<{ flips: { runId: string }[] }>(['policy', 'backtest', '--policies', ceiling])
    const whole = await json<{ flips: { runId: string }[] }>(['policy', 'backtest', '--policies', '.', '--since', '1h'])
    writeFileSync(ceiling, text)
    const { runId, decision: was } = last.items.find(({ tool }) => tool === 'refunds')!
    const expected = { runId, tool: 'acme.refunds', was, now: 'deny', by: 'acme.refund-ceiling@1.0.0' }
    expect(flips.find((each) => each.runId === runId)).toMatchObject(expected)
    expect(whole.flips).toEqual(flips)
  })

  test('lists in a pipe are separated by TABs with whole ids and no header', async () => {
    const { stdout } = await svc(['runs', 'list', '--agent', 'acme.refund-desk', '--limit', '1'])
    expect(stdout).toMatch(/^[0-9a-f-]{36}\tacme\.refund-desk\tCompleted\t\d{4}-\d\d-\d\dT[\d:.]+Z\t[^\t]+\t\d+\t\n$/)
  })

  test('lists at a terminal have a header and short ids', async () => {
    const { stdout } = await svc(['runs', 'list', '--limit', '1'], { tty: true })
    expect(stdout).toMatch(/^RUN +AGENT +STATUS +STARTED +TOOK +TOKENS\n[0-9a-f]{6}  acme/)
  })
})

describe('keys', () => {
  test('revoking asks, and without a terminal needs --yes', async () => {
    const { keyId } = await json<{ keyId: string }>([
      'keys',
      'create',
      '--agent',
      'acme.refund-desk',
      '--trigger',
      'api',
    ])
    expect(await svc(['keys', 'revoke', keyId])).toMatchObject({ code: 2, stdout: '' })
    expect(await svc(['keys', 'revoke', keyId], { tty: true, answers: [false] })).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'kept\n',
    })
    const revoked = await svc(['keys', 'revoke', keyId, '--yes', '--json'])
    expect(JSON.parse(revoked.stdout)).toMatchObject({ keyId, revokedAt: expect.any(String) as string })
  })
})

test('a trigger shows its limits and can be changed', async () => {
  const { triggerId } = await json<{ triggerId: string }>([
    'triggers',
    'create',
    'acme.refund-desk',
    '--name',
    'web',
    '--rate',
    '10/m',
    '--max-concurrent',
    '2',
    '--no-expose-timeline',
  ])
  expect(await json(['triggers', 'show', triggerId])).toMatchObject({
    name: 'web',
    ratePerMinute: 10,
    ratePerDay: null,
    maxConcurrentRuns: 2,
    exposeTimeline: false,
  })
  expect(await json(['triggers', 'update', triggerId, '--rate', '5/d', '--expose-timeline'])).toMatchObject({
    ratePerMinute: 10,
    ratePerDay: 5,
    exposeTimeline: true,
  })
  // Completion offers names, so they are taken.
  expect(await json(['triggers', 'show', 'web'])).toMatchObject({ triggerId })
  expect(await svc(['triggers', 'show', 'wub'])).toMatchObject({ code: 5 })
  expect(await json(['triggers', 'delete', triggerId, '--yes'])).toEqual({ triggerId })
  expect(await svc(['triggers', 'show', triggerId])).toMatchObject({ code: 5 })
})

test('a trigger whose keys approve is named where it is made, listed and looked at by doctor', async () => {
  const made = await svc(['triggers', 'create', 'acme.refund-desk', '--name', 'shop', '--allow-approvals'])
  expect(made.stderr).toContain(
    'warning: the program that starts a run with a key of this trigger can approve its calls',
  )
  const listed = await svc(['triggers', 'list'])
  expect(listed.stdout).toMatch(/\tshop\t.*\tapprove$/m)
  const looked = await json<{ items: { say: string }[] }>(['doctor', 'triggers'])
  expect(looked.items[0]!.say).toBe(
    'keys approve what they start, as told: acme.refund-desk / shop (svc triggers update TRIGGER --no-allow-approvals)',
  )
  await svc(['triggers', 'update', 'shop', '--no-allow-approvals'])
  expect((await svc(['triggers', 'list'])).stdout).not.toContain('approve')
  await svc(['triggers', 'delete', 'shop', '--yes'])
})

test('a schedule needs the input that its agent asks for', async () => {
  const create = ['triggers', 'create', 'acme.refund-desk', '--type', 'schedule', '--cron', '0 9 1 1 *']
  const refused = await svc(create)
  expect(refused).toMatchObject({ stdout: '' })
  expect(refused.stderr).toMatch(/^error\[input_contract_violation\]: .* \/input\/order is required\..*--input JSON/s)
  for (const input of ['{', '[]', '"x"']) expect((await svc([...create, '--input', input])).code).toBe(2)
  const input = { order: 'A-1', amount: 40 }
  expect(await json([...create, '--input', JSON.stringify(input)])).toMatchObject({ input, inputProblem: null })
  expect((await svc(['triggers', 'show', 'schedule'])).stdout).toContain('{"order":"A-1","amount":40}')
  await svc(['triggers', 'delete', 'schedule', '--yes'])
})

test('another server on the same data directory is refused with 6', async () => {
  expect(await svc(['serve', '--port', '0', '--json'])).toMatchObject({ code: 6, stdout: '' })
})

test('an address that others reach is refused unless it is meant', async () => {
  expect(await svc(['serve', '--host', '0.0.0.0', '--port', '0'])).toMatchObject({ code: 2, stdout: '' })
})

test('where no server runs, run ends with 8', async () => {
  await runSvc(['init', 'quiet', '--full'], { cwd: parent })
  const quiet = join(parent, 'quiet')
  await runSvc(['publish', '--deploy'], { cwd: quiet })
  expect(await runSvc(['run', 'acme.refund-desk', 'order=A-1', 'amount=1'], { cwd: quiet })).toMatchObject({
    code: 8,
    stdout: '',
  })
})

describe('svc demo', () => {
  test('without a terminal plays the recorded decision and ends with the output', async () => {
    const { code, stdout, stderr } = await runSvc(['demo', '--speed', '0'], { cwd: parent })
    expect(code).toBe(0)
    const lines = stdout.trimEnd().split('\n')
    expect(lines.at(-1)).toBe('completed\t{"refunded":180,"currency":"EUR"}')
    // The last message of the model is the output, so it is shown once.
    expect(lines.filter((line) => line.includes('"refunded":180'))).toHaveLength(1)
    expect(stdout).toContain('acme.refund-limit@1.0.0')
    expect(stderr.replaceAll(/http\S+|\b\d+ m?s\b|\b\d\.\d s\b|(?<=run )[0-9a-f]{6}/g, 'N').split('\n')).toEqual([
      '1/5 started a local server           N  (in memory)',
      '2/5 running acme.refund-desk         order A-1042, EUR 180',
      '3/5 a policy stops the refund        a person decides',
      '4/5 the run continues                exactly the approved call, once',
      'in N · 1678 tokens (scripted)',
      '5/5 a second run, the same order     stopped: run N has done refund:A-1042; it pays nothing',
      'next:  svc init refund-demo --full && cd refund-demo && svc dev          the same project, to change and run',
      '',
    ])
  })

  test('at a terminal the person decides, and cannot leave by later', async () => {
    const { code, stdout, stderr, asked } = await runSvc(['demo', '--speed', '0'], {
      cwd: parent,
      tty: true,
      answers: ['l', 'a'],
    })
    expect(code).toBe(0)
    expect(asked).toEqual(['', ''])
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(
      /^completed {2}\{"refunded":180,"currency":"EUR"\} {2}[\d.]+ m?s · 1678 tokens \(scripted\)$/,
    )
    expect(stderr).toContain('The demo continues once you have decided: a approves, r rejects.')
  })

  test('a rejection is not told as an approval', async () => {
    const { stdout, stderr } = await runSvc(['demo', '--speed', '0'], { cwd: parent, tty: true, answers: ['r', 'no'] })
    expect(stderr).toContain('4/5 the run continues                the refund is not made\n')
    expect(stdout).toContain('"refunded":0')
  })

  test('--json ends with the result', async () => {
    const { stdout } = await runSvc(['demo', '--json'], { cwd: parent })
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type?: string; subject?: string })
    expect(lines.slice(0, -1).every(({ subject }) => subject?.startsWith('engine.'))).toBe(true)
    expect(lines.at(-1)).toMatchObject({
      type: 'result',
      status: 'Completed',
      output: { refunded: 180, currency: 'EUR' },
    })
  })
})

describe('beside svc dev', () => {
  const bench = join(parent, 'beside')
  let dev: Going
  beforeAll(async () => {
    await runSvc(['init', 'beside', '--full'], { cwd: parent })
    dev = going(['dev', '--port', '0', '--json'], { cwd: bench })
    await dev.line(/"ready"/)
  })
  afterAll(async () => {
    await dev.end()
  })
  const start = ['run', 'acme.refund-desk', 'order=A-1', 'amount=180']

  test('written decisions answer for people', async () => {
    writeFileSync(
      join(bench, 'decisions.yaml'),
      '- { tool: acme.refunds, when: { field: args.amount, op: lte, value: 200 }, decide: approve, as: ci@acme.example }\n',
    )
    const { code, stdout, stderr } = await runSvc([...start, '--decide', 'decisions.yaml'], { cwd: bench })
    expect([code, stdout]).toEqual([0, '{"refunded":180,"currency":"EUR"}\n'])
    expect(stderr).toContain('answered by a rule as ci@acme.example')
    const over = ['run', 'acme.refund-desk', 'order=A-1', 'amount=300', '--decide', 'decisions.yaml']
    expect((await runSvc(over, { cwd: bench })).code).toBe(3)
    await runSvc(['runs', 'cancel', '@last'], { cwd: bench })
  })

  test('an invalid decision is refused with its place', async () => {
    writeFileSync(join(bench, 'wrong.yaml'), '- { tool: acme.refunds }\n')
    const { code, stderr } = await runSvc([...start, '--decide', 'wrong.yaml'], { cwd: bench })
    expect(code).toBe(2)
    expect(stderr).toContain('wrong.yaml: entry 1: decide[0] answers nothing.')
  })

  test('a path is published and run; a version must have been published', async () => {
    const path = ['run', './agents/refund-desk.yaml', 'order=A-5', 'amount=5']
    expect(await runSvc(path, { cwd: bench })).toMatchObject({ code: 0, stdout: '{"refunded":5,"currency":"EUR"}\n' })
    const other = await runSvc(['run', 'acme.refund-desk@9.9.9', 'order=A-1', 'amount=5'], { cwd: bench })
    expect(other).toMatchObject({ code: 5, stdout: '' })
    expect(other.stderr).toContain('svc versions list acme.refund-desk')
  })

  test('a save reports what the agent may do now that it might not before', async () => {
    const file = join(bench, 'policies/refund-limit.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('value: 100', 'value: 250'))
    const reload = JSON.parse(await dev.line(/"reload"/)) as { changes: { kind: string; widens: boolean }[] }
    expect(reload.changes).toContainEqual(expect.objectContaining({ kind: 'authority.widened', widens: true }))
  })

  test('a version that is not deployed is run by its name, and says so', async () => {
    const listed = await runSvc(['versions', 'list', 'acme.refund-desk', '--json'], { cwd: bench })
    const { items } = JSON.parse(listed.stdout) as { items: { versionLabel: string; deployed: boolean }[] }
    const before = items.find(({ deployed }) => !deployed)!.versionLabel
    const start = ['run', `acme.refund-desk@${before}`, 'order=A-6', 'amount=6']
    const { code, stdout, stderr } = await runSvc(start, { cwd: bench })
    expect([code, stdout]).toEqual([0, '{"refunded":6,"currency":"EUR"}\n'])
    expect(stderr).toContain(`acme.refund-desk@${before}, which is not deployed`)
    const { stdout: runs } = await runSvc(['runs', 'list', '--json'], { cwd: bench })
    expect((JSON.parse(runs) as { items: { versionLabel: string }[] }).items[0]!.versionLabel).toBe(before)
  })

  test('a recorded decision is explained by the history that it saw, and what was not recorded says so', async () => {
    const file = join(bench, 'policies/large-refunds.yaml')
    const text = readFileSync(file, 'utf8')
    const counting = (measure: string): string => text.replace('field: args.amount', `field: ${measure}`)
    const reloads = dev.world.stdout().split('"reload"').length
    // Another order: one is refunded once.
    const next = start.map((each) => each.replace('A-1', 'A-2'))
    writeFileSync(file, counting('history.session.this_tool.total(args.amount)'))
    await vi.waitFor(() => expect(dev.world.stdout().split('"reload"').length).toBeGreaterThan(reloads), 50_000)
    expect((await runSvc(next, { cwd: bench })).code).toBe(0)
    const told = await runSvc(['policy', 'explain', '@last', '--json'], { cwd: bench })
    const { items } = JSON.parse(told.stdout) as { items: { tool: string; trace: object[]; assumed?: string[] }[] }
    const refund = items.find(({ tool }) => tool === 'refunds')!
    expect(refund.trace).toContainEqual(expect.objectContaining({ left: 180, right: 1000, result: 'false' }))
    expect(items.every(({ assumed }) => assumed === undefined)).toBe(true)

    writeFileSync(join(parent, 'other.yaml'), counting('history.run.this_tool.attempts').replace('1000', '0'))
    const other = ['policy', 'backtest', '--policies', '../other.yaml']
    const json = await runSvc([...other, '--json'], { cwd: bench })
    const assumed = ['history.run.this_tool.attempts']
    const { flips, ...rest } = JSON.parse(json.stdout) as { calls: number; assumed: string[]; flips: object[] }
    expect(rest).toEqual({ calls: expect.any(Number) as number, assumed })
    expect(flips).toContainEqual(
      expect.objectContaining({ tool: 'acme.refunds', was: 'allow', now: 'require_approval', assumed }),
    )
    expect((await runSvc(other, { cwd: bench })).stderr).toContain(
      'history.run.this_tool.attempts was not asked for then; counted over the recorded calls as they ended',
    )
    writeFileSync(file, text)
  })

  test('a second dev attaches to the first', async () => {
    const second = going(['dev', '--json'], { cwd: bench })
    const url = (line: string): string => (JSON.parse(line) as { url: string }).url
    expect(url(await second.line(/"ready"/))).toBe(url(await dev.line(/"ready"/)))
    expect(await second.end()).toBe(0)
    expect((await runSvc(['agents', 'list'], { cwd: bench })).code).toBe(0)
  })
})

test('without svc dev nobody answers for people', async () => {
  writeFileSync(join(cwd, 'decisions.yaml'), '- { decide: approve }\n')
  const run = ['run', 'acme.refund-desk', 'order=A-1', 'amount=180', '--decide', 'decisions.yaml']
  expect(await svc(run)).toMatchObject({ code: 2, stdout: '' })
})

test('the inbox can be watched: a line of JSON for each task that comes', async () => {
  const watching = going(['inbox', '--watch', '--json'], { cwd })
  const { runId, task } = await held()
  expect(JSON.parse(await watching.line(new RegExp(task.userTaskId)))).toMatchObject({ runId, kind: 'approval' })
  expect(await watching.end()).toBe(143)
  await svc(['runs', 'cancel', runId])
})

describe('svc dev', () => {
  test('makes the triggers of the project file, and again only what changed', async () => {
    await runSvc(['init', 'by-the-clock', '-t', 'report'], { cwd: parent })
    const bench = join(parent, 'by-the-clock')
    const config = join(bench, 'svc.config.yaml')
    const schedules = async (): Promise<unknown> => {
      const dev = going(['dev', '--port', '0', '--json'], { cwd: bench })
      await dev.line(/"ready"/)
      const { stdout } = await runSvc(['triggers', 'list', '--json'], { cwd: bench })
      expect(await dev.end()).toBe(0)
      return (JSON.parse(stdout) as { items: { type: string }[] }).items.filter(({ type }) => type === 'schedule')
    }
    const mornings = { agent: 'acme.daily-report', name: 'weekday-mornings', timeZone: 'Europe/Berlin' }
    const first = (await schedules()) as { triggerId: string }[]
    expect(first).toMatchObject([{ ...mornings, cron: '0 7 * * 1-5', maxConcurrentRuns: null }])
    writeFileSync(config, `${readFileSync(config, 'utf8')}    maxConcurrentRuns: 1\n`)
    expect(await schedules()).toMatchObject([{ triggerId: first[0]!.triggerId, maxConcurrentRuns: 1 }])
    writeFileSync(config, readFileSync(config, 'utf8').replace('0 7', '30 6'))
    expect(await schedules()).toMatchObject([{ ...mornings, cron: '30 6 * * 1-5', maxConcurrentRuns: 1 }])
  })

  test("deploys the project's late-bound agents too, and knows them again", async () => {
    await runSvc(['init', 'late', '-t', 'research'], { cwd: parent })
    const bench = join(parent, 'late')
    const skeptic = join(bench, 'agents/skeptic.yaml')
    const deployed = async (): Promise<unknown> => {
      const { stdout } = await runSvc(['agents', 'list', '--json'], { cwd: bench })
      const { items } = JSON.parse(stdout) as { items: { name: string; deployed: { versionLabel: string } | null }[] }
      return Object.fromEntries(items.map(({ name, deployed }) => [name, deployed?.versionLabel]))
    }
    const dev = going(['dev', '--port', '0', '--json'], { cwd: bench })
    await dev.line(/"ready"/)
    expect(await deployed()).toMatchObject({ 'acme.researcher': '1.0.0-dev.1', 'acme.skeptic': '1.0.0-dev.1' })
    writeFileSync(skeptic, readFileSync(skeptic, 'utf8').replace('purpose: Say', 'purpose: Kindly say'))
    await dev.line(/"reload"/)
    expect(await deployed()).toMatchObject({ 'acme.researcher': '1.0.0-dev.2', 'acme.skeptic': '1.0.0-dev.2' })
    writeFileSync(skeptic, readFileSync(skeptic, 'utf8').replace('provider: scripted', 'provider: nobody'))
    expect(JSON.parse(await dev.line(/"diagnostic"/))).toMatchObject({ path: 'agents/skeptic.yaml' })
    expect(await dev.end()).toBe(0)
    writeFileSync(skeptic, readFileSync(skeptic, 'utf8').replace('provider: nobody', 'provider: scripted'))
    const again = going(['dev', '--port', '0', '--json'], { cwd: bench })
    await again.line(/"ready"/)
    expect(await deployed()).toMatchObject({ 'acme.researcher': '1.0.0-dev.2', 'acme.skeptic': '1.0.0-dev.2' })
    expect(await again.end()).toBe(0)
  })

  test('deploys what is saved, keeps what was deployed while there are errors, and drains at the end', async () => {
    await runSvc(['init', 'workbench', '--full'], { cwd: parent })
    const bench = join(parent, 'workbench')
    const policy = join(bench, 'policies/refund-limit.yaml')
    const dev = going(['dev', '--port', '0', '--json'], { cwd: bench })
    expect(JSON.parse(await dev.line(/./))).toMatchObject({
      type: 'ready',
      consoleUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    })
    const start = ['run', 'acme.refund-desk', 'order=A-1', 'amount=180']
    expect((await runSvc(start, { cwd: bench })).code).toBe(3)

    // As editors save: another file, moved to the name.
    writeFileSync(`${policy}9ATO`, readFileSync(policy, 'utf8').replace('value: 100', 'value: 250'))
    renameSync(`${policy}9ATO`, policy)
    expect(JSON.parse(await dev.line(/"reload"/))).toMatchObject({
      changed: ['policies/refund-limit.yaml'],
      agent: 'acme.refund-desk',
      version: '1.0.0-dev.2',
    })
    expect(await runSvc(start, { cwd: bench })).toMatchObject({
      code: 0,
      stdout: '{"refunded":180,"currency":"EUR"}\n',
    })
    expect((await runSvc(['policy', 'explain', '@last'], { cwd: bench })).stdout).toContain(
      'args.amount > 250   180 > 250   false',
    )

    writeFileSync(policy, `${readFileSync(policy, 'utf8')}bogus: 1\n`)
    expect(JSON.parse(await dev.line(/"diagnostic"/))).toMatchObject({
      rule: 'doc/unknown-key',
      path: 'policies/refund-limit.yaml',
    })
    // Another order: one is refunded once.
    expect((await runSvc([...start.slice(0, 2), 'order=A-2', 'amount=180'], { cwd: bench })).code).toBe(0)
    expect(await dev.end()).toBe(0)
    expect(
      dev.world
        .stdout()
        .split('\n')
        .filter((line) => line.includes('"ready"')),
    ).toHaveLength(1)
  })
})
