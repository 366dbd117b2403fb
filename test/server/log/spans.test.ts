/** What is exported of an ended session: names and attributes of the GenAI conventions, the caller's trace, and no content. */
import type { Attributes, Context, Span, SpanContext, SpanKind, SpanOptions } from '@opentelemetry/api'
import { expect, test } from 'vitest'
import { silentLog } from '../../../src/base/log.ts'
import { withSpans, type Telemetry } from '../../../src/server/log/spans.ts'
import { traceOfRun } from '../../../src/spec/run-trace.ts'
import { inOrder, openBench, policy, reply, returns, snapshotOf, tool, turns } from '../../engine/bench.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const GIVEN = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` }

interface Told {
  readonly name: string
  readonly kind: SpanKind | undefined
  readonly attributes: Attributes
  /** Name of the span above, or the remote one. */
  readonly parent: unknown
  failed?: true
}

/** Spans in the order in which they begin. */
function openRecorder() {
  const told: Told[] = []
  const telemetry = {
    tracer: {
      startSpan(name: string, { kind, attributes = {} }: SpanOptions, parent: unknown) {
        const span: Told = { name, kind, attributes, parent }
        told.push(span)
        return { setStatus: () => (span.failed = true), end() {}, named: name } as unknown as Span
      },
    },
    below: (span: Span) => (span as unknown as { named: string }).named as unknown as Context,
    belowRemote: (span: SpanContext) => span as unknown as Context,
    kinds: { client: 2, internal: 0 },
    errorCode: 2,
  } as unknown as Telemetry
  return { told, telemetry }
}

const root = snapshotOf({
  name: 'root',
  tools: [tool('pay', { sideEffectClass: 'irreversible_action' })],
  policies: [{ on: ['pay'], entry: policy('guard', {}) }],
})

async function exportRun(outcome: 'ok' | 'fails', trace?: typeof GIVEN) {
  const { told, telemetry } = openRecorder()
  const bench = await openBench({
    agents: [root],
    models: { root: inOrder({ calls: [{ name: 'pay', args: { to: 'secret-person' }, id: 'p1' }] }, 'secret-answer') },
    tools: { pay: () => returns({ said: 'secret-result' }, outcome === 'fails') },
    store: (store) => withSpans(store, telemetry, silentLog),
  })
  const id = await bench.start('root', {}, trace && { trace })
  const task = await bench.waitForTask(id)
  await bench.advance(60_000)
  await bench.engine.answer(id, reply(task))
  await bench.waitForEnd(id)
  while (told.length < 5) await turns()
  return { told, run: (await bench.store.run(id))! }
}

test('a run is told with its model, tool, decision and wait, and joins the trace of its caller', async () => {
  const { told, run } = await exportRun('ok', GIVEN)
  const chat = (ordinal: unknown, finish: string, attributes: Attributes) => ({
    name: 'chat root-model',
    kind: 2,
    parent: 'invoke_agent acme.root',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'root-model',
      'gen_ai.response.finish_reasons': [finish],
      'gen_ai.usage.input_tokens': attributes['gen_ai.usage.input_tokens'],
      'gen_ai.usage.output_tokens': attributes['gen_ai.usage.output_tokens'],
      'svc.step.ordinal': ordinal,
    },
  })
  expect(told).toEqual([
    {
      name: 'invoke_agent acme.root',
      kind: 0,
      parent: { traceId: TRACE, spanId: '00f067aa0ba902b7', traceFlags: 1, isRemote: true },
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'acme.root',
        'gen_ai.agent.version': '1.0.0',
        'gen_ai.conversation.id': run.sessionId,
        'gen_ai.usage.input_tokens': run.usage.inputTokens,
        'gen_ai.usage.output_tokens': run.usage.outputTokens,
        'svc.run.id': run.id,
        'svc.run.trace_id': TRACE,
        'svc.run.status': 'Completed',
        'svc.run.waited_ms': 60_000,
      },
    },
    chat(2, 'tool_call', told[1]!.attributes),
    {
      name: 'wait approval',
      kind: 0,
      parent: 'invoke_agent acme.root',
      attributes: { 'svc.task.id': told[2]!.attributes['svc.task.id'], 'svc.step.ordinal': 4 },
    },
    {
      name: 'execute_tool acme.pay',
      kind: 0,
      parent: 'invoke_agent acme.root',
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'acme.pay',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.id': 'p1',
        'svc.tool.version': '1.0.0',
        'svc.tool.route': 'mock',
        'svc.tool.side_effect_class': 'irreversible_action',
        'svc.call.attempt': 1,
        'svc.decision': 'require_approval',
        'svc.policy.ids': ['acme.guard'],
        'svc.step.ordinal': told[3]!.attributes['svc.step.ordinal'],
      },
    },
    chat(told[4]!.attributes['svc.step.ordinal'], 'stop', told[4]!.attributes),
  ])
  expect(JSON.stringify(told)).not.toContain('secret')
})

test('without a caller a run begins a trace of the SDK, and names the one that its calls carried', async () => {
  const { told, run } = await exportRun('ok')
  expect(told[0]!.parent).toBeUndefined()
  expect(told[0]!.attributes['svc.run.trace_id']).toBe(traceOfRun(run).traceId)
})

test('what failed has an error type, and not the text of the error', async () => {
  const { told } = await exportRun('fails')
  const call = told.find(({ name }) => name.startsWith('execute_tool'))!
  expect([call.failed, call.attributes['error.type']]).toEqual([true, '_OTHER'])
  expect(JSON.stringify(told)).not.toContain('secret')
})
