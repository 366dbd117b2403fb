/** Spans as a real receiver of OTLP gets them: names and attributes of the GenAI conventions, whole traces, and no content. */
import { beforeEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../../src/base/log.ts'
import { createRedactor } from '../../../src/base/secret.ts'
import type { TraceContext } from '../../../src/base/trace-context.ts'
import { withTraceMarks } from '../../../src/server/telemetry/export-traces.ts'
import { openTelemetry } from '../../../src/server/telemetry/open-telemetry.ts'
import { readTelemetrySettings } from '../../../src/server/telemetry/settings.ts'
import { spanOfCall, spanOfRun, spanOfTurn, traceOfRun } from '../../../src/spec/run/run-trace.ts'
import { inOrder, openBench, policy, reply, returns, snapshotOf, tool, WORKSPACE } from '../../engine/bench.ts'
import { closing } from '../running.ts'
import { hasOtlpTools, startReceiver, type ReceivedSpan, type Receiver } from './receiver.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'
const GIVEN: TraceContext = { traceparent: `00-${TRACE}-${CALLER}-01` }

const root = snapshotOf({
  name: 'root',
  tools: [tool('pay', { sideEffectClass: 'irreversible_action' })],
  policies: [{ on: ['pay'], entry: policy('guard', {}) }],
})

let receiver: Receiver

interface Given {
  readonly outcome?: 'ok' | 'fails'
  readonly variables?: Readonly<Record<string, string>>
}

/** An engine whose spans go to the receiver whenever `flush` is called. */
async function openTraced({ outcome = 'ok', variables = {} }: Given = {}) {
  const heard = new Map<number, TraceContext>()
  const answer = inOrder(
    { calls: [{ name: 'pay', args: { to: 'secret-person' }, id: 'p1' }] },
    { text: 'secret-answer' },
    { text: 'secret-other' },
  )
  const bench = await openBench({
    agents: [root],
    models: {
      root: (request, signal) => {
        heard.set(request.run.turn, request.trace!)
        return answer(request, signal)
      },
    },
    tools: { pay: () => returns({ said: 'secret-result' }, outcome === 'fails') },
    store: withTraceMarks,
  })
  const redactor = createRedactor()
  redactor.add('secret-person')
  const flush = async (): Promise<void> => {
    const telemetry = await openTelemetry({
      settings: readTelemetrySettings({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...variables }, true)!,
      version: '1.2.3',
      workspace: { id: WORKSPACE, name: 'test' },
      redactor,
      log: silentLog,
      clock: bench.clock,
    })
    telemetry.exportTraces(bench.store)
    await telemetry.close()
  }
  return { bench, flush, heard }
}

/** A run that waits for a person and goes on; both halves are exported. */
async function runOnce(given: Given = {}, trace?: TraceContext) {
  const { bench, flush, heard } = await openTraced(given)
  const id = await bench.start('root', {}, trace && { trace })
  const task = await bench.waitForTask(id)
  await flush()
  const paused = [...receiver.spans]
  await bench.advance(60_000)
  await bench.engine.answer(id, reply(task))
  await bench.waitForEnd(id)
  await flush()
  return { bench, flush, heard, paused, run: (await bench.store.run(id))!, task }
}

const named = (name: string): ReceivedSpan => receiver.spans.find((span) => span.name === name)!

describe.skipIf(!hasOtlpTools)('with node scripts/tools.js test/server/telemetry/otlp', () => {
  beforeEach(async () => {
    receiver = await startReceiver()
    closing(() => receiver.close())
  })

  test.each(['http/protobuf', 'http/json'])('a run is one trace below its caller, over %s', async (protocol) => {
    const { run, paused, heard, task } = await runOnce({ variables: { OTEL_EXPORTER_OTLP_PROTOCOL: protocol } }, GIVEN)
    const told = receiver.spans.map(({ name, kind, ms }) => [name, kind, ms])
    expect(paused.map(({ name }) => name)).toEqual(['chat root-model', 'work acme.root'])
    expect(told).toEqual([
      ['chat root-model', 3, 0],
      ['work acme.root', 1, 0],
      ['wait approval', 1, 60_000],
      ['execute_tool acme.pay', 1, 0],
      ['chat root-model', 3, 0],
      ['invoke_agent acme.root', 1, 60_000],
    ])
    expect(new Set(receiver.spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]))
    expect(new Set(receiver.spans.map(({ spanId }) => spanId)).size).toBe(6)
    expect(receiver.spans.map(({ parentSpanId }) => parentSpanId)).toEqual([
      ...Array.from({ length: 5 }, () => spanOfRun(run)),
      CALLER,
    ])
    // What was called was told the ids under which its calls are exported.
    expect(named('execute_tool acme.pay').spanId).toBe(spanOfCall(run, 'p1'))
    const chats = receiver.spans.filter(({ name }) => name === 'chat root-model').map(({ spanId }) => spanId)
    expect(chats).toEqual([spanOfTurn(run, 1), spanOfTurn(run, 2)])
    expect([...heard.values()].map(({ traceparent }) => traceparent.slice(36, 52))).toEqual(chats)
    const { schemaUrl, scope, resource } = receiver.spans[0]!
    expect({ schemaUrl, scope }).toEqual({
      schemaUrl: 'https://opentelemetry.io/schemas/gen-ai/0.1.0',
      scope: 'svc@1.2.3',
    })
    expect(resource).toMatchObject({ 'service.name': 'svc', 'service.version': '1.2.3', 'service.namespace': 'test' })

    expect(named('invoke_agent acme.root').attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'acme.root',
      'gen_ai.agent.version': '1.0.0',
      'gen_ai.conversation.id': run.sessionId,
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.output_tokens': 20,
      'svc.run.id': run.id,
      'svc.run.status': 'Completed',
      'svc.run.waited_ms': 60_000,
    })
    expect(named('chat root-model').attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.agent.name': 'acme.root',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'root-model',
      'gen_ai.response.finish_reasons': ['tool_call'],
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 10,
      'gen_ai.conversation.id': run.sessionId,
      'svc.step.ordinal': 2,
    })
    expect(named('execute_tool acme.pay').attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'acme.pay',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'p1',
      'gen_ai.conversation.id': run.sessionId,
      'svc.tool.version': '1.0.0',
      'svc.tool.route': 'mock',
      'svc.tool.side_effect_class': 'irreversible_action',
      'svc.call.attempt': 1,
      'svc.decision': 'require_approval',
      'svc.policy.ids': ['acme.guard'],
      'svc.step.ordinal': 6,
    })
    expect(named('wait approval').attributes).toMatchObject({ 'svc.task.id': task.user_task_id })
    expect(named('work acme.root').attributes).toMatchObject({ 'svc.run.status': 'WaitingForHITL' })
    expect(JSON.stringify(receiver.spans)).not.toContain('secret')
  })

  test('a run without a caller has the trace that its calls were told', async () => {
    const { run, heard } = await runOnce()
    const { traceId } = traceOfRun(run)
    expect(named('invoke_agent acme.root')).toMatchObject({ traceId, parentSpanId: '' })
    expect(heard.get(1)!.traceparent).toBe(`00-${traceId}-${spanOfTurn(run, 1)}-01`)
  })

  test('what failed has the status of an error and a type, and not its text', async () => {
    await runOnce({ outcome: 'fails' })
    const call = named('execute_tool acme.pay')
    expect([call.isFailed, call.attributes['error.type']]).toEqual([true, '_OTHER'])
    expect(JSON.stringify(receiver.spans)).not.toContain('secret')
  })

  test('content is told where the standard variable asks for it, without secrets', async () => {
    await runOnce({ variables: { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' } })
    const jsonOf = (name: string, attribute: string): unknown => JSON.parse(named(name).attributes[attribute] as string)
    expect(jsonOf('execute_tool acme.pay', 'gen_ai.tool.call.arguments')).toEqual({ to: '***' })
    expect(jsonOf('execute_tool acme.pay', 'gen_ai.tool.call.result')).toEqual({ said: 'secret-result' })
    expect(jsonOf('chat root-model', 'gen_ai.input.messages')).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'Begin.' }] },
    ])
    expect(jsonOf('chat root-model', 'gen_ai.output.messages')).toEqual([
      {
        role: 'assistant',
        parts: [{ type: 'tool_call', id: 'p1', name: 'pay', arguments: { to: '***' } }],
        finish_reason: 'tool_call',
      },
    ])
    expect(jsonOf('invoke_agent acme.root', 'gen_ai.output.messages')).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'secret-answer' }] },
    ])
  })

  test('nothing is sent twice, and a run that continues a session is linked to the one before', async () => {
    const { bench, flush, run } = await runOnce()
    await flush()
    expect(receiver.spans).toHaveLength(6)
    const next = await bench.start('root', {}, { continued: { sessionId: run.sessionId } })
    const task = await bench.waitForTask(next)
    await bench.engine.answer(next, reply(task))
    await bench.waitForEnd(next)
    await flush()
    const added = receiver.spans.slice(6)
    expect(added.filter(({ name }) => name === 'invoke_agent acme.root')).toHaveLength(1)
    expect(added.at(-1)!.links).toEqual([{ traceId: traceOfRun(run).traceId, spanId: spanOfRun(run) }])
  })

  test.each([
    [{ OTEL_TRACES_SAMPLER: 'always_off' }, undefined, 0],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, GIVEN, 6],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_on' }, { traceparent: GIVEN.traceparent.replace(/01$/, '00') }, 0],
    [{ OTEL_TRACES_SAMPLER: 'always_on' }, { traceparent: GIVEN.traceparent.replace(/01$/, '00') }, 6],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' }, GIVEN, 0],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.9' }, GIVEN, 6],
  ])('of a sampler %o a trace %o has %i spans', async (variables, trace, spans) => {
    await runOnce({ variables }, trace)
    expect(receiver.spans).toHaveLength(spans)
  })
})
