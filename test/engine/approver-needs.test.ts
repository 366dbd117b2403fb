/** An approval covers what the policies ask of approvers when the call leaves, not only when it was given. */
import { expect, test } from 'vitest'
import type { DecisionOrigin } from '../../src/spec/people/decision-proof.ts'
import type { ApprovalObligations } from '../../src/spec/policy-set.ts'
import { inOrder, key, openBench, operator, policy, reply, replyTo, returns, snapshotOf, tool, turns } from './bench.ts'

const pay = tool('pay', { sideEffectClass: 'non_idempotent_write' })
const SLOW_MS = 60_000

/** Two payments, of which the first takes long; `strict` asks for more once the run is older than 30 s. */
function openSlow(strict: ApprovalObligations, gate: ApprovalObligations = {}) {
  let end = (): void => {}
  const first = new Promise<void>((resolve) => (end = resolve))
  const slow = tool('transfer', { sideEffectClass: 'non_idempotent_write' })
  const when = { field: 'run.elapsed_seconds', op: 'gt', value: 30 } as const
  const policies = [
    { on: ['pay'], entry: policy('gate', { obligations: gate }) },
    { on: ['pay'], entry: policy('strict', { when, obligations: strict }) },
  ]
  return openBench({
    agents: [snapshotOf({ name: 'root', tools: [slow, pay], policies })],
    models: { root: inOrder({ calls: [{ name: 'transfer' }, { name: 'pay', args: { n: 1 } }] }, 'Done.') },
    tools: {
      transfer: async () => {
        await first
        return returns('sent')
      },
      pay: () => returns('paid'),
    },
    timeoutMs: 10 * SLOW_MS,
  }).then((bench) => ({ bench, end }))
}

const BY_PASSKEY: DecisionOrigin = { channel: 'console', proof: 'passkey' }

const STRICTER: readonly [string, ApprovalObligations][] = [
  ['another role', { approver_role: 'finance' }],
  ['separated duties', { separation_of_duties: true }],
  ['comprehension', { comprehension_required: true }],
  ['a stronger proof', { approval_proof: 'passkey' }],
  ['more approvals', { approvals_required: 2 }],
]

test.each(STRICTER)(
  'asks again before a call leaves for which the policies meanwhile ask for %s',
  async (_, strict) => {
    const { bench, end } = await openSlow(strict)
    const run = await bench.start('root')
    const task = await bench.waitForTask(run)
    await bench.engine.answer(run, reply(task, { by: key('k1') }))
    await bench.advance(SLOW_MS)
    end()
    const again = await bench.waitForTask(run, 2)
    expect(again['user_task_id']).not.toBe(task['user_task_id'])
    expect(bench.invoked.map(({ tool: { wire } }) => wire)).toEqual(['transfer'])
  },
)

test.each(STRICTER)('sends the call that was approved by people of whom %s was asked', async (_, strict) => {
  const { bench, end } = await openSlow(strict, strict)
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  const metadata = { 'svc/acknowledged': true }
  for (const id of ['olga', 'omar'])
    await bench.engine.answer(
      run,
      replyTo(task, { by: operator(id, ['finance']), origin: BY_PASSKEY, metadata }, { n: 1 }),
    )
  await bench.advance(SLOW_MS)
  end()
  await bench.waitForEnd(run)
  expect(bench.invoked.map(({ tool: { wire } }) => wire)).toEqual(['transfer', 'pay'])
})

test('a time-out that allowed a call does not stand for a person whom a policy asks for meanwhile', async () => {
  const { bench, end } = await openSlow({}, { timeout: { after_minutes: 0.25, default: 'allow' } })
  const run = await bench.start('root')
  await bench.waitForTask(run)
  await bench.advance(SLOW_MS)
  end()
  await bench.waitForTask(run, 2)
  expect(bench.invoked.map(({ tool: { wire } }) => wire)).toEqual(['transfer'])
})

test('a time-out sends the call as long as the policies allow that', async () => {
  const gate = { timeout: { after_minutes: 0.25, default: 'allow' } } as const
  const { bench, end } = await openSlow(gate, gate)
  const run = await bench.start('root')
  await bench.waitForTask(run)
  await bench.advance(SLOW_MS)
  end()
  await bench.waitForEnd(run)
  expect(bench.invoked.map(({ tool: { wire } }) => wire)).toEqual(['transfer', 'pay'])
})

test.each(STRICTER.slice(0, 4))('refuses edited arguments for which the policies ask for %s', async (_, strict) => {
  const when = { field: 'args.n', op: 'gt', value: 100 } as const
  const policies = [
    { on: ['pay'], entry: policy('gate', {}) },
    { on: ['pay'], entry: policy('strict', { when, obligations: strict }) },
  ]
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [pay], policies })],
    models: { root: inOrder({ calls: [{ name: 'pay', args: { n: 1 } }] }, 'Done.') },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  const metadata = { 'svc/arguments': { n: 5000 } }
  expect(await bench.engine.answer(run, reply(task, { by: key('k1'), metadata }))).toMatchObject({
    code: 'invalid_value',
    error: expect.stringContaining('The edited arguments need'),
  })
  await turns()
  expect(bench.invoked).toEqual([])
})

test('a task that needs two roles is decided by who has both, and by nobody else', async () => {
  const policies = ['finance', 'legal'].map((role) => ({
    on: ['pay'],
    entry: policy(role, { obligations: { approver_role: role } }),
  }))
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [pay], policies })],
    models: { root: inOrder({ calls: [{ name: 'pay' }] }, 'Done.') },
    tools: { pay: () => returns('paid') },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  for (const roles of [[], ['finance'], ['legal']])
    expect(await bench.engine.answer(run, reply(task, { by: operator('omar', roles) }))).toMatchObject({
      code: 'not_an_approver',
    })
  expect(bench.invoked).toEqual([])
  await bench.engine.answer(run, reply(task, { by: operator('olga', ['legal', 'finance']) }))
  await bench.waitForEnd(run)
  expect(bench.invoked).toHaveLength(1)
})
