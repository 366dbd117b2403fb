/** A quorum counts different people, each of whom proved who they are. Source: docs/design/approvals.md#votes-and-quorums */
import { describe, expect, test } from 'vitest'
import type { OperatorIdentityProof, Principal } from '../../src/spec/people/key.ts'
import { inOrder, key, openBench, operator, policy, replyTo, returns, snapshotOf, tool, turns } from './bench.ts'

const pay = tool('pay', { sideEffectClass: 'irreversible_action' })

const openGated = (obligations: NonNullable<Parameters<typeof policy>[1]['obligations']>) =>
  openBench({
    agents: [
      snapshotOf({ name: 'root', tools: [pay], policies: [{ on: ['pay'], entry: policy('gate', { obligations }) }] }),
    ],
    models: { root: inOrder({ calls: [{ name: 'pay' }] }, 'Done.') },
    tools: { pay: () => returns('paid') },
  })

const unproved = (id: string, proof: OperatorIdentityProof): Principal => ({ ...operator(id), proof }) as Principal

/** What one person, who has the credential of ana, may also be. The key `k1` starts the runs of the bench. */
const SECOND_VOTES: readonly (readonly [what: string, by: Principal])[] = [
  ['the local channel without a credential', unproved('ana', 'local')],
  ['the local channel under the name of somebody else', unproved('ben@acme.example', 'local')],
  ['a name that is only claimed', unproved('ben@acme.example', 'claimed')],
  ['the key that started the run', key('k1')],
  ['another key of the trigger', key('k2')],
  ['a key of one command', key('k3', 'root', 'ben@acme.example')],
  ['the credential again', operator('ana@acme.example')],
  ['a credential in upper case', operator('Ana@Acme.Example')],
  ['a credential in full-width letters', operator('ａｎａ@acme.example')],
  ['a credential with an invisible letter', operator('ana\u200b@acme.example')],
]

describe.each(SECOND_VOTES)('one person makes no quorum of two with %s', (_, second) => {
  test.each(['first', 'second'])('given as the %s vote', async (place) => {
    const bench = await openGated({ approvals_required: 2 })
    const run = await bench.start('root')
    const task = await bench.waitForTask(run)
    const votes = [operator('ana@acme.example'), second]
    for (const by of place === 'first' ? votes.toReversed() : votes)
      await bench.engine.answer(run, replyTo(task, { by }))
    await turns()
    expect(bench.invoked).toEqual([])
    // Another person completes it.
    await bench.engine.answer(run, replyTo(task, { by: operator('ben@acme.example') }))
    await bench.waitForEnd(run)
    expect(bench.invoked).toHaveLength(1)
  })
})

test('a vote that no quorum counts is refused with the remedy', async () => {
  const bench = await openGated({ approvals_required: 2 })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(await bench.engine.answer(run, replyTo(task, { by: unproved('ana', 'local') }))).toMatchObject({
    status: 'WaitingForHITL',
    code: 'not_an_approver',
    error:
      'This approver may not decide this task: a quorum counts people, each with a credential of their own (svc keys create --operator --email YOU).',
  })
})

test('anybody may reject what needs a quorum', async () => {
  const bench = await openGated({ approvals_required: 2 })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.engine.answer(run, replyTo(task, { by: unproved('ana', 'local'), approved: false }))
  await bench.waitForEnd(run)
  expect(bench.invoked).toEqual([])
})

test.each(['local', 'claimed'] as const)('who is %s does not prove not to have started the run', async (proof) => {
  const bench = await openGated({ separation_of_duties: true })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(await bench.engine.answer(run, replyTo(task, { by: unproved('ben', proof) }))).toMatchObject({
    code: 'not_an_approver',
  })
  await bench.engine.answer(run, replyTo(task, { by: operator('ben') }))
  await bench.waitForEnd(run)
})
