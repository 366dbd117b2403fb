/** `svc eval from-runs`: runs of a server become a dataset, and the dataset passes by itself. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRefundServer, type RefundServer } from '../../../scripts/screens/refund-server.ts'
import { caseOfRun } from '../../../src/cli/eval/case-of-run.ts'
import type { Conversation } from '../../../src/spec/api.ts'
import { svc, type Ran } from '../recording-io.ts'

let desk: RefundServer
const run = (...args: string[]): Promise<Ran> => svc(['eval', ...args], { cwd: desk.directory })

beforeAll(async () => {
  desk = await openRefundServer()
})
afterAll(() => desk.close())

/** Answers the task of a run as a person, and waits for what follows. */
async function decide(run: string, body: object): Promise<void> {
  const { items } = await desk.operator.call('GET /tasks', { query: {} })
  const { userTaskId, sessionId } = items.find(({ runId }) => runId === run)!
  await desk.operator.call('POST /runs/:id/messages', { id: run, body: { userTaskId, ...body } })
  await desk.server.engine.waitForPause({ id: run, sessionId } as never, AbortSignal.timeout(50_000))
}

test('runs become cases with the answers of tools and people, which pass', async () => {
  const approved = await desk.start({ order: 'A-1042', amount: 180 })
  await decide(approved, { approved: true })
  const rejected = await desk.start({ order: 'A-1043', amount: 190 })
  await decide(rejected, { approved: false, metadata: { 'svc/comment': 'Twice.' } })
  await desk.start({ order: 'A-1044', amount: 200 })
  mkdirSync(join(desk.directory, 'evals'), { recursive: true })
  const made = await run('from-runs', '--agent', 'acme.refund-desk', '--out', 'evals/runs.jsonl', '--json')
  expect(JSON.parse(made.stdout)).toEqual({ cases: 2, file: 'evals/runs.jsonl', skipped: [] })
  const [first, second] = readFileSync(join(desk.directory, 'evals/runs.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(first).toMatchObject({
    agent: 'acme.refund-desk',
    input: { order: 'A-1042', amount: 180 },
    expected: { refunded: 180, currency: 'EUR' },
    checks: [{ status: 'Completed' }, { never_calls_without_approval: 'acme.refunds' }],
    decide: [{ task: 'approval', tool: 'acme.refunds', approve: true, as: 'person-1' }],
    from: { run: approved, version: expect.any(String) as string },
  })
  expect((first!['tools'] as Record<string, { answers: object[] }>)['acme.refunds']!.answers).toEqual([
    {
      arguments: { order: 'A-1042', amount: 180, currency: 'EUR' },
      result: expect.objectContaining({ order: 'A-1042', amount: 180 }) as object,
    },
  ])
  expect(second).toMatchObject({
    decide: [{ reject: 'Twice.' }],
    checks: [{ status: 'Completed' }],
  })
  const { code, stdout } = await run('evals/runs.jsonl')
  expect(stdout).toContain('evals/runs.jsonl:1  ✔ run ')
  expect(code).toBe(0)
}, 120_000)

test('without a file the cases are printed, the oldest first', async () => {
  const { stdout, stderr } = await run('from-runs', '--agent', 'acme.refund-desk', '--limit', '1')
  expect(stdout.trimEnd().split('\n')).toHaveLength(1)
  expect(JSON.parse(stdout)).toMatchObject({ input: { order: 'A-1043', amount: 190 } })
  expect(stderr).toBe('1 case\n')
})

test.each([
  [['from-runs'], 2, 'Say of which agent'],
  [['from-runs', '--agent', 'acme.refund-desk', '--limit', '10001'], 2, '--limit takes at most 10000'],
  [['from-runs', '--agent', 'acme.refund-desk', '--json'], 2, '--out FILE'],
  [['from-runs', '--agent', 'acme.refund-desk', '--jobs', '2'], 2, "Unknown option '--jobs'"],
  [['from-runs', '--agent', 'acme.nobody'], 5, 'acme.nobody'],
  [['from-runs', '--agent', 'acme.fraud-check'], 5, 'No such ended run of acme.fraud-check'],
])('%j ends with %i', async (args, code, message) => {
  expect(await run(...args)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) as string })
})

const conversation = (more: Partial<Conversation> = {}): Conversation =>
  ({ session: { input: { a: 1 }, output: 'text' }, runs: [{ id: 'r', depth: 0 }], items: [], ...more }) as never
const of = {
  runId: '019f0000-0000-7000-8000-000000000002',
  agent: 'acme.desk',
  versionLabel: '1.0.0',
  startedAt: 'then',
  status: 'Completed',
}

test.each(['undoOf', 'forkOf'])('a run with %s is left out', (member) => {
  expect(caseOfRun({ ...of, [member]: 'other' }, conversation())).toBe('it goes on from another run')
})

test('an output in words is not expected again', () => {
  expect(caseOfRun(of, conversation())).toEqual({
    name: 'run 000002',
    agent: 'acme.desk',
    input: { a: 1 },
    checks: [{ status: 'Completed' }],
    from: { run: of.runId, version: '1.0.0', startedAt: 'then' },
  })
})

test.each<[string, Partial<Conversation>]>([
  ['its conversation is too long', { nextCursor: 'more' }],
  ['its session has other runs, on which it depends', { runs: [{ depth: 0 }, { depth: 0 }] as never }],
  ['its content was erased', { items: [{ content: null }] as never }],
  ['a value of it is too large to be in the conversation', { session: { input: { svcValue: 'sha256:00' } } as never }],
  ['it has no input', { session: { input: null } as never }],
])('a run is left out where %s', (why, more) => expect(caseOfRun(of, conversation(more))).toBe(why))
