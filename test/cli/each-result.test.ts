/** Commands that take several ids: one result each, in order, whatever becomes of the others. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { going, svc as runSvc, temporary, type Going, type WorldOptions } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
const svc = (argv: readonly string[], more: Partial<WorldOptions> = {}) => runSvc(argv, { cwd, ...more })
let dev: Going

beforeAll(async () => {
  await runSvc(['init', 'shop', '--full'], { cwd: parent })
  dev = going(['dev', '--no-watch', '--json', '--port', '0'], { cwd, env: { SVC_OPERATOR: 'ana' } })
  await dev.line(/"ready"/)
})
afterAll(async () => {
  await dev.end()
  remove()
})

interface Results {
  readonly items: readonly Readonly<Record<string, unknown>>[]
  readonly total: number
}

async function waitingRun(amount: number): Promise<{ readonly run: string; readonly task: string }> {
  await svc(['run', 'acme.refund-desk', `order=A-${amount}`, `amount:=${amount}`, '--detach'])
  const { stdout } = await svc(['runs', 'get', '@last', '--wait', '--json'])
  const { runId, pending } = JSON.parse(stdout) as { runId: string; pending: readonly { userTaskId: string }[] }
  return { run: runId, task: pending[0]!.userTaskId }
}

const MISSING = '00000000-0000-7000-8000-0000000000ff'

/** What each result says: the value of the field, else the code of its refusal. */
const told = ({ items }: Results, field: string) =>
  items.map((item) => item[field] ?? (item['error'] as { code: string } | undefined)?.code)

test('a refusal between two others loses neither, in JSON and for people', async () => {
  const [first, second] = [await waitingRun(180), await waitingRun(190)]
  const ids = [first.run, MISSING, second.run]
  const cancelled = await svc(['runs', 'cancel', ...ids, '--json'])
  expect(cancelled.code).toBe(5)
  const answer = JSON.parse(cancelled.stdout) as Results
  expect(answer.items.map(({ runId }) => runId)).toEqual(ids)
  expect(told(answer, 'after')).toEqual(['Cancelled', 'not_found', 'Cancelled'])
  expect(answer.total).toBe(3)
  expect(JSON.parse(cancelled.stderr)).toMatchObject({ error: { code: 'not_found' } })

  const resumed = await svc(['runs', 'resume', ...ids])
  expect(resumed.code).toBe(5)
  expect(resumed.stdout.split('\n').map((line) => line.slice(0, 6))).toEqual([
    first.run.slice(-6),
    second.run.slice(-6),
    '',
  ])
  expect(resumed.stderr).toMatch(/^error\[not_found\]: 0000ff: /)
})

test('tasks are decided one by one; one that somebody decided before is told between the others', async () => {
  const [first, second, third] = [await waitingRun(210), await waitingRun(220), await waitingRun(230)]
  await svc(['approve', second.task])
  const tasks = [first.task, second.task, third.task]
  const rejected = await svc(['reject', ...tasks, '--reason', 'paid before', '--json'])
  const answer = JSON.parse(rejected.stdout) as Results
  expect(answer.items.map(({ userTaskId }) => userTaskId)).toEqual(tasks)
  expect([rejected.code, told(answer, 'status')]).toEqual([6, ['completed', 'task_already_completed', 'completed']])
  const claimed = await svc(['claim', ...tasks, '--json'])
  expect([claimed.code, (JSON.parse(claimed.stdout) as Results).total]).toEqual([6, 3])
})

test('files, forks and moves: each has its own result', async () => {
  const uploaded = await svc(['files', 'upload', 'svc.config.yaml', 'nowhere.pdf', '--json'])
  expect([uploaded.code, told(JSON.parse(uploaded.stdout) as Results, 'objectKey')]).toEqual([
    5,
    [expect.stringContaining('svc.config.yaml'), 'file_missing'],
  ])
  const { run } = await waitingRun(240)
  const version = '1.0.0-dev.1'
  const moved = await svc(['runs', 'migrate', run, MISSING, '--to', version, '--json'])
  expect([moved.code, told(JSON.parse(moved.stdout) as Results, 'changed')]).toEqual([5, [false, 'not_found']])
  const forked = await svc(['runs', 'fork', run, MISSING, '--at', '1', '--json'])
  expect([forked.code, told(JSON.parse(forked.stdout) as Results, 'forkOf')]).toEqual([5, [run, 'not_found']])
  const tried = await svc(['runs', 'fork', MISSING, run, '--at', '1', '--dry', '--json'])
  expect([tried.code, told(JSON.parse(tried.stdout) as Results, 'differs')]).toEqual([
    5,
    ['not_found', expect.any(Boolean)],
  ])
})
