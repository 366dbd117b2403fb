/** Who decides shows as much as the policy asks for. Source: docs/design/approvals.md#proofs */
import { expect, test } from 'vitest'
import { DECISION_PROOFS, isProofAtLeast, type DecisionProof } from '../../src/spec/people/decision-proof.ts'
import type { ApprovalObligations } from '../../src/spec/policy-set.ts'
import { inOrder, openBench, operator, policy, reply, replyTo, returns, snapshotOf, T0, tool, turns } from './bench.ts'

const pay = tool('pay', { sideEffectClass: 'irreversible_action' })

const openGated = (obligations: ApprovalObligations) =>
  openBench({
    agents: [
      snapshotOf({ name: 'root', tools: [pay], policies: [{ on: ['pay'], entry: policy('gate', { obligations }) }] }),
    ],
    models: { root: inOrder({ calls: [{ name: 'pay', args: { n: 1 } }] }, 'Done.') },
    tools: { pay: () => returns('paid') },
  })

const withProof = (proof: DecisionProof) => ({ origin: { channel: 'console', proof } }) as const

const PAIRS = DECISION_PROOFS.flatMap((needed, at) =>
  DECISION_PROOFS.map((given, rank) => [given, needed, rank >= at] as const),
)

test.each(PAIRS)('an approval with %s counts where %s is asked for: %s', async (given, needed, counts) => {
  const bench = await openGated({ approval_proof: needed })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(task).toMatchObject({ approval_proof: needed })
  const { code } = await bench.engine.answer(run, reply(task, { by: operator('ana'), ...withProof(given) }))
  await turns()
  expect([code, bench.invoked.length]).toEqual(counts ? [undefined, 1] : ['proof_required', 0])
})

test('what a channel cannot prove is refused in words, and the task still waits', async () => {
  const bench = await openGated({ approval_proof: 'passkey' })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(await bench.engine.answer(run, reply(task, { by: operator('ana'), ...withProof('key') }))).toMatchObject({
    status: 'WaitingForHITL',
    code: 'proof_required',
    error: 'An approval of this task takes a passkey, and this one came with a key.',
  })
  // An answer of which nothing is known proves nothing.
  expect(await bench.engine.answer(run, reply(task, { by: operator('ana') }))).toMatchObject({ code: 'proof_required' })
  expect(await bench.store.task(task['user_task_id'] as never)).toMatchObject({ status: 'pending', votes: [] })
})

test('a rejection needs no proof: it makes nothing happen', async () => {
  const bench = await openGated({ approval_proof: 'hardware' })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.engine.answer(run, reply(task, { by: operator('ana'), approved: false }))
  await bench.waitForEnd(run)
  expect(bench.invoked).toEqual([])
})

test('silence never stands for a proof', async () => {
  const bench = await openGated({ approval_proof: 'link', timeout: { after_minutes: 1, default: 'allow' } })
  const run = await bench.start('root')
  await bench.waitForTask(run)
  await bench.advance(61_000)
  await bench.waitForEnd(run)
  expect(bench.invoked).toEqual([])
})

test('the timeline says how each decision came', async () => {
  const bench = await openGated({ approvals_required: 2 })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.engine.answer(run, replyTo(task, { by: operator('ana'), ...withProof('passkey') }))
  await bench.engine.answer(run, replyTo(task, { by: operator('ben'), origin: { channel: 'operator', proof: 'key' } }))
  await bench.waitForEnd(run)
  const answered = (await bench.store.stepsOfRun(run)).find(({ type }) => type === 'UserTaskRes')
  expect(answered!.content).toMatchObject({
    completed_by: 'operator:ben',
    channel: 'operator',
    proof: 'key',
    votes: [
      { by: 'operator:ana', approved: true, channel: 'console', proof: 'passkey' },
      { by: 'operator:ben', approved: true, channel: 'operator', proof: 'key' },
    ],
  })
  expect(await bench.store.task(task['user_task_id'] as never)).toMatchObject({
    voteOrigins: {
      'operator:ana': { channel: 'console', proof: 'passkey' },
      'operator:ben': { channel: 'operator', proof: 'key' },
    },
    answer: { origin: { channel: 'operator', proof: 'key' } },
  })
})

test('an edit voids the origins of earlier votes with the votes', async () => {
  const bench = await openGated({ approvals_required: 2 })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.engine.answer(run, replyTo(task, { by: operator('ana'), ...withProof('key') }))
  const metadata = { 'svc/arguments': { n: 2 } }
  await bench.engine.answer(run, replyTo(task, { by: operator('ben'), ...withProof('passkey'), metadata }))
  expect(await bench.store.task(task['user_task_id'] as never)).toMatchObject({
    votes: [{ approver: 'operator:ben', approved: true, at: T0 }],
    voteOrigins: { 'operator:ben': { channel: 'console', proof: 'passkey' } },
  })
})

test('nothing reaches a proof that this version does not know', () => {
  expect(DECISION_PROOFS.filter((given) => isProofAtLeast(given, 'iris' as DecisionProof))).toEqual([])
  expect(isProofAtLeast('iris' as DecisionProof, 'none')).toBe(false)
})
