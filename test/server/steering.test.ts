/** Runs that operators resume and start again, through a whole server. Source: docs/design/steering.md#messages-to-working-runs */
import { expect, test } from 'vitest'
import { digestOf } from '../../src/base/digest.ts'
import type { RunStatusBody } from '../../src/spec/api.ts'
import type { RunView } from '../../src/operations/runs.ts'
import { DESK, policiesFor, running, scripted, tool } from './running.ts'
import { snapshotOf } from './fixtures.ts'

const PAY = { call: { tool: 'pay', arguments: { order: '${input.order}' } } }
const TOOLS = [tool('acme.pay', { sideEffectClass: 'non_idempotent_write' })]
const PAYING = scripted([PAY, { fail: { message: 'The key is not valid.', status: 401 } }], TOOLS)
const MENDED = snapshotOf(DESK, '1.1.0', {
  model: { provider: 'scripted', name: 'script', script: [PAY, { say: 'Paid.' }] },
  tools: TOOLS,
  policies: policiesFor('pay'),
})

async function failedRun() {
  const house = await running({ snapshot: PAYING, config: { tools: { 'acme.pay': { mock: [{ result: 'ok' }] } } } })
  const { body } = await house.start({ order: 'A-1' })
  const runId = body['runId'] as string
  await house.until(runId, 'engine.session.failed')
  return { house, runId }
}

test('an operator resumes a failed run with a version that was mended, and a key sees it go on', async () => {
  const { house, runId } = await failedRun()
  const bundle = { root: DESK, agents: [MENDED], documents: [], closureDigest: digestOf(MENDED.digest) }
  await house.operator('POST /publish', { bundle })
  const resumed = (await house.operator(`POST /runs/${runId}/resume`, {
    version: '1.1.0',
    reason: 'mended',
  })) as RunView
  expect(resumed).toMatchObject({ runId, versionLabel: '1.1.0', finishedAt: null })
  await house.until(runId, 'engine.session.completed')
  const status = await house.get<RunStatusBody>(`/v1/runs/${runId}`)
  expect(status).toMatchObject({ status: 'Completed', output: 'Paid.', versionLabel: '1.1.0' })
})

test('a retry is a new run of the same input, which names the old one and repeats no unsafe call unasked', async () => {
  const { house, runId } = await failedRun()
  const retried = (await house.operator(`POST /runs/${runId}/retry`, {})) as RunView
  expect(retried).toMatchObject({ retryOf: runId, agent: DESK, versionLabel: '1.0.0' })
  await house.until(retried.runId, 'engine.user_task.created')
  const status = await house.get<RunStatusBody>(`/v1/runs/${retried.runId}`)
  expect(status).toMatchObject({
    status: 'WaitingForHITL',
    retryOf: runId,
    pending: [{ kind: 'approval', call: { name: 'pay', arguments: { order: 'A-1' } } }],
  })
  await expect(house.operator(`POST /runs/${runId}/resume`, {})).rejects.toThrow(
    `Run ${runId} cannot be resumed: it was started again as run ${retried.runId}.`,
  )
  await expect(house.operator(`POST /runs/${retried.runId}/retry`, {})).rejects.toThrow(
    `Run ${retried.runId} has not ended; its status is WaitingForHITL.`,
  )
})

test.each(['resume', 'retry'])('no key reaches %s', async (verb) => {
  const { house, runId } = await failedRun()
  const before = await house.get(`/v1/runs/${runId}`)
  for (const path of [`/v1/runs/${runId}/${verb}`, `/runs/${runId}/${verb}`]) {
    const { status } = await house.post(path, {})
    expect([path, status]).toEqual([path, 404])
  }
  expect(await house.get(`/v1/runs/${runId}`)).toEqual(before)
  // The same request by an operator does something.
  await house.operator(`POST /runs/${runId}/${verb}`, {})
})
