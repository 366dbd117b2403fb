import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json.ts'
import { fromColumn, toColumn, type Owner } from '../../src/store/sqlite/step-event.ts'
import type { StoredEvent } from '../../src/spec/event.ts'

const owner = { sessionId: 's', runId: 'r', workspaceId: 'w', agentId: 'a', agentVersionId: 'v' } as Owner
const event = (data: JsonObject, kind: StoredEvent['kind'] = 'step'): StoredEvent =>
  ({ sessionId: 's', seq: 1, runId: 'r', ts: 0, kind, subject: 'x', data }) as StoredEvent
const ids = { session_id: 's', run_id: 'r', tenant_id: 'w', agent_id: 'a', agent_version_id: 'v' }
const usual = {
  sessionId: 's',
  runId: 'r',
  step: {
    runId: 'r',
    id: 'i',
    sequence: 1,
    ordinal: 2,
    type: 'Output',
    content: { output: 1, step_kind: 'Output', ...ids, event_id: 'e' },
    tokensUsed: null,
  },
}

test('a step event is kept without what its row says, and is read as it was, in the same order', () => {
  const column = toColumn(event(usual), owner)
  expect(column).toEqual([
    { id: 'i', sequence: 1, ordinal: 2, type: 'Output', tokensUsed: null },
    { output: 1, step_kind: 'Output', event_id: 'e' },
    {},
  ])
  expect(JSON.stringify(fromColumn(column, owner))).toBe(JSON.stringify(usual))
})

test.each([
  ['of another kind', event(usual, 'run')],
  ['of another run', event({ ...usual, runId: 'q' })],
  ['whose step is of another agent', event({ ...usual, step: { ...usual.step, content: { ...ids, agent_id: 'b' } } })],
  ['without a step', event({ sessionId: 's', runId: 'r' })],
])('an event %s is kept as it is', (_, given) => {
  expect(toColumn(given, owner)).toBe(given.data)
})

test('whatever an event says is read as it was written', () => {
  const part = fc.dictionary(fc.string(), fc.jsonValue() as fc.Arbitrary<JsonValue>)
  const data = fc.record({ step: part, content: part, more: part, whole: fc.boolean() }).map((given): JsonObject => {
    const content = { ...given.content, ...(given.whole && ids) }
    const step = { ...given.step, ...(given.whole && { runId: 'r' }), content }
    return JSON.parse(JSON.stringify({ sessionId: 's', runId: 'r', step, more: given.more })) as JsonObject
  })
  fc.assert(
    fc.property(data, (each) => {
      expect(fromColumn(JSON.parse(JSON.stringify(toColumn(event(each), owner))) as JsonValue, owner)).toEqual(each)
    }),
  )
})
