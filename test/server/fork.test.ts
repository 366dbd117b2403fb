/** Forks of runs through a whole server, for good and dry. Source: docs/design/steering.md#fork */
import { writeFileSync, existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { digestOf } from '../../src/base/digest.ts'
import { sealSet } from '../../src/policy/policy-set.ts'
import type { Conversation, RunStatusBody } from '../../src/spec/api.ts'
import type { DryForkView } from '../../src/operations/steering.ts'
import type { RunView } from '../../src/operations/runs.ts'
import type { AgentSnapshot, ScriptTurn } from '../../src/spec/snapshot.ts'
import { policy } from '../engine/bench.ts'
import { DESK, directory, policiesFor, running, tool } from './running.ts'
import { snapshotOf } from './fixtures.ts'

const TOOLS = [
  tool('acme.look', { sideEffectClass: 'read_only' }),
  tool('acme.pay', { sideEffectClass: 'non_idempotent_write' }),
]
const LOOK: ScriptTurn = { call: { tool: 'look', arguments: { order: '${input.order}' } } }
const pay = (amount: number): ScriptTurn => ({ call: { tool: 'pay', arguments: { amount } } })

const agent = (version: string, script: readonly ScriptTurn[], more: Partial<AgentSnapshot> = {}): AgentSnapshot =>
  snapshotOf(DESK, version, {
    model: { provider: 'scripted', name: 'script', script },
    tools: TOOLS,
    policies: policiesFor('look', 'pay'),
    ...more,
  })

/** Tools that write a line for each call. */
function countedTools() {
  const log = `${directory()}-calls`
  const handler = `${log}.mjs`
  writeFileSync(
    handler,
    `import { appendFileSync } from 'node:fs'
let text = ''
for await (const piece of process.stdin) text += piece
const { tool } = JSON.parse(text)
appendFileSync(${JSON.stringify(log)}, tool + '\\n')
console.log(JSON.stringify(tool === 'acme.look' ? { due: 20 } : 'receipt 7'))`,
  )
  const command = { command: [process.execPath, handler] }
  const made = (): string[] => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [])
  return { config: { tools: { 'acme.look': command, 'acme.pay': command } }, made }
}

/** A server with such tools, and a run that looked, paid and completed. */
async function paidRun() {
  const { config, made } = countedTools()
  const house = await running({ snapshot: agent('1.0.0', [LOOK, pay(20), { say: 'Paid 20.' }]), config })
  const { body } = await house.start({ order: 'A-1' })
  const runId = body['runId'] as string
  await house.until(runId, 'engine.session.completed')
  const publish = async (snapshot: AgentSnapshot) =>
    house.operator('POST /publish', {
      bundle: { root: DESK, agents: [snapshot], documents: [], closureDigest: digestOf(snapshot.digest) },
    })
  const dry = async (more: object = {}) =>
    (await house.operator('POST /runs/dry-fork', { runs: [runId], at: 1, ...more })) as {
      items: DryForkView[]
      total: number
      differing: number
    }
  const stepOf = async (type: string) =>
    (await house.get<Conversation>(`/v1/runs/${runId}/conversation`)).items.find((item) => item.type === type)!.ordinal
  return { house, runId, publish, made, dry, stepOf }
}

test('a fork has the first steps as they were, and what follows is decided and made anew', async () => {
  const { house, runId, made, stepOf } = await paidRun()
  expect(made()).toEqual(['acme.look', 'acme.pay'])
  const at = await stepOf('ToolResult')
  const { items } = (await house.operator('POST /runs/fork', { runs: [runId], at })) as { items: RunView[] }
  const fork = items[0]!
  expect(fork).toMatchObject({ forkOf: runId, forkStep: at, agent: DESK })
  await house.until(fork.runId, 'engine.user_task.created')
  const status = await house.get<RunStatusBody>(`/v1/runs/${fork.runId}`)
  // The same payment was made in the run that this one repeats.
  expect(status).toMatchObject({
    status: 'WaitingForHITL',
    forkOf: runId,
    forkStep: at,
    pending: [{ kind: 'approval', call: { name: 'pay', arguments: { amount: 20 } } }],
  })
  expect(made()).toEqual(['acme.look', 'acme.pay'])
  await house.operator(`POST /runs/${fork.runId}/messages`, {
    userTaskId: status.pending![0]!.userTaskId!,
    approved: true,
  })
  await house.until(fork.runId, 'engine.session.completed')
  expect(made()).toEqual(['acme.look', 'acme.pay', 'acme.pay'])
  const { items: steps } = await house.get<Conversation>(`/v1/runs/${fork.runId}/conversation`)
  expect(steps.map(({ type }) => type).slice(0, 5)).toEqual([
    'UserMessage',
    'Reasoning',
    'ToolCall',
    'ToolResult',
    'Reasoning',
  ])
})

const EVENT = tool('svc.wait_event', { sideEffectClass: 'read_only', builtin: true, wire: 'wait_event' })
const WAIT: ScriptTurn = { call: { tool: 'wait_event', arguments: { name: 'go' } } }

test.each([['run'], ['fork'], ['other fork']])(
  'of a run at work and its forks the %s pays first, and the others ask before they pay the same again',
  async (first) => {
    const { config, made } = countedTools()
    const snapshot = agent('1.0.0', [WAIT, pay(20), { say: 'Paid 20.' }], {
      tools: [...TOOLS, EVENT],
      policies: policiesFor('look', 'pay', 'wait_event'),
    })
    const house = await running({ snapshot, config })
    const runId = (await house.start({ order: 'A-1' })).body['runId'] as string
    await house.until(runId, 'engine.run.paused')
    const fork = async (): Promise<string> => {
      const { items } = (await house.operator('POST /runs/fork', { runs: [runId], at: 1 })) as { items: RunView[] }
      await house.until(items[0]!.runId, 'engine.run.paused')
      return items[0]!.runId
    }
    const runs = { run: runId, fork: await fork(), 'other fork': await fork() }
    const go = async (id: string): Promise<unknown> => house.post(`/v1/runs/${id}/signals/go`, {})
    const paying = runs[first as keyof typeof runs]
    await go(paying)
    await house.until(paying, 'engine.session.completed')
    for (const id of Object.values(runs).filter((each) => each !== paying)) {
      await go(id)
      await house.until(id, 'engine.user_task.created')
      const { items } = (await house.operator('GET /tasks')) as {
        items: { runId: string; reason: string; why: string }[]
      }
      expect(items.find((each) => each.runId === id)).toMatchObject({
        reason: 'duplicate_call',
        why: expect.stringContaining(`before in run ${paying}`) as string,
      })
    }
    expect(made()).toEqual(['acme.pay'])
  },
)

test(
  'of more runs that do the same work than are looked through, each is asked about',
  { timeout: 120_000 },
  async () => {
    const { config, made } = countedTools()
    const snapshot = agent('1.0.0', [WAIT, pay(20), { say: 'Paid 20.' }], {
      tools: [...TOOLS, EVENT],
      policies: policiesFor('look', 'pay', 'wait_event'),
    })
    const house = await running({ snapshot, config })
    const runId = (await house.start({ order: 'A-1' })).body['runId'] as string
    await house.until(runId, 'engine.run.paused')
    const forks: string[] = []
    for (let count = 0; count < 52; count++) {
      const { items } = (await house.operator('POST /runs/fork', { runs: [runId], at: 1 })) as { items: RunView[] }
      forks.push(items[0]!.runId)
    }
    // The oldest, which the run does not look at.
    await house.until(forks[0]!, 'engine.run.paused')
    await house.post(`/v1/runs/${forks[0]!}/signals/go`, {})
    await house.until(forks[0]!, 'engine.user_task.created')
    const [task] = ((await house.operator('GET /tasks')) as { items: { userTaskId: string; runId: string }[] }).items
    await house.operator(`POST /runs/${forks[0]!}/messages`, { userTaskId: task!.userTaskId, approved: true })
    await house.until(forks[0]!, 'engine.session.completed')
    await house.post(`/v1/runs/${runId}/signals/go`, {})
    await house.until(runId, 'engine.user_task.created')
    const { items } = (await house.operator('GET /tasks')) as {
      items: { runId: string; reason: string; why: string }[]
    }
    expect(items).toEqual([
      expect.objectContaining({
        runId,
        reason: 'duplicate_call',
        why: expect.stringContaining('more runs do the same work as this one than are looked through') as string,
      }),
    ])
    expect(made()).toEqual(['acme.pay'])
  },
)

/** A run that waits for an approval of its payment, and a fork of it that waits for one, too. */
async function twoApprovals(labels: Readonly<Record<string, string>> = {}) {
  const { config, made } = countedTools()
  const entry = policy('ask', { effect: 'require_approval' })
  const policies = sealSet({ ...policiesFor('pay'), entries: [entry], index: { pay: [entry.id] } })
  const tools = [tool('acme.pay', { sideEffectClass: 'irreversible_action', labels })]
  const snapshot = agent('1.0.0', [pay(20), { say: 'Paid 20.' }], { tools, policies })
  const house = await running({ snapshot, config })
  const run = (await house.start({ order: 'A-1' })).body['runId'] as string
  await house.until(run, 'engine.user_task.created')
  const { items } = (await house.operator('POST /runs/fork', { runs: [run], at: 1 })) as { items: RunView[] }
  const fork = items[0]!.runId
  await house.until(fork, 'engine.user_task.created')
  type Task = { userTaskId: string; runId: string; reason: string; why: string }
  const tasks = async () => ((await house.operator('GET /tasks')) as { items: Task[] }).items
  const approve = async ({ runId, userTaskId }: Task): Promise<unknown> =>
    house.operator(`POST /runs/${runId}/messages`, { userTaskId, approved: true })
  const reasons = async () => (await tasks()).map(({ reason }) => reason)
  return { house, run, fork, tasks, reasons, approve, made }
}

test('of a run and its fork that are both approved one pays, and the other is asked about again', async () => {
  const { house, run, tasks, reasons, approve, made } = await twoApprovals()
  const asked = await tasks()
  expect(asked).toHaveLength(2)
  await Promise.all(asked.map(approve))
  await expect.poll(reasons).toEqual(['because of ask; duplicate_call'])
  const [again] = await tasks()
  const paid = asked.find(({ runId }) => runId !== again!.runId)!.runId
  expect(again!.why).toContain(`was called with the same arguments before in run ${paid}`)
  await house.until(paid, 'engine.session.completed')
  expect(made()).toEqual(['acme.pay'])
  // Who approves it now knows of the other payment.
  await approve(again!)
  await house.until(again!.runId, 'engine.session.completed')
  expect([made(), again!.runId === run || paid === run]).toEqual([['acme.pay', 'acme.pay'], true])
})

test('a payment that waits for a report from outside counts as made for the fork', async () => {
  const { house, run, fork, tasks, reasons, approve, made } = await twoApprovals({ 'svc/completion': 'external' })
  const asked = await tasks()
  await approve(asked.find(({ runId }) => runId === run)!)
  const hold = async () => (await house.get<RunStatusBody>(`/v1/runs/${run}`)).hold?.reason
  await expect.poll(hold).toBe('external')
  await approve(asked.find(({ runId }) => runId === fork)!)
  await expect.poll(reasons).toEqual(['because of ask; duplicate_call'])
  expect(made()).toEqual(['acme.pay'])
})

test('a step can be edited before the fork goes on', async () => {
  const { house, runId, stepOf } = await paidRun()
  const at = await stepOf('ToolResult')
  const { items } = (await house.operator('POST /runs/fork', {
    runs: [runId],
    at,
    edits: [{ step: at, value: { due: 5 } }],
  })) as { items: RunView[] }
  const { items: steps } = await house.get<Conversation>(`/v1/runs/${items[0]!.runId}/conversation`)
  expect(steps.find(({ type }) => type === 'ToolResult')!.content).toMatchObject({ result: { due: 5 }, edited: true })
})

test('a dry fork plays tools from the recording and makes no call', async () => {
  const { house, runId, made, dry } = await paidRun()
  const before = await house.operator('GET /runs')
  const tried = await dry()
  expect(tried).toMatchObject({ total: 1, differing: 0 })
  expect(tried.items[0]).toMatchObject({
    runId,
    status: { was: 'Completed', would: 'Completed' },
    output: { was: 'Paid 20.', would: 'Paid 20.', isSame: true },
    differences: [],
    differs: false,
  })
  expect(made()).toEqual(['acme.look', 'acme.pay'])
  expect(await house.operator('GET /runs')).toEqual(before)
  expect(((await house.operator('GET /tasks')) as { items: unknown[] }).items).toEqual([])
})

test('a changed policy is tried on what really happened: what it would ask is told', async () => {
  const { publish, made, dry } = await paidRun()
  const entry = policy('ask', { effect: 'require_approval' })
  const policies = sealSet({
    ...policiesFor('look', 'pay'),
    entries: [entry],
    index: { look: [], pay: [entry.id] },
  })
  await publish(agent('1.1.0', [LOOK, pay(20), { say: 'Paid 20.' }], { policies }))
  const { items, differing } = await dry({ version: '1.1.0' })
  expect(differing).toBe(1)
  expect(items[0]!.differences).toEqual([
    { what: 'decided', tool: 'pay', arguments: { amount: 20 }, was: 'allow', would: 'require_approval' },
  ])
  expect(items[0]!.status).toEqual({ was: 'Completed', would: 'Completed' })
  expect(made()).toEqual(['acme.look', 'acme.pay'])
})

test('an approval that nobody has given yet is not taken as refused: it stops the dry run', async () => {
  const { config, made } = countedTools()
  const entry = policy('ask', { effect: 'require_approval' })
  const policies = sealSet({ ...policiesFor('look', 'pay'), entries: [entry], index: { look: [], pay: [entry.id] } })
  const house = await running({ snapshot: agent('1.0.0', [LOOK, pay(20), { say: 'Paid 20.' }], { policies }), config })
  const { body } = await house.start({ order: 'A-1' })
  const runId = body['runId'] as string
  await house.until(runId, 'engine.user_task.created')
  const { items } = (await house.operator('POST /runs/dry-fork', { runs: [runId], at: 1 })) as { items: DryForkView[] }
  expect(items[0]).toMatchObject({
    status: { was: 'WaitingForHITL', would: 'Cancelled' },
    stopped: expect.stringMatching(/^a person would be asked: .* wants to call pay$/) as string,
    differences: [],
    differs: true,
  })
  expect(made()).toEqual(['acme.look'])
})

test('a call that the recording does not have stops the dry run before it is made', async () => {
  const { publish, made, dry } = await paidRun()
  await publish(agent('1.2.0', [LOOK, pay(2000), { say: 'Paid 2000.' }]))
  const { items } = await dry({ version: '1.2.0' })
  expect(items[0]).toMatchObject({
    stopped: 'pay would be called, and the recording has no result of it',
    differs: true,
    differences: [
      { what: 'called', tool: 'pay', arguments: { amount: 2000 } },
      { what: 'not_called', tool: 'pay', arguments: { amount: 20 } },
    ],
  })
  expect(made()).toEqual(['acme.look', 'acme.pay'])
})

test('the same fork for good makes the call that the dry one does not', async () => {
  const { house, runId, publish, made } = await paidRun()
  await publish(agent('1.2.0', [LOOK, pay(2000), { say: 'Paid 2000.' }]))
  const { items } = (await house.operator('POST /runs/fork', {
    runs: [runId],
    at: 1,
    version: '1.2.0',
    allowWiden: true,
  })) as { items: RunView[] }
  const fork = items[0]!.runId
  await house.until(fork, 'engine.user_task.created')
  expect(made()).toEqual(['acme.look', 'acme.pay', 'acme.look'])
  // The run that it was forked from has paid, too.
  const tasks = (await house.operator('GET /tasks')) as { items: { userTaskId: string; reason: string }[] }
  expect(tasks.items).toMatchObject([{ reason: 'duplicate_call' }])
  await house.operator(`POST /runs/${fork}/messages`, { userTaskId: tasks.items[0]!.userTaskId, approved: true })
  await house.until(fork, 'engine.session.completed')
  expect(made()).toEqual(['acme.look', 'acme.pay', 'acme.look', 'acme.pay'])
})

test('what cannot be forked is refused in one sentence, and nothing starts', async () => {
  const { house, runId, stepOf } = await paidRun()
  const refused = (body: object): Promise<string> =>
    house.operator('POST /runs/fork', { runs: [runId], at: 1, ...body }).then(
      () => 'started',
      (error: Error) => (JSON.parse(error.message) as { error: string }).error,
    )
  const decided = await stepOf('PolicyDecision')
  expect(await refused({ at: 900 })).toBe(`Run ${runId} has no step 900.`)
  const { items } = await house.get<Conversation>(`/v1/runs/${runId}/conversation`)
  const last = items.findLast(({ type }) => type === 'Output')!.ordinal
  expect(await refused({ at: last })).toBe(`A run cannot be forked at step ${last}: the run had given its answer.`)
  expect(await refused({ version: '9.9.9' })).toContain('9.9.9')
  expect(await refused({ at: decided, edits: [{ step: decided, value: 'allow' }] })).toBe(
    `Step ${decided} is a PolicyDecision, of which nothing is edited this way.`,
  )
  expect(await refused({ runs: [runId, '019f0000-0000-7000-8000-000000000000'] })).toBe('No such run.')
  expect(((await house.operator('GET /runs')) as { total: number }).total).toBe(1)
})

test('no key reaches a fork', async () => {
  const { house, runId } = await paidRun()
  for (const path of [`/v1/runs/${runId}/fork`, '/v1/runs/fork', '/runs/fork', '/runs/dry-fork'])
    expect([path, [404, 405].includes((await house.post(path, { runs: [runId], at: 1 })).status)]).toEqual([path, true])
  expect(((await house.operator('GET /runs')) as { total: number }).total).toBe(1)
})

test('a dry fork is played while its agent and its tools are paused, and not while its models are', async () => {
  const { house, made, dry } = await paidRun()
  const before = made()
  const pause = (target: object) => house.operator('POST /pauses', { paused: true, ...target })
  await pause({ kind: 'agent', name: DESK })
  await pause({ kind: 'tool', name: 'acme.pay' })
  expect((await dry()).items).toMatchObject([{ status: { was: 'Completed', would: 'Completed' }, differs: false }])
  await pause({ kind: 'all' })
  await expect(dry()).rejects.toThrow('everything is paused')
  expect(made()).toEqual(before)
})
