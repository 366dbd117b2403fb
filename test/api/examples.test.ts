/** Every example of the OpenAPI document is what a server takes, or has the shape of what it answers. */
import { expect, test } from 'vitest'
import { running } from '../server/running.ts'
import { closedFaultsOf, exampleOf, examplesOf, faultsOf, operations } from './document.ts'

test('every example is one of its schema, to the last property', () => {
  const examples = examplesOf()
  expect(examples.length).toBeGreaterThan(25)
  expect(
    examples.flatMap(({ place, schema, value }) => closedFaultsOf(schema, value).map((fault) => [place, fault])),
  ).toEqual([])
  expect(
    closedFaultsOf({ $ref: '#/components/schemas/Cancelled' }, { runId: 'x', status: 'Failed', extra: 1 }),
  ).not.toEqual([])
})

/** Names and kinds of everything in a value; of a list, the shapes of what is in it. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map((each) => JSON.stringify(shapeOf(each))))].toSorted()
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  // Which kind of step or event it is decides what it holds.
  return members.map(([name, each]) => [name, ['type', 'kind', 'subject'].includes(name) ? each : shapeOf(each)])
}

test('a server takes the requests of the examples, and answers in the shape of theirs', async () => {
  const { server, secret, agentId } = await running({ key: { allowUploads: true }, trigger: { allowDelete: true } })
  const faults: unknown[] = []
  const used = new Set<string>()
  const take = (name: string): Record<string, unknown> => {
    used.add(name)
    return structuredClone(exampleOf(name)) as Record<string, unknown>
  }
  /** Asks, and compares the answer with the example of that name. */
  const ask = async (line: string, example: string, body?: object, headers: object = {}) => {
    const [method, path] = line.split(' ') as [string, string]
    const response = await fetch(server.url + path, {
      method,
      headers: { 'x-api-key': secret, ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    for (const fault of await faultsOf(method, path, response)) faults.push([line, fault])
    const answer = (await response.json()) as Record<string, never>
    expect({ line, shape: shapeOf(answer) }).toEqual({ line, shape: shapeOf(take(example)) })
    return answer
  }
  const start = take('startRefund')
  const { runId, sessionId } = await ask(`POST /v1/agents/${agentId}/runs`, 'started', start)
  await ask(`POST /v1/agents/${agentId}/runs`, 'inputViolation', { input: { order: 'A-1042' } })
  await ask(`GET /v1/runs/${runId}`, 'waitingRun', undefined, { prefer: 'wait=30' })
  const { items } = await ask('GET /v1/tasks?status=pending', 'tasks')
  const [task] = items as unknown as { user_task_id: string; arguments_digest: string }[]
  await ask(`GET /v1/tasks/${task!.user_task_id}`, 'task')
  const approval = take('approve')
  expect(approval['metadata']).toEqual({
    'svc/arguments_digest': task!.arguments_digest,
    'svc/comment': 'within my limit',
  })
  await ask(`POST /v1/runs/${runId}/messages`, 'accepted', { ...approval, runId, userTaskId: task!.user_task_id })
  await ask(`GET /v1/runs/${runId}`, 'endedRun', undefined, { prefer: 'wait=30' })
  await ask(`POST /v1/runs/${runId}/input`, 'notWaiting', { ...take('reply'), runId })
  await ask(`POST /v1/runs/${runId}/signals/parcel.delivered`, 'signalNotAwaited', take('signal'))
  // Tokens are given to tools alone: test/server/outside.test.ts has one.
  for (const name of ['report', 'reported']) take(name)
  await ask(`POST /v1/runs/${runId}/cancel`, 'cancelled', take('cancel'))
  await ask(`GET /v1/agents/${agentId}/sessions?take=1`, 'sessions')
  await ask(`PATCH /v1/sessions/${sessionId}`, 'labelled', take('label'))
  await ask('GET /v1/healthz', 'ready')

  const presigned = await ask('POST /v1/file-library/presign', 'presigned', take('presign'))
  await fetch(presigned['uploadUrl']!, {
    method: 'PUT',
    headers: presigned['requiredHeaders']!,
    body: 'Invoice A-1042',
  })
  const finalize = { ...take('finalize'), objectKey: presigned['objectKey'] }
  await ask('POST /v1/file-library/finalize', 'finalized', finalize)

  // The example shows some of the steps, each as it is in the answer.
  const headers = { 'x-api-key': secret }
  const conversation = (await (
    await fetch(`${server.url}/v1/runs/${runId}/conversation?stepContent=slim`, { headers })
  ).json()) as {
    items: unknown[]
  }
  const shown = take('conversation') as typeof conversation
  const shapes = conversation.items.map(shapeOf)
  for (const item of shown.items) {
    const { type } = item as { type: string }
    const ofType = shapes.filter((shape) => JSON.stringify(shape).includes(`["type","${type}"]`))
    expect(ofType).toContainEqual(shapeOf(item))
  }
  expect(shapeOf({ ...conversation, items: [] })).toEqual(
    shapeOf({ ...shown, items: [], session: { ...(shown as { session?: object }).session, title: '' } }),
  )

  const stream = await (await fetch(`${server.url}/v1/runs/${runId}/stream`, { headers })).text()
  const events = [...stream.matchAll(/^data: (.*)$/gm)].map(([, data]) => shapeOf(JSON.parse(data!)))
  for (const name of ['sessionStarted', 'modelAnswered']) expect(events).toContainEqual(shapeOf(take(name)))

  await ask(`DELETE /v1/sessions/${sessionId}`, 'erased')
  expect(faults).toEqual([])
  expect(examplesOf().flatMap(({ name }) => (used.has(name) ? [] : [name]))).toEqual([])
})

test('every operation with a body shows one, but that which gives this document and the value of another', () => {
  const shown = new Set(
    examplesOf().flatMap(({ name, operationId }) => (name === 'inputViolation' ? [] : [operationId])),
  )
  const without = [...operations.values()].map(({ operationId }) => operationId).filter((id) => !shown.has(id))
  expect(without).toEqual(['getValue', 'getOpenApi'])
})
