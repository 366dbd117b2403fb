import { expect, test } from 'vitest'
import { createReplay, type RecordedExchange } from '../../src/spec/project/cassette.ts'
import type { BoundTool, AgentSnapshot } from '../../src/spec/snapshot.ts'
import { withToolCassette } from '../../src/tools/routes/cassette.ts'
import type { ToolInvocation, ToolOutcome, Toolbox } from '../../src/tools/tool.ts'

const tool = { id: 'acme.pay', version: '1.0.0' } as BoundTool
const agent = { id: 'acme.a' } as AgentSnapshot
const signal = new AbortController().signal
const call = (args: ToolInvocation['arguments']): ToolInvocation => ({
  tool,
  arguments: args,
  idempotencyKey: 'svc:r:1:0',
  callId: 'c1',
  attempt: 1,
  notAfter: 0,
  run: { id: 'r', sessionId: 's', agent: 'acme.a', version: '1.0.0' },
})
const paid: ToolOutcome = { at: 'returned', result: { paid: 5 }, isError: false, durationMs: 12 }

const real = (invoked: unknown[]): Toolbox => ({
  route: () => ({
    route: 'command',
    timeoutMs: 1000,
    invoke: (invocation) => {
      invoked.push(invocation.arguments)
      return Promise.resolve(paid)
    },
  }),
  findUnsetSecret: () => undefined,
  describe: () => Promise.resolve({ description: 'Pays.', schema: { type: 'object' } }),
  close: () => Promise.resolve(),
})

test('a recorded tool is played without being called, and its schema is the one that was recorded', async () => {
  const invoked: unknown[] = []
  const tape: RecordedExchange[] = []
  const recording = withToolCassette(real(invoked), { record: (exchange) => void tape.push(exchange) })
  expect(await recording.route(agent, tool)!.invoke(call({ amount: 5 }), signal)).toEqual(paid)
  await recording.describe(agent, tool, signal)
  expect(invoked).toEqual([{ amount: 5 }])

  const replay = createReplay(tape)
  const playing = withToolCassette({ ...real(invoked), describe: () => Promise.resolve(undefined) }, { replay })
  expect(await playing.route(agent, tool)!.invoke(call({ amount: 5 }), signal)).toEqual(paid)
  expect(await playing.describe(agent, tool, signal)).toEqual({ description: 'Pays.', schema: { type: 'object' } })
  expect(invoked).toEqual([{ amount: 5 }])
})

test('a call that was not recorded is not made, and says what differs', async () => {
  const invoked: unknown[] = []
  const tape: RecordedExchange[] = []
  const recording = withToolCassette(real(invoked), { record: (exchange) => void tape.push(exchange) })
  await recording.route(agent, tool)!.invoke(call({ amount: 5 }), signal)
  const playing = withToolCassette(real(invoked), { replay: createReplay(tape) })
  expect(await playing.route(agent, tool)!.invoke(call({ amount: 6 }), signal)).toEqual({
    at: 'not_sent',
    code: 'refused',
    error: [
      'The recording has no answer to this call. The nearest recorded request differs:',
      '-     "amount": 5',
      '+     "amount": 6',
    ].join('\n'),
  })
  expect(invoked).toHaveLength(1)
})
