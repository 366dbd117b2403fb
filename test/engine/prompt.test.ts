import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { firstMessage } from '../../src/engine/prompt/input.ts'
import { toRequest } from '../../src/engine/prompt/prompt.ts'
import type { Run } from '../../src/spec/run/run.ts'
import type { RunStep, StepType } from '../../src/spec/step.ts'
import { snapshotOf } from './bench.ts'

const step = (type: StepType, content: JsonObject, about: Partial<RunStep> = {}): RunStep =>
  ({ type, content, error: null, ...about }) as RunStep

const messages = (steps: readonly RunStep[], attachments = new Map()) =>
  toRequest({
    snapshot: snapshotOf({ name: 'root' }),
    run: { id: 'r', input: {} } as Run,
    turn: 2,
    attempt: 1,
    steps,
    tools: [],
    attachments,
    repair: false,
  }).messages

const calls = [
  { id: 'a', name: 'look', arguments: { n: 1 } },
  { id: 'b', name: 'ask_user', arguments: { message: 'Which?' } },
]

test('puts results after their calls in order, and then the messages that the user sent meanwhile', () => {
  const steps = [
    step('UserMessage', { text: 'Hi' }),
    step('Reasoning', { text: '', tool_calls: [] }, { error: 'overloaded' }),
    step('Reasoning', { text: 'Let me see.', tool_calls: calls }, { hidden: { signature: 's' } }),
    step('UserMessage', { text: 'This', files: [{ filename: 'a.txt' }], reply_to: 'b' }),
    step('ToolResult', { tool_call_id: 'b', name: 'ask_user', result: 'This', is_error: false }),
    step('ToolResult', { tool_call_id: 'a', name: 'look', result: { error: 'x' }, is_error: true }),
  ]
  const attachments = new Map([['a.txt', [{ type: 'text', text: 'File a.txt:\nbody' }]]])
  expect(messages(steps, attachments)).toEqual([
    { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
    { role: 'assistant', text: 'Let me see.', calls, hidden: { signature: 's' } },
    { role: 'tool', callId: 'a', name: 'look', content: '{"error":"x"}', isError: true },
    { role: 'tool', callId: 'b', name: 'ask_user', content: 'This', isError: false },
    { role: 'user', parts: [{ type: 'text', text: 'File a.txt:\nbody' }] },
  ])
})

test('an input of deep lists is not indented, which would make its text forty times as long', () => {
  const nested = JSON.parse('['.repeat(40) + ']'.repeat(40)) as JsonValue
  const input = { lists: Array.from({ length: 2000 }, () => nested) }
  expect(firstMessage(input)).toBe(JSON.stringify(input))
  expect(firstMessage({ lists: [nested] })).toBe(JSON.stringify({ lists: [nested] }, null, 2))
})
