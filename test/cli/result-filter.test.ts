import { expect, test } from 'vitest'
import { createResultFilter } from '../../src/cli/runs/result-filter.ts'
import type { StreamEvent } from '../../src/client/index.ts'

const step = (type: string, content: object, runId = 'root'): StreamEvent =>
  ({
    kind: 'step',
    subject: 'engine.step.completed',
    data: { runId, step: { type, runId, content, error: null } },
  }) as unknown as StreamEvent
const says = (text: string, runId?: string) => step('Reasoning', { text }, runId)
const valid = step('OutputValidation', { valid: true })

/** What is shown in the end, each event by its first content value. */
function shownOf(events: readonly StreamEvent[]): unknown[] {
  const filter = createResultFilter('root')
  return [...events.flatMap((event) => filter.add(event)), ...filter.end()].map(
    (event) => Object.values((event.data as { step: { content: object } }).step.content)[0] as unknown,
  )
}

test.each([
  ['JSON in other spacing', '{ "b": 1, "a": 2 }', { a: 2, b: 1 }],
  ['text', 'Dear customer', 'Dear customer'],
])('leaves out the message that is the output: %s', (_, text, output) => {
  expect(shownOf([says('first'), says(text), valid, step('Output', { output })])).toEqual(['first', output])
})

test('shows a message that says something else than the output, that was invalid, or that is of a sub-agent', () => {
  expect(shownOf([says('Done.'), valid, step('Output', { output: 1 })])).toEqual(['Done.', 1])
  expect(shownOf([says('{'), step('OutputValidation', { valid: false })])).toEqual(['{', false])
  expect(shownOf([says('1', 'child'), step('Output', { output: 1 }, 'child')])).toEqual(['1', 1])
})

test('a message is shown before what follows it, and at the end', () => {
  const filter = createResultFilter('root')
  const [message, call] = [says('Let me look.'), step('ToolCall', { name: 'lookup' })]
  expect(filter.add(message)).toEqual([])
  expect(filter.add(call)).toEqual([message, call])
  expect(filter.add(message)).toEqual([])
  expect([filter.end(), filter.end()]).toEqual([[message], []])
})
