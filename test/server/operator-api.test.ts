/** The routes of `/v1` on the operator's channel. */
import { expect, test } from 'vitest'
import type { Conversation, StartRunResponse } from '../../src/spec/api.ts'
import { openFixture } from './fixtures.ts'
import { running } from './running.ts'

const UNKNOWN = '019f0000-0000-7000-8000-000000000000'

test('an operator sees the timeline that a trigger hides from its keys', async () => {
  const { start, get, until, operator } = await running({ trigger: { exposeTimeline: false } })
  const { body } = await start({ order: 'A-1042', amount: 180 })
  const path = `/v1/runs/${body['runId']!}/conversation`
  await until(body['runId']!, 'engine.run.paused')
  const typesOf = ({ items }: Conversation) => [...new Set(items.map(({ type }) => type))]
  expect(typesOf(await get<Conversation>(path))).toEqual([])
  expect(typesOf(await operator(`GET ${path}`))).toContain('UserTaskReq')
})

test('an operator starts, answers and cancels runs of every agent without a key', async () => {
  const { agentId, operator, until, server } = await running()
  const started: StartRunResponse = await operator(`POST /v1/agents/${agentId}/runs`, {
    input: { order: 'A-1042', amount: 180 },
  })
  const { runId, sessionId } = started
  expect(await server.store.session(sessionId as never)).toMatchObject({
    triggerType: 'operator',
    triggerId: null,
    triggeredBy: 'ana@acme.example',
  })
  await until(runId, 'engine.run.paused')
  expect(await operator(`POST /v1/runs/${runId}/cancel`, {})).toEqual({ runId, status: 'Cancelled' })
  expect(await operator(`GET /v1/runs/${runId}`)).toMatchObject({ runId, status: 'Cancelled' })
  expect(await operator(`GET /v1/agents/${agentId}/sessions`)).toMatchObject({ total: 1 })
})

test('an operator answers under the own identity', async () => {
  const fixture = openFixture()
  await fixture.deploy('acme.desk')
  const { runId } = await fixture.storeRun('acme.desk')
  await fixture.operatorRaw(`POST /v1/runs/${runId}/messages`, { runId, text: 'Hello.' })
  expect(fixture.asked.answers).toMatchObject([
    { runId, answer: { text: 'Hello.', by: { type: 'operator', id: 'ana@acme.example' } }, hidden: false },
  ])
})

test.each([
  [`GET /v1/runs/${UNKNOWN}`, undefined, 404, 'not_found'],
  [`POST /v1/agents/${UNKNOWN}/runs`, {}, 404, 'not_found'],
  [`POST /v1/runs/${UNKNOWN}/messages`, {}, 404, 'not_found'],
  ['POST /v1/file-library/presign', { filename: 1 }, 400, 'validation_failed'],
  ['DELETE /v1/healthz', undefined, 405, 'method_not_allowed'],
])('%s is refused as on the address of the API', async (line, body, status, code) => {
  const response = await openFixture().operatorRaw(line, body)
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([status, code])
})

test('the address of the API does not serve the routes of the operator', async () => {
  expect((await openFixture().api('/status')).status).toBe(404)
})
