import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { fromColumn, toColumn, type EventOwner } from '../../src/store/rows/event-data.ts'
import type { StoredEvent } from '../../src/spec/event.ts'

const owner = { sessionId: 's', runId: 'r', workspaceId: 'w', agentId: 'a', agentVersionId: 'v' } as EventOwner
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

test('a step event is stored without the ids of its row, and is read back unchanged, in the same order', () => {
  const column = toColumn(event(usual), owner)
  expect(column).toEqual([
    { id: 'i', sequence: 1, ordinal: 2, type: 'Output', tokensUsed: null },
    { output: 1, step_kind: 'Output', event_id: 'e' },
    {},
  ])
  expect(JSON.stringify(fromColumn(column, owner))).toBe(JSON.stringify(usual))
})

test('an event of another kind is stored without the ids of its row', () => {
  const given = { sessionId: 's', runId: 'r', status: 'Running', output: null }
  const column = toColumn(event(given, 'run'), owner)
  expect(column).toEqual([{ status: 'Running', output: null }])
  expect(JSON.stringify(fromColumn(column, owner))).toBe(JSON.stringify(given))
})

test('an event with another run than its row is stored unchanged', () => {
  const given = event({ ...usual, runId: 'q' })
  expect(toColumn(given, owner)).toBe(given.data)
})

test.each([
  ['belongs to another agent', { ...usual.step, content: { ...ids, agent_id: 'b' } }],
  ['belongs to another run', { ...usual.step, runId: 'q' }],
  ['is not an object', 'step'],
])('a step that %s is stored whole', (_, step) => {
  expect(toColumn(event({ sessionId: 's', runId: 'r', step }), owner)).toEqual([{ step }])
})

test('any event is read as it was written', () => {
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
