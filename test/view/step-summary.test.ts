/** What an outline says of a step in a few words. */
import { expect, test } from 'vitest'
import { summarizeStep } from '../../src/view/step-summary.ts'

const call = { name: 'pay', ref: 'acme.pay' }

test.each([
  ['Reasoning', { text: 'A refund is due.', tool_calls: [call] }, null, 'A refund is due.'],
  ['Reasoning', { text: '', tool_calls: [call, { name: 'look' }] }, null, 'calls pay, look'],
  ['Reasoning', { text: '' }, 'The model provider answered 500:\n broken', 'The model provider answered 500: broken'],
  ['ToolCall', call, 'Nobody listens there.', 'acme.pay: Nobody listens there.'],
  ['ToolCall', { ...call, arguments: { amount: 5 } }, null, 'acme.pay {"amount":5}'],
  ['ToolResult', { name: 'pay', result: { paid: 5 } }, null, '{"paid":5}'],
  ['ToolResult', { name: 'pay', is_error: true, result: 'No such account.' }, 'No such account.', 'No such account.'],
  ['SubAgentCall', { agent: 'acme.check', input: { order: 'A-1' } }, null, 'acme.check {"order":"A-1"}'],
  ['SubAgentResult', { status: 'Completed', output: { risk: 'low' } }, null, 'Completed {"risk":"low"}'],
  ['SubAgentResult', { status: 'Failed', output: null }, null, 'Failed'],
  ['RunCompleted', { status: 'Failed' }, 'Held for 5 minutes.', 'Failed: Held for 5 minutes.'],
  ['LimitReached', { limit: 'max_tokens_per_run' }, 'too many', 'max_tokens_per_run'],
])('a step %s with %j and the error %j is summarized as %j', (type, content, error, summary) => {
  expect(summarizeStep(type, content, error)).toBe(summary)
})
