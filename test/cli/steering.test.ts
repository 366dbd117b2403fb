/** What an operator reads of paused agents and waiting runs, and what bad input to the verbs that steer is told. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { going, svc as runSvc, temporary, type Going, type Ran, type WorldOptions } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'desk')
const svc = (argv: readonly string[], options: Omit<WorldOptions, 'cwd'> = {}): Promise<Ran> =>
  runSvc(argv, { cwd, ...options })
const shown = async (argv: readonly string[], options: Omit<WorldOptions, 'cwd'> = {}): Promise<string> =>
  (await svc(argv, options)).stdout
const told = async (argv: readonly string[]): Promise<readonly [number, string, ...string[]]> => {
  const { code, stdout, stderr } = await svc(argv)
  const [first = '', ...others] = stderr.split('\n').filter((line) => !line.startsWith('  request'))
  return [code, stdout === '' ? first : stdout, ...others.filter((line) => line.includes('fix:'))]
}

let server: Going
let run: string

beforeAll(async () => {
  await runSvc(['init', 'desk', '--full'], { cwd: parent })
  await svc(['publish', '--deploy'])
  server = going(['serve', '--port', '0', '--json'], { cwd })
  await server.line(/"ready"/)
  await svc(['run', 'acme.refund-desk', 'order=A-1042', 'amount=180'])
  run = (JSON.parse(await shown(['runs', 'list', '--waiting', '--json'])) as { items: { runId: string }[] }).items[0]!
    .runId
})

afterAll(async () => {
  await server.end()
  remove()
})

test('a pause stands wherever the agent is shown, with the command that ends it, until it is over', async () => {
  const screens = async (): Promise<readonly string[]> => [
    await shown(['agents', 'list'], { tty: true }),
    await shown(['agents', 'show', 'acme.refund-desk']),
    await shown([], { tty: true }),
  ]
  await svc(['stop', '--tool', 'acme.refunds', '--reason', 'the bank called'])
  const [list, one, status] = await screens()
  expect(list).toMatch(/^acme\.refund-desk +1\.0\.0 \(paused\) /m)
  expect(list).toMatch(/^acme\.fraud-check +- /m)
  const paused =
    /^tool acme\.refunds since \S+Z, by the operator \(the bank called\); svc stop --tool acme\.refunds --resume ends it$/
  expect(/^paused\t(.*)$/m.exec(one ?? '')?.[1] ?? '').toMatch(paused)
  expect(status).toContain('\n  paused: tool acme.refunds\n')
  expect(status).toContain('\n  svc stop --tool acme.refunds --resume ')
  expect(await shown(['agents', 'list'])).toContain('acme.refund-desk\t1.0.0\t')
  await svc(['stop', '--tool', 'acme.refunds', '--resume'])
  for (const screen of await screens()) expect(screen).not.toContain('paused')
})

test('the end of a deployment stands beside its version, and is warned of two weeks before', async () => {
  const deploy = (expires: string) => shown(['deploy', 'acme.refund-desk@1.0.0', '--yes', '--expires', expires])
  expect(await deploy('10d')).toMatch(/^deployed acme\.refund-desk 1\.0\.0 until \S+Z\n$/)
  expect(await shown(['agents', 'list'], { tty: true })).toMatch(/^acme\.refund-desk +1\.0\.0 until \d{4}-\d\d-\d\d /m)
  expect(await shown(['agents', 'history', 'acme.refund-desk'], { tty: true })).toContain(' until ')
  expect(await shown([], { tty: true })).toMatch(/\n {2}the deployment of acme\.refund-desk@1\.0\.0 ends in 9 days\n/)
  await deploy('20d')
  expect(await shown([], { tty: true })).not.toContain('the deployment of')
  expect(await deploy('never')).toBe('deployed acme.refund-desk 1.0.0\n')
})

test('a run says what it waits for, and how that is answered', async () => {
  const { items } = JSON.parse(await shown(['inbox', '--json'])) as { items: { userTaskId: string }[] }
  const [task] = items.map(({ userTaskId }) => userTaskId.slice(-6))
  expect(await shown(['runs', 'get', run])).toContain(`\nwaits\tapproval of refunds (svc approve ${task})\n`)
})

test('a run names who paused its agent, when and why, until that is over', async () => {
  await svc(['agents', 'pause', 'acme.refund-desk', '--reason', 'the bank called'])
  expect(await shown(['runs', 'get', run])).toMatch(
    /\npaused\tagent acme\.refund-desk since \S+Z, by the operator \(the bank called\); svc stop --agent acme\.refund-desk --resume ends it\n/,
  )
  expect(JSON.parse(await shown(['runs', 'get', run, '--json']))).toMatchObject({
    runId: run,
    heldBy: {
      pauses: [{ kind: 'agent', name: 'acme.refund-desk', by: 'operator:operator', reason: 'the bank called' }],
    },
  })
  await svc(['agents', 'resume', 'acme.refund-desk'])
  expect(await shown(['runs', 'get', run, '--json'])).not.toContain('heldBy')
})

test('a status that no run has is refused, in either case it is found', async () => {
  expect(await told(['runs', 'list', '--status', 'Complete'])).toEqual([
    2,
    'error[usage]: "Complete" is no status of a run.',
    '  fix:  Did you mean --status Completed?',
  ])
  expect(await told(['runs', 'list', '--status', 'bogus'])).toEqual([
    2,
    'error[usage]: "bogus" is no status of a run.',
    '  fix:  Statuses are Running, WaitingForHITL, WaitingForAITL, WaitingForResponse, Completed, Failed, Cancelled.',
  ])
  expect(await shown(['runs', 'list', '--status', 'waitingforhitl,failed'])).toMatch(new RegExp(`^${run}\t.*\n$`))
})

test('what cannot be done now is one sentence and the way on', async () => {
  expect(await told(['runs', 'resume', run])).toEqual([
    6,
    `error[run_not_ended]: Run ${run} has not ended; its status is WaitingForHITL.`,
    '  fix:  Wait until it ends, answer what it waits for (svc inbox), or cancel it.',
  ])
  expect(await told(['send', run, 'hello'])).toEqual([
    6,
    'error[run_not_waiting]: The run does not wait for a reply; its status is WaitingForHITL.',
    expect.stringMatching(/^  fix: {2}svc approve ([0-9a-f]{6}) {3}or {3}svc reject \1 --reason …$/),
  ])
  expect(await told(['signal', run, 'parcel', '--data', '{"parcel":7'])).toEqual([
    2,
    expect.stringMatching(/^error\[usage\]: The data is not JSON: /),
  ])
  expect(await told(['signal', run, 'parcel', '--data', 'oslo'])).toEqual([
    2,
    'error[usage]: --data is not JSON, and there is no directory oslo.',
  ])
  expect(await told(['signal', run, 'parcel', '--data', '{"parcel":7}'])).toEqual([
    6,
    'error[signal_not_awaited]: The run does not wait for the signal parcel; nothing has changed.',
    '  fix:  svc runs conversation RUN shows what it waits for, and by which name.',
  ])
  expect((await told(['signal', run, 'a parcel']))[1]).toBe(
    'error[signal_not_awaited]: The run does not wait for the signal a parcel; nothing has changed.',
  )
  expect(await told(['send', run, ' '])).toEqual([2, 'error[usage]: The reply is empty.', '  fix:  svc send RUN TEXT'])
  expect(await told(['runs', 'migrate', '--agent', 'acme.refund-desk', '--to', '9.9.9'])).toEqual([
    5,
    'error[not_found]: No such version "acme.refund-desk@9.9.9".',
  ])
})

test('a message to a run that has not ended says when it is read', async () => {
  expect(await told(['send', run, 'Hurry up.', '--steer'])).toEqual([
    0,
    'sent; the run reads it before its next completion',
  ])
})

test('an address without a credential never means the project around it', async () => {
  const at = ['--url', 'https://desk.example']
  for (const argv of [['inbox'], ['runs', 'cancel', run], ['stop', '--tool', 'acme.refunds'], ['agents', 'list']])
    expect(await told([...argv, ...at])).toEqual([
      2,
      'error[usage]: Operators sign in at https://desk.example, and no credential was given.',
      '  fix:  --operator-key-file FILE, or SVC_OPERATOR_KEY; svc keys create --operator makes one.',
    ])
  const env = { SVC_URL: 'https://desk.example' }
  for (const given of [{ argv: at }, { argv: [], env }]) {
    const ran = await svc(['run', 'acme.refund-desk', 'order=A-1', 'amount=1', ...given.argv], { env: given.env ?? {} })
    expect([ran.code, ran.stderr.split('\n')[0]]).toEqual([4, expect.stringMatching(/^error\[missing_api_key\]/)])
  }
  expect(await shown(['runs', 'get', run])).toContain('\nstatus\tWaitingForHITL\n')
})

test('a profile that names another server by its address alone changes nothing here', async () => {
  await shown(['config', 'set', 'profiles.prod.url', 'https://desk.example'])
  for (const argv of [
    ['runs', 'cancel', run],
    ['stop', '--tool', 'acme.refunds', '--yes'],
  ])
    expect(await told([...argv, '--profile', 'prod'])).toEqual([
      2,
      'error[usage]: The profile prod names a server, but no operator channel, and this would change the local one.',
      '  fix:  svc config set profiles.prod.host https://ADDRESS --user, its operator listener; or leave the profile out.',
    ])
  expect(await shown(['runs', 'get', run])).toContain('\nstatus\tWaitingForHITL\n')
  // What only asks is answered here, also where it asks by POST.
  const dry = ['runs', 'fork', run, '--at', '1', '--dry', '--profile', 'prod']
  expect(await shown(dry)).toContain('would differ')
})

test('waiting runs of an agent that a wider version would take are told one by one, with the exit of one that is named', async () => {
  const limit = join(cwd, 'policies', 'refund-limit.yaml')
  writeFileSync(limit, readFileSync(limit, 'utf8').replace('value: 100\n', 'value: 250\n'))
  expect((await svc(['publish', '--bump', 'major', '--allow-widen'])).code).toBe(0)
  const why = 'A waiting run moves only to a version that may do no more. Version 2.0.0 may do more than 1.0.0: '
  const one = await svc(['runs', 'migrate', run, '--to', '2.0.0'])
  expect([one.code, one.stderr]).toEqual([2, expect.stringContaining(`error[migration_widens]: ${why}`)])
  const all = await svc(['runs', 'migrate', '--agent', 'acme.refund-desk', '--to', '2.0.0'])
  expect([all.code, all.stdout, all.stderr]).toEqual([
    2,
    '',
    expect.stringContaining(`error[migration_widens]: ${why}`),
  ])
  expect(await shown(['runs', 'get', run])).toContain('\nversion\t1.0.0\n')
})

test('a cancelled run names the task that it closed, once', async () => {
  const { items } = JSON.parse(await shown(['inbox', '--json'])) as { items: { userTaskId: string }[] }
  const [task] = items.map(({ userTaskId }) => userTaskId.slice(-6))
  const id = run.slice(-6)
  expect(await shown(['runs', 'cancel', run, '--reason', 'duplicate'])).toBe(
    `cancelled ${id} (was WaitingForHITL); task ${task} closed\n`,
  )
  expect(await shown(['runs', 'cancel', run])).toBe(`${id} is Cancelled already\n`)
})
