/** What may be under way at once: calls of a completion, of a tool, of the server, and completions of a provider. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RunId, SessionId } from '../../src/base/ids.ts'
import {
  createSlots,
  createCompletionSlots,
  DEFAULT_CONCURRENCY,
  type SlotRequest,
} from '../../src/engine/capacity/slots.ts'
import type { ToolOutcome } from '../../src/tools/tool.ts'
import { boundAgent, inOrder, openBench, operator, returns, snapshotOf, tool, turns, type BenchSpec } from './bench.ts'

const look = tool('look')
const many = (count: number, name = 'look') => ({
  calls: Array.from({ length: count }, (_, n) => ({ name, args: { n } })),
})

/** A tool whose calls end when they are told to, in the order in which they came. */
function held() {
  const waiting: (() => void)[] = []
  let most = 0
  return {
    run: () =>
      new Promise<ToolOutcome>((resolve) => {
        waiting.push(() => resolve(returns('seen')))
        most = Math.max(most, waiting.length)
      }),
    most: () => most,
    waiting: () => waiting.length,
    async end(count = 1) {
      for (const go of waiting.splice(0, count)) go()
      await turns()
    },
    async endAll() {
      while (waiting.length > 0) await this.end(waiting.length)
    },
  }
}

const bounded = (concurrency: NonNullable<BenchSpec['concurrency']>, spec: BenchSpec) =>
  openBench({ ...spec, concurrency })

test('runs 8 calls of one completion at once, and refuses those beyond 32', async () => {
  const tools = held()
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [look] })],
    models: { root: inOrder(many(200), 'Done.') },
    tools: { look: tools.run },
  })
  const run = await bench.start('root')
  await turns()
  expect(tools.waiting()).toBe(8)
  await tools.endAll()
  await bench.waitForEnd(run)
  expect([tools.most(), bench.invoked.length]).toEqual([8, 32])
  const results = (await bench.timeline(run)).filter(({ type }) => type === 'ToolResult').map(({ content }) => content)
  expect(results).toHaveLength(200)
  expect(results.filter(({ is_error }) => is_error === true)).toHaveLength(168)
  expect(results[0]!['result']).toEqual({
    error: 'limit:max_tool_calls',
    message: 'One answer may make 32 calls (svc/max-tool-calls). This call was not made; make it in your next answer.',
    value: 32,
  })
})

test('an agent bounds the calls of one completion itself', async () => {
  const bench = await openBench({
    agents: [{ ...snapshotOf({ name: 'root', tools: [look] }), maxToolCalls: 2 }],
    models: { root: inOrder(many(3), 'Done.') },
    tools: { look: () => returns('seen') },
  })
  await bench.waitForEnd(await bench.start('root'))
  expect(bench.invoked).toHaveLength(2)
})

test('applies the same bound to delegations of one completion', async () => {
  const child = snapshotOf({ name: 'child', tools: [look] })
  const tools = held()
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [boundAgent(child)] }), child],
    models: {
      root: inOrder({ calls: Array.from({ length: 12 }, () => ({ name: 'child', args: { message: 'go' } })) }, 'Done.'),
      child: inOrder(many(1), 'Seen.'),
    },
    tools: { look: tools.run },
  })
  const run = await bench.start('root')
  await turns(300)
  expect(tools.waiting()).toBe(8)
  await tools.endAll()
  await turns(300)
  await tools.endAll()
  await bench.waitForEnd(run)
  expect([tools.most(), bench.invoked.length]).toEqual([8, 12])
})

test('shares the slots of a tool between runs in turn, and starts the timeout of a call when it is sent', async () => {
  const tools = held()
  const bench = await bounded(
    { tool: 2 },
    {
      agents: [snapshotOf({ name: 'root', tools: [look] }), snapshotOf({ name: 'other', tools: [look] })],
      models: { root: inOrder(many(8), 'Done.'), other: inOrder(many(2), 'Done.') },
      tools: { look: tools.run },
    },
  )
  const first = await bench.start('root')
  await turns()
  const second = await bench.start('other')
  await turns()
  expect(tools.waiting()).toBe(2)
  await bench.advance(50_000)
  await tools.end(2)
  // One call of each run, though the first has six in line.
  expect(
    bench.invoked
      .slice(2)
      .map(({ run }) => run.id)
      .sort(),
  ).toEqual([first, second].sort())
  expect(bench.invoked.map(({ notAfter }) => notAfter - bench.clock.now())).toEqual([10_000, 10_000, 60_000, 60_000])
  await tools.endAll()
  for (const run of [first, second]) await bench.waitForEnd(run)
  expect([tools.most(), bench.invoked.length]).toEqual([2, 10])
})

test('frees the slots of a cancelled run for those that wait', async () => {
  const tools = held()
  const bench = await bounded(
    { server: 1 },
    {
      agents: [snapshotOf({ name: 'root', tools: [look] })],
      models: { root: inOrder(many(2), 'Done.') },
      tools: { look: tools.run },
    },
  )
  const [first, second] = [await bench.start('root'), await bench.start('root')]
  await turns()
  expect(bench.invoked.map(({ run }) => run.id)).toEqual([first])
  await bench.engine.cancel(first, operator())
  await turns()
  expect(bench.invoked.map(({ run }) => run.id)).toEqual([first, second])
})

test('an unsafe call that goes on after a cancel keeps its slot until it ends, with or without an answer', async () => {
  const tools = held()
  const post = tool('post', { sideEffectClass: 'non_idempotent_write' })
  const bench = await bounded(
    { tool: 2 },
    {
      agents: [snapshotOf({ name: 'root', tools: [post] })],
      models: { root: inOrder(many(1, 'post'), 'Done.') },
      tools: { post: tools.run },
    },
  )
  for (let at = 0; at < 4; at++) {
    const run = await bench.start('root')
    await turns()
    await bench.engine.cancel(run, operator())
    await turns()
  }
  expect(tools.waiting()).toBe(2)
  const last = await bench.start('root')
  await turns()
  expect(tools.waiting()).toBe(2)
  await tools.end()
  expect(bench.invoked.map(({ run }) => run.id).at(-1)).toBe(last)
  await tools.endAll()
  await bench.waitForEnd(last)
  expect([tools.most(), bench.invoked.length]).toEqual([2, 3])
})

test('sends a call that waited for a slot once after a restart', async () => {
  const tools = held()
  const bench = await bounded(
    { server: 1 },
    {
      agents: [snapshotOf({ name: 'root', tools: [look] })],
      models: { root: inOrder(many(2), 'Done.') },
      tools: { look: tools.run },
    },
  )
  const run = await bench.start('root')
  await turns()
  await bench.restart()
  await turns()
  await tools.endAll()
  await bench.waitForEnd(run)
  const calls = bench.invoked.map(({ callId, attempt }) => `${callId} ${attempt}`)
  expect(calls).toEqual(['c1_0 1', 'c1_0 2', 'c1_1 1'])
})

test('sends completions of one provider up to its bound, in order of arrival', async () => {
  const enter = createCompletionSlots({ ...DEFAULT_CONCURRENCY, provider: 2, providers: { own: 1 } })
  const { signal } = new AbortController()
  const mine = { trigger: 't', caller: 'k', run: 'r' as RunId }
  const gone = new AbortController()
  const order: string[] = []
  const go = async (name: string, given = signal): Promise<() => void> => {
    const leave = await enter('a', mine, given)
    order.push(name)
    return leave
  }
  const [first, second] = [await go('1'), await go('2')]
  const third = go('3')
  const aborted = go('4', gone.signal)
  const fifth = go('5')
  gone.abort(new Error('called off'))
  await expect(aborted).rejects.toThrow('called off')
  expect(order).toEqual(['1', '2'])
  first()
  await third
  second()
  await fifth
  expect(order).toEqual(['1', '2', '3', '5'])
  const own = await enter('own', mine, signal)
  own()
  await enter('own', mine, signal)
})

test('never exceeds a bound, keeps nobody waiting for a free slot, and serves all in the end', () => {
  const bounds = { completion: 8, tool: 3, provider: 1, server: 5 }
  const step = fc.record({ run: fc.nat(4), tool: fc.nat(2), ends: fc.constantFrom('no', 'yes', 'called off') })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const under = new Map<string, SlotRequest>()
      const waiting = new Map<string, SlotRequest>()
      /** Their sessions do not need them any more. */
      const outlasting = new Map<string, SlotRequest>()
      let admitted: SessionId[] = []
      const slots = createSlots(
        bounds,
        (session) => void admitted.push(session),
        () => 0,
      )
      const settle = (session: SessionId): void => {
        slots.keep(session, (key) => under.has(key) || waiting.has(key))
        for (let next = admitted; next.length > 0; next = admitted) {
          admitted = []
          for (const each of waiting.values())
            if (next.includes(each.session) && slots.take(each)) {
              waiting.delete(each.key)
              under.set(each.key, each)
            }
        }
        const all = [...under.values(), ...outlasting.values()]
        const perTool = [0, 1, 2].map((n) => all.filter((each) => each.tool === `t${n}`).length)
        expect(Math.max(...perTool)).toBeLessThanOrEqual(bounds.tool)
        expect(all.length).toBeLessThanOrEqual(bounds.server)
        const idle = [...waiting.values()].filter(
          (each) => all.length < bounds.server && perTool[Number(each.tool.slice(1))]! < bounds.tool,
        )
        expect(idle).toEqual([])
      }
      const finish = (): void => {
        const [oldest] = under.values()
        if (!oldest) return
        under.delete(oldest.key)
        settle(oldest.session)
      }
      const callOff = (): void => {
        const [oldest] = under.values()
        if (!oldest) return
        under.delete(oldest.key)
        outlasting.set(oldest.key, oldest)
        slots.outlast(oldest.key)
        settle(oldest.session)
      }
      const end = (): void => {
        const [oldest] = outlasting.values()
        if (!oldest) return
        outlasting.delete(oldest.key)
        slots.ended(oldest.key)
        settle(oldest.session)
      }
      steps.forEach(({ run, tool: n, ends }, index) => {
        const request: SlotRequest = {
          session: `s${run}` as SessionId,
          run: `r${run}` as RunId,
          trigger: `trigger ${run}`,
          caller: 'k',
          key: String(index),
          tool: `t${n}`,
          route: 'http',
        }
        if (slots.take(request)) under.set(request.key, request)
        else waiting.set(request.key, request)
        settle(request.session)
        if (ends === 'yes') finish()
        if (ends === 'called off') callOff()
        else if (n === 0) end()
      })
      while (under.size + outlasting.size > 0) {
        finish()
        end()
      }
      expect(waiting.size).toBe(0)
    }),
    { numRuns: 300 },
  )
})

test('sends no new calls while results beyond 64 MiB wait to be stored', () => {
  const admitted: string[] = []
  const slots = createSlots(
    DEFAULT_CONCURRENCY,
    (session) => void admitted.push(session),
    () => 0,
  )
  const request = (key: string): SlotRequest => ({
    session: `s${key}` as SessionId,
    run: `r${key}` as RunId,
    trigger: 't',
    caller: 'k',
    key,
    tool: 't',
    route: 'http',
  })
  expect(slots.take(request('1'))).toBe(true)
  slots.arrived('1', 64 * 1024 * 1024)
  expect(slots.take(request('2'))).toBe(false)
  slots.keep('s1' as SessionId, () => false)
  expect(admitted).toEqual(['s2'])
})

test('reads of a tool that answers within 10 ms wait at its door, ten to a slot; other calls wait in line', async () => {
  const admitted: string[] = []
  let ms = 0
  const slots = createSlots(
    { ...DEFAULT_CONCURRENCY, tool: 1, server: 1 },
    (session) => void admitted.push(session),
    () => ms,
  )
  const request = (key: string, isRead = true): SlotRequest => ({
    session: `s${key}` as SessionId,
    run: `r${key}` as RunId,
    trigger: 't',
    caller: 'k',
    key,
    tool: 't',
    route: 'http',
    isRead,
  })
  const end = (key: string): void => {
    slots.arrived(key, 0)
    slots.keep(`s${key}` as SessionId, () => false)
  }
  // Nobody knows how fast the tool answers.
  expect([slots.take(request('0')), slots.take(request('1'))]).toEqual([true, false])
  void slots.enter('0')
  ms = 10
  end('0')
  expect(admitted).toEqual(['s1'])
  const taken = Array.from({ length: 11 }, (_, n) => slots.take(request(`d${n}`)))
  expect(taken).toEqual([...Array.from({ length: 10 }, () => true), false])
  expect(slots.take(request('write', false))).toBe(false)
  const entered: string[] = []
  void slots.enter('d0')?.then((isItsTurn) => entered.push(`d0 ${isItsTurn}`))
  void slots.enter('d1')?.then((isItsTurn) => entered.push(`d1 ${isItsTurn}`))
  await turns()
  expect(entered).toEqual([])
  end('1')
  await turns()
  expect([entered, admitted]).toEqual([['d0 true'], ['s1']])
  // What is called off leaves the door.
  slots.keep('sd1' as SessionId, () => false)
  expect(slots.take(request('d11'))).toBe(true)
  await turns()
  expect(entered).toEqual(['d0 true', 'd1 false'])
})

test('a read that waited at the door of a tool that became slow is recorded anew, with all of its time-out', async () => {
  const tools = held()
  let asked = 0
  const bench = await bounded(
    { tool: 1 },
    {
      agents: [snapshotOf({ name: 'root', tools: [look] })],
      models: { root: inOrder(many(1), many(2), 'Done.') },
      tools: { look: () => (asked++ === 0 ? returns('seen') : tools.run()) },
    },
  )
  const run = await bench.start('root')
  await turns()
  const sent = (await bench.timeline(run)).filter(({ type }) => type === 'ToolCall')
  expect([sent.length, tools.waiting()]).toEqual([3, 1])
  await bench.advance(7_000)
  await tools.endAll()
  await bench.waitForEnd(run)
  expect(bench.invoked.map(({ callId, attempt }) => `${callId} ${attempt}`)).toEqual(['c1_0 1', 'c2_0 1', 'c2_1 2'])
  expect(bench.invoked.at(-1)!.notAfter - bench.clock.now()).toBe(60_000)
})

test('a read at the door when its process ends is made by the next one; one whose run is cancelled is not made', async () => {
  const tools = held()
  let asked = 0
  const bench = await bounded(
    { tool: 1 },
    {
      agents: [snapshotOf({ name: 'root', tools: [look] })],
      models: { root: inOrder(many(1), many(2), 'Done.') },
      tools: { look: () => (asked++ === 0 ? returns('seen') : tools.run()) },
    },
  )
  const made = (): string[] => bench.invoked.map(({ callId, attempt }) => `${callId} ${attempt}`)
  const run = await bench.start('root')
  await turns()
  expect(made()).toEqual(['c1_0 1', 'c2_0 1'])
  await bench.restart()
  await turns()
  // How fast the tool answers is not known to the new process: one call is sent, the other waits in line.
  expect(made()).toEqual(['c1_0 1', 'c2_0 1', 'c2_0 2'])
  await tools.endAll()
  await bench.waitForEnd(run)
  expect(made()).toEqual(['c1_0 1', 'c2_0 1', 'c2_0 2', 'c2_1 2'])

  const other = await bench.start('root')
  await turns()
  await tools.end()
  const before = made().length
  expect((await bench.timeline(other)).filter(({ type }) => type === 'ToolCall')).toHaveLength(3)
  await bench.engine.cancel(other, operator())
  await tools.endAll()
  expect(made()).toHaveLength(before)
  const { sessionId } = (await bench.store.run(other))!
  const states = (await bench.store.calls({ sessionId })).map(({ callId, state }) => `${callId} ${state}`)
  expect(states.toSorted()).toEqual(['c1_0 executed', 'c2_0 executed', 'c2_1 not_sent'])
})
