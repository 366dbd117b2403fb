/**
 * What Langfuse and Phoenix read of spans, by their published sources, is what svc exports under these names: langfuse/langfuse
 * `OtelIngestionProcessor.ts` and `ObservationTypeMapper.ts`, Arize-ai/phoenix `trace/gen_ai/conversion.py`.
 */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import {
  describeRunSpan,
  describeStepSpan,
  type StepFacts,
  type TracedStep,
} from '../../../src/server/telemetry/genai-mapping.ts'
import type { Run } from '../../../src/spec/run/run.ts'

const run = {
  id: 'r1',
  sessionId: 's1',
  agentName: 'acme.desk',
  versionLabel: '1.0.0',
  usage: { inputTokens: 12, outputTokens: 3, waitedMs: 0 },
  input: { question: 'where' },
  output: 'here',
} as unknown as Run
const step = (type: TracedStep['type'], ordinal: number, content: TracedStep['content']): TracedStep => ({
  runId: run.id,
  type,
  ordinal,
  content,
  error: null,
  startedAt: 0,
  finishedAt: 1,
})
const usage = {
  input_tokens: 12,
  output_tokens: 3,
  cached_input_tokens: 4,
  cache_write_tokens: 2,
  reasoning_tokens: 1,
}
const asked = step('UserMessage', 1, { text: 'where' })
const chat = step('Reasoning', 2, {
  text: '',
  provider: 'gemini',
  model: 'm',
  response_model: 'm-001',
  finish_reason: 'tool_calls',
  usage,
  tool_calls: [{ id: 'c1', name: 'look', arguments: { at: 1 } }],
})
const call = step('ToolCall', 3, { tool_call_id: 'c1', ref: 'acme.look', route: 'mcp', arguments: { at: 1 } })
const result = step('ToolResult', 4, { tool_call_id: 'c1', result: { found: true }, is_error: false })
const facts: StepFacts = { run, earlier: [asked], withContent: true }

const AGENT = describeRunSpan(run, 'Completed', true).attributes
const CHAT = describeStepSpan(chat, facts)!.attributes
const CALL = describeStepSpan(call, { ...facts, earlier: [asked, chat], result })!.attributes

test.each([
  ['invoke_agent', AGENT, 'AGENT'],
  ['chat', CHAT, 'GENERATION of Langfuse, LLM of Phoenix'],
  ['execute_tool', CALL, 'TOOL'],
])('a span of %s', (operation, attributes) => {
  expect(attributes).toMatchObject({ 'gen_ai.operation.name': operation, 'gen_ai.conversation.id': 's1' })
})

test('a turn has model, provider, usage and messages', () => {
  expect(CHAT).toMatchObject({
    'gen_ai.provider.name': 'gcp.gemini',
    'gen_ai.request.model': 'm',
    'gen_ai.response.model': 'm-001',
    'gen_ai.response.finish_reasons': ['tool_call'],
    'gen_ai.usage.input_tokens': 12,
    'gen_ai.usage.output_tokens': 3,
    'gen_ai.usage.cache_read.input_tokens': 4,
    'gen_ai.usage.cache_creation.input_tokens': 2,
    'gen_ai.usage.reasoning.output_tokens': 1,
  })
  expect(JSON.parse(CHAT['gen_ai.input.messages'] as string)).toEqual([
    { role: 'user', parts: [{ type: 'text', content: 'where' }] },
  ])
  expect(JSON.parse(CHAT['gen_ai.output.messages'] as string)).toEqual([
    {
      role: 'assistant',
      parts: [{ type: 'tool_call', id: 'c1', name: 'look', arguments: { at: 1 } }],
      finish_reason: 'tool_call',
    },
  ])
})

test('a call has name, id, arguments and result', () => {
  expect(CALL).toMatchObject({
    'gen_ai.tool.name': 'acme.look',
    'gen_ai.tool.type': 'extension',
    'gen_ai.tool.call.id': 'c1',
    'gen_ai.tool.call.arguments': '{"at":1}',
    'gen_ai.tool.call.result': '{"found":true}',
  })
})

test('the whole run names no model, since Langfuse would count its cost beside that of the turns', () => {
  expect(Object.keys(AGENT).filter((name) => name.endsWith('.model'))).toEqual([])
})

test('every name of the conventions on the page is one that is exported', () => {
  const page = readFileSync(join(resolve(import.meta.dirname, '../../..'), 'docs/telemetry.md'), 'utf8')
  const exported = new Set([AGENT, CHAT, CALL].flatMap((attributes) => Object.keys(attributes)))
  const named = [...page.matchAll(/`(gen_ai(?:\.[a-z_]+)+)`/g)].map(([, name]) => name!)
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((name) => !exported.has(name))).toEqual([])
})
