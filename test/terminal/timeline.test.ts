import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { RunSummary, TimelineItem } from '../../src/spec/api.ts'
import { widthOf } from '../../src/terminal/width.ts'
import { createLiveTimeline, drawTimeline } from '../../src/terminal/timeline.ts'
import { canvasOf, PIPE } from './recording.ts'

const ROOT = '019a9f3e-0000-7000-8000-0000003f2a91'
const CHILD = '019a9f3e-0000-7000-8000-0000006c01de'
const runs = [
  { id: ROOT, depth: 0 },
  { id: CHILD, depth: 1 },
] as unknown as RunSummary[]

/** Items one second apart, from 10:42:01 on. */
function timeline(
  ...steps: readonly (readonly [type: string, content: JsonObject, more?: Partial<TimelineItem>])[]
): TimelineItem[] {
  return steps.map(([type, content, more], at) => ({
    runId: ROOT,
    id: `step-${at}`,
    sequence: at + 1,
    ordinal: at + 1,
    type,
    content,
    tokensUsed: null,
    error: null,
    startedAt: new Date(Date.parse('2026-11-20T10:42:01Z') + at * 1000).toISOString(),
    finishedAt: null,
    ...more,
  }))
}

const task = {
  user_task_id: 't',
  kind: 'approval',
  status: 'pending',
  tool: { ref: 'acme.refunds' },
  arguments: { amount: 180 },
}
const refund = timeline(
  ['UserMessage', { text: '{\n  "order": "A-1042"\n}' }],
  ['Reasoning', { text: 'The item arrived broken,\nso a refund is due.' }],
  ['PolicyDecision', { tool_call_id: 'c1', name: 'lookup', decision: 'allow', explanation: 'read_only' }],
  ['ToolCall', { tool_call_id: 'c1', name: 'lookup', ref: 'acme.orders.lookup', arguments: { order: 'A-1042' } }],
  ['ToolResult', { tool_call_id: 'c1', name: 'lookup', result: { damaged: true }, is_error: false, duration_ms: 4 }],
  ['SubAgentCall', { tool_call_id: 'c2', agent: 'acme.fraud-check', child_run_id: CHILD, input: { order: 'A-1042' } }],
  ['Reasoning', { text: 'No sign of fraud.' }, { runId: CHILD }],
  ['RunCompleted', { output: 'clear' }, { runId: CHILD }],
  ['SubAgentResult', { tool_call_id: 'c2', child_run_id: CHILD, status: 'Completed', output: 'clear' }],
  [
    'PolicyDecision',
    { tool_call_id: 'c3', name: 'refunds', decision: 'require_approval', explanation: 'amount > 100' },
  ],
  ['UserTaskReq', task],
  ['UserTaskRes', { user_task_id: 't', outcome: 'approved', completed_by: 'ana@acme.example' }],
  ['ToolCall', { tool_call_id: 'c3', name: 'refunds', ref: 'acme.refunds', arguments: { amount: 180 } }],
  ['ToolResult', { tool_call_id: 'c3', name: 'refunds', result: 'Down.', is_error: true, duration_ms: 1200 }],
  ['RunCompleted', { status: 'Completed', output: { refunded: 180 } }],
  ['SessionCompleted', { status: 'Completed', output: { refunded: 180 } }],
)

test('a conversation in order, results beside their calls, sub-agents indented', () => {
  expect(drawTimeline(canvasOf(100), refund.toReversed(), runs, { offsetMinutes: 0 })).toEqual([
    '  1  10:42:01  UserMessage      { "order": "A-1042" }',
    '  2  10:42:02  Reasoning        The item arrived broken, so a refund is due.',
    '  4  10:42:04  ToolCall         acme.orders.lookup → {"damaged":true}',
    '  6  10:42:06  SubAgentCall     acme.fraud-check → Completed clear (6c01de)',
    '  7  10:42:07    Reasoning        No sign of fraud.',
    '  8  10:42:08    RunCompleted     clear',
    ' 10  10:42:10  PolicyDecision   require_approval refunds  amount > 100',
    ' 11  10:42:11  UserTaskReq      approval acme.refunds amo…  approved by ana@acme.example after 1.0 s',
    ' 13  10:42:13  ToolCall         acme.refunds → Down.',
    ' 15  10:42:15  RunCompleted     {"refunded":180}',
    ' 16  10:42:16  SessionCompleted',
  ])
})

test('a narrow terminal leaves the time out, and puts an answer under its task', () => {
  expect(drawTimeline(canvasOf(40), refund.slice(9, 13), runs)).toEqual([
    ' 10  PolicyDecision   require_approval …',
    ' 11  UserTaskReq      approval acme.ref…',
    '    approved by ana@acme.example after',
    '    1.0 s',
    ' 13  ToolCall         acme.refunds {"am…',
  ])
})

test('a pipe gets every line whole', () => {
  const long = 'x'.repeat(500)
  expect(
    drawTimeline(canvasOf(PIPE), timeline(['Reasoning', { text: long }], ['UserTaskReq', task]), runs, {
      offsetMinutes: 0,
    }),
  ).toEqual([
    `  1  10:42:01  Reasoning        ${long}`,
    '  2  10:42:02  UserTaskReq      approval acme.refunds amount 180  pending',
  ])
})

test('a completion that gave no answer says why', () => {
  expect(
    drawTimeline(canvasOf(80), timeline(['Reasoning', { text: '' }, { error: 'The model is busy.' }]), runs, {
      offsetMinutes: 0,
    }),
  ).toEqual(['  1  10:42:01  Reasoning        The model is busy.'])
})

test('results without their calls stand for themselves', () => {
  expect(
    drawTimeline(canvasOf(80), [refund[4]!, refund[8]!, refund[11]!, refund[2]!], runs, { offsetMinutes: 0 }),
  ).toEqual([
    '  3  10:42:03  PolicyDecision   allow lookup  read_only',
    '  5  10:42:05  ToolResult       lookup → {"damaged":true}',
    '  9  10:42:09  SubAgentResult   Completed clear (6c01de)',
    ' 12  10:42:12  UserTaskRes      approved by ana@acme.example',
  ])
})

test('what was begun and has no result says why', () => {
  const items = timeline(
    [
      'ToolCall',
      { tool_call_id: 'c1', name: 'pay', ref: 'acme.pay', arguments: { amount: 180 } },
      { error: 'The run ended before the outcome was known.' },
    ],
    ['SubAgentCall', { tool_call_id: 'c2', agent: 'acme.helper', input: {} }, { error: 'The run ended first.' }],
  )
  expect(drawTimeline(canvasOf(PIPE), items, runs, { offsetMinutes: 0 })).toEqual([
    '  1  10:42:01  ToolCall         acme.pay {"amount":180} → The run ended before the outcome was known.',
    '  2  10:42:02  SubAgentCall     acme.helper {} → The run ended first.',
  ])
})

test('a result stands with the attempt that had it', () => {
  const sent = { tool_call_id: 'c1', name: 'put', ref: 'acme.put', arguments: { n: 1 } }
  const items = timeline(
    ['ToolCall', { ...sent, attempt: 1 }, { error: 'No answer within 60 s.' }],
    ['ToolCall', { ...sent, attempt: 2 }],
    ['ToolResult', { tool_call_id: 'c1', name: 'put', result: 'done', is_error: false, duration_ms: 4 }],
  )
  expect(drawTimeline(canvasOf(PIPE), items, runs, { offsetMinutes: 0 })).toEqual([
    '  1  10:42:01  ToolCall         acme.put {"n":1} → No answer within 60 s.',
    '  2  10:42:02  ToolCall         acme.put → done',
  ])
})

test('limits, validation, agents that ask, and types of the future', () => {
  const items = timeline(
    ['LimitReached', { limit: 'max_tokens_per_run', value: 100, used: 120, action: 'halt' }],
    ['OutputValidation', { valid: false, errors: ['/a: must be number'], action: 'retry' }],
    ['OutputValidation', { valid: true }],
    ['AitlRequest', { request_id: 'r', question: 'Which order?' }],
    ['AitlResponse', { request_id: 'r', answer: 'A-1042', answered_by: 'parent' }],
    ['Output', { output: { a: 1 } }],
    ['Telepathy', { thought: true }],
    ['RunCompleted', { status: 'Failed' }, { error: 'max_tokens_per_run: 120 of 100' }],
  )
  expect(drawTimeline(canvasOf(90), items, runs, { offsetMinutes: 0 })).toEqual([
    '  1  10:42:01  LimitReached     max_tokens_per_run: 120 of 100 used, halt',
    '  2  10:42:02  OutputValidation invalid, retry: ["/a: must be number"]',
    '  3  10:42:03  OutputValidation valid',
    '  4  10:42:04  AitlRequest      Which order?',
    '  5  10:42:05  AitlResponse     A-1042                                              parent',
    '  6  10:42:06  Output           {"a":1}',
    '  7  10:42:07  Telepathy        {"thought":true}',
    '  8  10:42:08  RunCompleted     max_tokens_per_run: 120 of 100',
  ])
})

test('as it happens: a line when something is settled', () => {
  const live = createLiveTimeline(canvasOf(80), ROOT)
  expect(refund.flatMap((item) => live.add(item))).toEqual([
    '  reasoning  The item arrived broken, so a refund is due.',
    '  tool       acme.orders.lookup {"order":"A-1042"}               allow       4ms',
    '  agent      acme.fraud-check {"order":"A-1042"}',
    '  · reasoning No sign of fraud.',
    '  agent      acme.fraud-check → Completed clear (6c01de)',
    '  task       approval acme.refunds amount 180                     needs a person',
    '  answer     approved by ana@acme.example after 1.0 s',
    '  tool       acme.refunds {"amount":180} → Down.                 error      1.2s',
  ])
})

test('as it happens: a call that was refused was never made, so it shows no arguments and no time', () => {
  const live = createLiveTimeline(canvasOf(80), ROOT)
  const refused = (result: JsonObject): TimelineItem[] =>
    timeline(['ToolResult', { tool_call_id: 'c4', name: 'refunds', result, is_error: true, duration_ms: 0 }])
  expect(
    [...refused({ error: 'rejected', message: 'Not executed: rejected.' }), ...refused({ odd: 1 })].flatMap((item) =>
      live.add(item),
    ),
  ).toEqual([
    '  tool       refunds → Not executed: rejected.                          rejected',
    '  tool       refunds → {"odd":1}                                           error',
  ])
})

test('as it happens, in colour and on a pipe', () => {
  const colour = createLiveTimeline(canvasOf(60, 1), ROOT)
  expect(refund.slice(2, 5).flatMap((item) => colour.add(item))).toEqual([
    '  tool       acme.orders.lookup {"order":"…  \x1b[32mallow    \x1b[39m\x1b[2m   4ms\x1b[22m',
  ])
  const pipe = createLiveTimeline(canvasOf(PIPE), ROOT)
  expect(refund.slice(2, 5).flatMap((item) => pipe.add(item))).toEqual([
    '  tool       acme.orders.lookup {"order":"A-1042"}  allow  4ms',
  ])
})

test('as it happens: denials, limits and repairs', () => {
  const live = createLiveTimeline(canvasOf(80))
  const items = timeline(
    ['PolicyDecision', { tool_call_id: 'c', name: 'refunds', decision: 'deny', explanation: 'above 5,000' }],
    ['LimitReached', { limit: 'max_loop_iterations', value: 3, used: 3, action: 'halt' }],
    ['OutputValidation', { valid: false, errors: [], action: 'repair' }],
    ['Reasoning', { text: '  ' }],
    ['UserMessage', { text: 'and then?' }],
  )
  expect(items.flatMap((item) => live.add(item))).toEqual([
    '  policy     deny refunds  above 5,000',
    '  limit      max_loop_iterations: 3 of 3 used, halt',
    '  output     invalid, repair: []',
    '  message    and then?',
  ])
})

test('nothing in a step moves the cursor or ends its line', () => {
  const evil = 'a\x1b[2J\r\n\u202eb'
  const all = [
    'UserMessage',
    'Reasoning',
    'PolicyDecision',
    'ToolCall',
    'ToolResult',
    'SubAgentCall',
    'SubAgentResult',
    'UserTaskReq',
    'UserTaskRes',
    'AitlRequest',
    'AitlResponse',
    'LimitReached',
    'OutputValidation',
    'Output',
    'RunCompleted',
    evil,
  ]
  const fields = [
    'text',
    'name',
    'ref',
    'decision',
    'explanation',
    'agent',
    'status',
    'outcome',
    'completed_by',
    'prompt',
    'title',
    'kind',
    'question',
    'answer',
    'answered_by',
    'limit',
    'value',
    'used',
    'action',
    'result',
    'output',
    'child_run_id',
    'arguments',
    'input',
    'errors',
  ]
  const content = Object.fromEntries(fields.map((field) => [field, evil]))
  const items = timeline(...all.map((type) => [type, content] as const), [
    'ToolCall',
    { ...content, arguments: { [evil]: evil } },
  ])
  const live = createLiveTimeline(canvasOf(PIPE))
  const lines = [...drawTimeline(canvasOf(PIPE), items, runs), ...items.flatMap((item) => live.add(item))]
  const CONTROL = new RegExp(String.raw`[\x00-\x1f\x7f-\x9f\u202e]`)
  for (const line of lines) expect(line).not.toMatch(CONTROL)
  for (const line of drawTimeline(canvasOf(60), items, runs)) expect(widthOf(line)).toBeLessThanOrEqual(60)
})

test('a screen reader gets every word, on lines as long as they are', () => {
  const [item] = timeline(['Reasoning', { text: 'The item arrived broken and the risk is low, so a refund is due.' }])
  const canvas = { ...canvasOf(40), isAccessible: true }
  expect(createLiveTimeline(canvas).add(item!)).toEqual([
    '  reasoning  The item arrived broken and the risk is low, so a refund is due.',
  ])
})

test('of an erased step the type and the time are left', () => {
  const items = timeline(['ToolCall', {}], ['Output', {}]).map((item): TimelineItem => ({ ...item, content: null }))
  expect(drawTimeline(canvasOf(60), items, runs).map((line) => line.trimEnd())).toEqual([
    '  1  10:42:01  ToolCall',
    '  2  10:42:02  Output',
  ])
  const live = createLiveTimeline(canvasOf(60), ROOT)
  expect(items.flatMap((item) => live.add(item))).toEqual([])
})
