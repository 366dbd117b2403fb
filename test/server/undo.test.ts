/** Undoing what a run made, through a whole server. Source: docs/design/steering.md#undo */
import { expect, test } from 'vitest'
import type { Conversation, ErrorBody, RunStatusBody } from '../../src/spec/api.ts'
import type { EffectView, UndoPlanView } from '../../src/operations/steering.ts'
import type { CallView, RunView } from '../../src/operations/runs.ts'
import type { OperatorList } from '../../src/operations/schema.ts'
import { running, scripted, tool } from './running.ts'

const PAY = tool('acme.pay', {
  sideEffectClass: 'non_idempotent_write',
  labels: {
    'svc/effect-key': 'pay:{args.order}',
    'svc/undone-by': 'acme.pay_back',
    'svc/undo-arguments': '{"receipt": "{result.receipt}"}',
  },
})
const BACK = tool('acme.pay_back', { sideEffectClass: 'irreversible_action' })
const PAYING = scripted(
  [{ call: { tool: 'pay', arguments: { order: '${input.order}' } } }, { fail: { message: 'No more.', status: 401 } }],
  [PAY, BACK],
)

async function paidRun() {
  const house = await running({
    snapshot: PAYING,
    config: {
      tools: {
        'acme.pay': { mock: [{ result: { receipt: 'R-1' } }] },
        'acme.pay_back': { mock: [{ result: 'back' }] },
      },
    },
  })
  const { body } = await house.start({ order: 'A-1' })
  const runId = body['runId'] as string
  await house.until(runId, 'engine.session.failed')
  const plan = () => house.operator(`GET /runs/${runId}/undo`) as unknown as Promise<UndoPlanView>
  return { house, runId, plan }
}

test('an operator undoes what a failed run made, once somebody has approved it; the run stays failed', async () => {
  const { house, runId, plan } = await paidRun()
  const [item] = (await plan()).items
  expect(item).toMatchObject({
    runId,
    tool: 'acme.pay',
    arguments: { order: 'A-1' },
    state: 'open',
    undo: { tool: 'acme.pay_back', arguments: { receipt: 'R-1' }, decision: 'require_approval', approvals: 1 },
  })
  const calls = [{ runId, toolCallId: item!.toolCallId }]
  const undo = (await house.operator(`POST /runs/${runId}/undo`, { calls, reason: 'a wrong order' })) as RunView
  expect(undo).toMatchObject({ parentRunId: runId, undoOf: runId, undoneCall: item!.toolCallId })
  await house.until(undo.runId, 'engine.user_task.created')
  const waiting = await plan()
  expect(waiting).toMatchObject({
    status: 'Failed',
    undoable: 0,
    items: [{ state: 'under_way', undoneBy: { runId: undo.runId, waitingOn: 'approval', reason: 'a wrong order' } }],
  })
  const { userTaskId } = waiting.items[0]!.undoneBy!
  const status = await house.get<RunStatusBody>(`/v1/runs/${undo.runId}`)
  expect(status).toMatchObject({ status: 'WaitingForHITL', undoOf: runId })
  await house.operator(`POST /runs/${undo.runId}/messages`, { userTaskId, approved: true })
  await house.until(undo.runId, 'engine.run.completed')
  expect(await plan()).toMatchObject({ items: [{ state: 'undone', undoneBy: { status: 'Completed' } }] })
  expect(await house.get<RunStatusBody>(`/v1/runs/${runId}`)).toMatchObject({
    status: 'Failed',
    error: 'No more.',
    pending: [],
  })
})

test('the ledgers of calls and of effect keys name the run that has undone a call, and the timeline tells who asked', async () => {
  const { house, runId, plan } = await paidRun()
  const calls = [{ runId, toolCallId: (await plan()).items[0]!.toolCallId }]
  const undo = (await house.operator(`POST /runs/${runId}/undo`, { calls })) as RunView
  await house.until(undo.runId, 'engine.user_task.created')
  const { userTaskId } = (await plan()).items[0]!.undoneBy!
  await house.operator(`POST /runs/${undo.runId}/messages`, { userTaskId, approved: true })
  await house.until(undo.runId, 'engine.run.completed')
  const made = (await house.operator(`GET /runs/${runId}/calls`)) as unknown as OperatorList<CallView>
  expect(made.items.map(({ tool: name, undoneBy, undoes }) => [name, undoneBy?.runId, undoes?.tool])).toEqual([
    ['acme.pay', undo.runId, undefined],
    ['acme.pay_back', undefined, 'acme.pay'],
  ])
  const keys = (await house.operator('GET /effects?key=pay:A-1')) as unknown as OperatorList<EffectView>
  expect(keys.items).toMatchObject([
    { tool: 'acme.pay', holds: true, undoneBy: { runId: undo.runId, status: 'Completed' } },
  ])
  const { items } = await house.get<Conversation>(`/v1/runs/${runId}/conversation`)
  expect(items.find(({ type }) => type === 'UndoRequested')?.content).toMatchObject({
    undoes: { run_id: runId, tool: 'acme.pay', asked_by: 'operator:ana@acme.example', reason: null },
    ref: 'acme.pay_back',
    arguments: { receipt: 'R-1' },
  })
})

test('no key plans or starts an undo', async () => {
  const { house, runId, plan } = await paidRun()
  const calls = [{ runId, toolCallId: (await plan()).items[0]!.toolCallId }]
  for (const path of [`/v1/runs/${runId}/undo`, `/runs/${runId}/undo`]) {
    const { status } = await house.post(path, { calls })
    expect([path, status]).toEqual([path, 404])
    expect(await house.get(path)).toMatchObject({ code: 'not_found' })
  }
  expect(await plan()).toMatchObject({ undoable: 1 })
  // The same request by an operator does something.
  await house.operator(`POST /runs/${runId}/undo`, { calls })
})

test('no key cancels an undo that an operator asked for; the operator does', async () => {
  const { house, runId, plan } = await paidRun()
  const calls = [{ runId, toolCallId: (await plan()).items[0]!.toolCallId }]
  const undo = (await house.operator(`POST /runs/${runId}/undo`, { calls })) as RunView
  await house.until(undo.runId, 'engine.user_task.created')
  const { status, body } = await house.post<ErrorBody>(`/v1/runs/${undo.runId}/cancel`, {})
  expect([status, body.code, body.error]).toEqual([
    403,
    'undo_out_of_scope',
    `Run ${undo.runId} undoes a call of run ${runId} for an operator: no API key cancels it.`,
  ])
  // The run that made the call has ended: cancelling it reaches nothing.
  await house.post(`/v1/runs/${runId}/cancel`, {})
  expect(await plan()).toMatchObject({ items: [{ state: 'under_way', undoneBy: { waitingOn: 'approval' } }] })
  await house.operator(`POST /runs/${undo.runId}/cancel`, {})
  expect(await plan()).toMatchObject({ items: [{ state: 'open' }] })
})

test('what cannot be done is told in a sentence, and nothing changes', async () => {
  const { house, runId, plan } = await paidRun()
  const undo = (body: object) => house.operator(`POST /runs/${runId}/undo`, body)
  await expect(undo({})).rejects.toThrow('/calls')
  await expect(undo({ calls: [{ runId, toolCallId: 'none' }] })).rejects.toThrow(
    `Call none of run ${runId} cannot be undone: run ${runId} made no such call.`,
  )
  await expect(house.operator('GET /runs/019a0000-0000-7000-8000-000000000000/undo')).rejects.toThrow('not_found')
  const calls = [{ runId, toolCallId: (await plan()).items[0]!.toolCallId }]
  const first = (await undo({ calls })) as RunView
  await expect(undo({ calls })).rejects.toThrow(`Run ${first.runId} is undoing a call of run ${runId}`)
  await expect(house.operator(`GET /runs/${first.runId}/undo`)).rejects.toThrow(
    `Run ${first.runId} undoes a call of run ${runId}; what it did is not undone again.`,
  )
  await expect(house.operator(`POST /runs/${runId}/resume`, {})).rejects.toThrow(
    `Run ${runId} cannot be resumed: something that it did was undone, is being undone, or may have been.`,
  )
})
