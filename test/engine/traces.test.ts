/** A run keeps its trace: over attempts, sub-agents, restarts and waits. Source: docs/design/models-and-tools.md#traces */
import { expect, test } from 'vitest'
import { parseTraceparent, type TraceContext } from '../../src/base/trace-context.ts'
import { spanOfCall, spanOfRun, spanOfTurn, traceOfRun } from '../../src/spec/run/run-trace.ts'
import {
  boundAgent,
  inOrder,
  openBench,
  overloaded,
  policy,
  reply,
  returns,
  snapshotOf,
  tool,
  type Model,
} from './bench.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const GIVEN: TraceContext = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01`, tracestate: 'rojo=1' }

/** A model that remembers the traces that it was told, by agent and turn. */
const listening =
  (heard: Map<string, TraceContext>, name: string, model: Model): Model =>
  (request, signal) => {
    heard.set(`${name} ${request.run.turn}`, request.trace!)
    return model(request, signal)
  }

const child = snapshotOf({ name: 'child', tools: [tool('look')] })
const root = snapshotOf({
  name: 'root',
  agents: [boundAgent(child)],
  tools: [tool('pay', { sideEffectClass: 'irreversible_action' })],
  policies: [{ on: ['pay'], entry: policy('guard', {}) }],
})

async function openTraced() {
  const heard = new Map<string, TraceContext>()
  const bench = await openBench({
    agents: [root, child],
    models: {
      root: listening(
        heard,
        'root',
        inOrder(
          { calls: [{ name: 'child', args: { message: 'go' }, id: 'c1' }] },
          { calls: [{ name: 'pay', args: { n: 1 }, id: 'p1' }] },
          'Done.',
        ),
      ),
      child: listening(heard, 'child', inOrder({ calls: [{ name: 'look', args: {}, id: 'l1' }] }, 'Seen.')),
    },
    tools: { look: () => returns('seen'), pay: () => returns('paid') },
  })
  return { heard, bench }
}

test.each([
  ['given', GIVEN],
  ['none given', undefined],
])('%s: all that leaves is of one trace, each under the span of its own, also after a restart', async (_, trace) => {
  const { heard, bench } = await openTraced()
  const run = await bench.start('root', {}, trace && { trace })
  const task = await bench.waitForTask(run)
  await bench.advance(3 * 24 * 3600_000)
  await bench.restart()
  await bench.engine.answer(run, reply(task))
  await bench.waitForEnd(run)

  const [parent, below] = await bench.store.runsOfSession((await bench.store.run(run))!.sessionId)
  const { traceId, parentSpanId } = traceOfRun(parent!)
  expect([traceId === TRACE, parentSpanId]).toEqual(trace ? [true, '00f067aa0ba902b7'] : [false, undefined])
  expect(traceOfRun(below!)).toEqual({ traceId, flags: 1, parentSpanId: spanOfCall(parent!, 'c1') })

  const told = [...heard, ...bench.invoked.map(({ callId, trace: of }) => [callId, of!] as const)]
  expect(told.map(([name, { traceparent }]) => [name, parseTraceparent(traceparent)?.spanId])).toEqual([
    ['root 1', spanOfTurn(parent!, 1)],
    ['child 1', spanOfTurn(below!, 1)],
    ['child 2', spanOfTurn(below!, 2)],
    ['root 2', spanOfTurn(parent!, 2)],
    ['root 3', spanOfTurn(parent!, 3)],
    ['l1', spanOfCall(below!, 'l1')],
    ['p1', spanOfCall(parent!, 'p1')],
  ])
  expect(told.map(([, { traceparent }]) => parseTraceparent(traceparent)?.traceId)).toEqual(told.map(() => traceId))
  expect(told.map(([, { tracestate }]) => tracestate)).toEqual(told.map(() => trace?.tracestate))
  const spans = [spanOfRun(parent!), spanOfRun(below!), ...told.map(([, of]) => of.traceparent.split('-')[2])]
  expect(new Set(spans).size).toBe(spans.length)
})

test('attempts of a completion are of one span', async () => {
  const spans: string[] = []
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root' })],
    models: {
      root: ({ trace }) => {
        spans.push(trace!.traceparent)
        return spans.length === 1 ? overloaded : 'Done.'
      },
    },
  })
  const run = await bench.start('root', {}, { trace: GIVEN })
  await bench.advance(60_000)
  await bench.waitForEnd(run)
  const { spanId } = parseTraceparent(spans[0]!)!
  expect([spans[1], spanId]).toEqual([spans[0], spanOfTurn((await bench.store.run(run))!, 1)])
})

test('the next run of a session is of the trace of its own start, and the model sees none of it', async () => {
  const asked: string[] = []
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root' })],
    models: {
      root: ({ trace, ...request }) => {
        asked.push(trace!.traceparent.split('-')[1]!)
        expect(JSON.stringify(request)).not.toMatch(new RegExp(`${TRACE}|traceparent|rojo`))
        return 'Done.'
      },
    },
  })
  const run = await bench.start('root', {}, { trace: GIVEN })
  await bench.waitForEnd(run)
  const { sessionId } = (await bench.store.run(run))!
  const next = await bench.start('root', {}, { continued: { sessionId } })
  await bench.waitForEnd(next)
  expect(asked).toEqual([TRACE, traceOfRun((await bench.store.run(next))!).traceId])
})
