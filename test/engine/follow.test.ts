import { expect, test, vi } from 'vitest'
import type { RunId } from '../../src/base/ids.ts'
import type { StoredEvent } from '../../src/spec/event.ts'
import type { Engine } from '../../src/engine/interface/engine.ts'
import { redactEvent, wholeTimelineView } from '../../src/server/view/redact.ts'
import { boundAgent, inOrder, oneByOne, openBench, reply, returns, snapshotOf, tool, turns } from './bench.ts'

const paying = () =>
  openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('pay', { sideEffectClass: 'irreversible_action' })] })],
    models: { root: inOrder({ text: 'Let me pay.', calls: [{ name: 'pay' }] }, 'Paid.') },
    tools: { pay: () => returns('ok') },
  })

/** Reads at most `count` stored events, then goes away. */
async function read(engine: Engine, run: RunId, after: number, count = Infinity): Promise<string[]> {
  const seen: string[] = []
  const stop = new AbortController()
  for await (const event of oneByOne(engine.follow(run, after, stop.signal))) {
    if (event === 'live' || !('seq' in event)) continue
    seen.push(`${event.seq} ${event.subject}`)
    if (seen.length >= count) break
  }
  return seen
}

test('a reader that comes back with its cursor sees each event exactly once, across a restart too', async () => {
  const bench = await paying()
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  const whole: string[] = []
  whole.push(...(await read(bench.engine, run, 0, 3)))
  whole.push(...(await read(bench.engine, run, whole.length, 2)))
  await bench.restart()
  const rest = read(bench.engine, run, whole.length)
  await bench.engine.answer(run, reply(task))
  whole.push(...(await rest))
  expect(whole).toEqual(await read(bench.engine, run, 0))
  expect(whole.map((each) => Number.parseInt(each))).toEqual(whole.map((_, index) => index + 1))
  expect(whole.at(-1)).toMatch(/engine\.session\.completed$/)
})

test('marks the end of the replay of an ended run after its last event', async () => {
  const bench = await openBench({ agents: [snapshotOf({ name: 'root' })], models: { root: inOrder('Hello.') } })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  const seen: unknown[] = []
  for await (const event of oneByOne(bench.engine.follow(run, 0, new AbortController().signal)))
    seen.push(event === 'live' ? event : event.subject)
  expect(seen.slice(-2)).toEqual(['engine.session.completed', 'live'])
  expect(seen.filter((each) => each === 'live')).toHaveLength(1)
})

test('marks the end of the replay once, and delivers text before the step that contains it', async () => {
  let speak: (() => void) | undefined
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root' })],
    models: {
      root: () =>
        new Promise((resolve) => {
          speak = () => resolve('Hello.')
        }),
    },
  })
  const run = await bench.start('root')
  const seen: string[] = []
  const reader = (async () => {
    for await (const event of oneByOne(bench.engine.follow(run, 0, new AbortController().signal))) {
      seen.push(
        event === 'live'
          ? 'live'
          : 'seq' in event
            ? `${event.seq} ${event.subject}`
            : `${event.subject} ${JSON.stringify(event.data['text'])}`,
      )
    }
  })()
  await turns()
  speak!()
  await reader
  expect(seen).toEqual([
    '1 engine.session.started',
    '2 engine.run.started',
    '3 engine.step.completed',
    'live',
    'engine.step.delta "Hello."',
    '4 engine.step.completed',
    '5 engine.step.completed',
    '6 engine.run.completed',
    '7 engine.session.completed',
  ])
})

test('sends nothing to a reader that already has all events of an ended run', async () => {
  const bench = await paying()
  const run = await bench.start('root')
  await bench.engine.answer(run, reply(await bench.waitForTask(run)))
  const all = await read(bench.engine, run, 0)
  expect(await read(bench.engine, run, all.length)).toEqual([])
})

test('stops waiting for a reader that disconnects', async () => {
  const bench = await paying()
  const run = await bench.start('root')
  await bench.waitForTask(run)
  const stop = new AbortController()
  const reader = (async () => {
    for await (const event of oneByOne(bench.engine.follow(run, 0, stop.signal))) if (event === 'live') stop.abort()
  })()
  await expect(reader).resolves.toBeUndefined()
})

/** What becomes a frame, with the order of its keys. */
const bytesOf = ({ seq, ts, kind, subject, data }: StoredEvent): string =>
  JSON.stringify([seq, ts, kind, subject, data])

test('sees from memory, after any cursor, what the store has', async () => {
  const child = snapshotOf({ name: 'child', tools: [tool('look')] })
  let goOn = (): void => {}
  let begin = (): void => {}
  const waits = new Promise<void>((resolve) => (begin = resolve))
  const bench = await openBench({
    agents: [
      snapshotOf({ name: 'root', tools: [tool('look'), tool('fail'), tool('wait')], agents: [boundAgent(child)] }),
      child,
    ],
    models: {
      root: inOrder(
        { text: 'Both.', calls: [{ name: 'look' }, { name: 'fail' }] },
        { calls: [{ name: 'child', args: { message: 'go' } }] },
        { calls: [{ name: 'wait' }] },
        'Done.',
      ),
      child: inOrder({ calls: [{ name: 'look' }] }, 'Seen.'),
    },
    tools: {
      look: () => returns({ zero: -0, text: 'x'.repeat(100_000) }),
      fail: () => returns('no', true),
      wait: () =>
        new Promise((resolve) => {
          goOn = () => resolve(returns('ok'))
          begin()
        }),
    },
  })
  const run = await bench.start('root')
  await waits
  const { store } = bench.parts
  const { sessionId } = (await store.run(run))!
  const stored = await store.events(sessionId, 0, 256)
  const asked = vi.spyOn(store, 'events')
  for (const after of [0, 1, 7, stored.length - 1, stored.length]) {
    const stop = new AbortController()
    const seen: string[] = []
    for await (const event of oneByOne(bench.engine.follow(run, after, stop.signal))) {
      if (event === 'live') stop.abort()
      else if ('seq' in event) seen.push(bytesOf(event))
    }
    expect(seen).toEqual(stored.slice(after).map(bytesOf))
  }
  expect(asked).not.toHaveBeenCalled()
  goOn()
  await bench.waitForEnd(run)
})

test('reads a session at work from memory, and nothing for model text alone', async () => {
  let speak: (() => void) | undefined
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root' })],
    models: { root: () => new Promise((resolve) => (speak = () => resolve('Hello.'))) },
  })
  const run = await bench.start('root')
  await turns()
  const asked = vi.spyOn(bench.parts.store, 'events')
  const texts: unknown[] = []
  for await (const together of bench.engine.follow(run, 0, new AbortController().signal)) {
    const text = together.flatMap((each) => (each !== 'live' && !('seq' in each) ? [each.data['text']] : []))
    if (together.includes('live')) speak!()
    if (text.length > 0) texts.push(...text, asked.mock.calls.length)
  }
  expect(texts).toEqual(['Hello.', 0])
})

test('a reader who is live gets the same bytes as one who comes later, without a query', async () => {
  const child = snapshotOf({ name: 'child', tools: [tool('look')] })
  const pay = tool('pay', { sideEffectClass: 'irreversible_action' })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [pay], agents: [boundAgent(child)] }), child],
    models: {
      root: inOrder(
        { calls: [{ name: 'pay' }] },
        { text: 'Let me ask.', calls: [{ name: 'child', args: { message: 'go' } }] },
        'Paid.',
      ),
      child: inOrder({ calls: [{ name: 'look' }] }, 'Seen.'),
    },
    tools: { look: () => returns({ zero: -0, text: 'x'.repeat(100_000) }), pay: () => returns('ok') },
  })
  const run = await bench.start('root')
  // Nothing is stored while the reader begins, so that what follows is all live.
  const task = await bench.waitForTask(run)
  const asked = vi.spyOn(bench.parts.store, 'events')
  const live: string[] = []
  let answered: Promise<unknown> | undefined
  for await (const event of oneByOne(bench.engine.follow(run, 0, new AbortController().signal)))
    if (event === 'live') answered = bench.engine.answer(run, reply(task))
    else if ('seq' in event) live.push(bytesOf(event))
  await answered
  expect(asked).toHaveBeenCalledOnce()
  const { sessionId } = (await bench.parts.store.run(run))!
  const stored = await bench.parts.store.events(sessionId, 0, 1000)
  expect(live).toEqual(stored.map(bytesOf))
  expect(live.length).toBeGreaterThan(30)
})

test('delivers text read late at its place: after the events stored before it, and before its own step', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('look')] })],
    models: { root: inOrder({ text: 'Let me look.', calls: [{ name: 'look' }] }, 'Found.') },
    tools: { look: () => returns('ok') },
  })
  const run = await bench.start('root')
  const seen: string[] = []
  for await (const together of bench.engine.follow(run, 0, new AbortController().signal)) {
    for (const each of together) {
      if (each === 'live') seen.push(each)
      else
        seen.push('seq' in each ? `${each.seq} ${each.subject}` : `${each.kind} ${JSON.stringify(each.data['text'])}`)
    }
    await bench.waitForEnd(run)
  }
  expect(seen).toEqual([
    '1 engine.session.started',
    '2 engine.run.started',
    '3 engine.step.completed',
    'live',
    'step "Let me look."',
    '4 engine.step.completed',
    '5 engine.step.completed',
    '6 engine.step.started',
    '7 engine.step.completed',
    '8 engine.step.completed',
    'step "Found."',
    // For readers of a hidden timeline: known to be the answer, and before the end.
    'run "Found."',
    '9 engine.step.completed',
    '10 engine.step.completed',
    '11 engine.run.completed',
    '12 engine.session.completed',
  ])
})

/** What the readers of a hidden and of a shown timeline get of the text of a run, while it works. */
async function textsOf(about: Parameters<typeof snapshotOf>[0], replies: Parameters<typeof inOrder>) {
  let speak = (): void => {}
  const started = new Promise<void>((resolve) => (speak = resolve))
  const play = inOrder(...replies)
  const bench = await openBench({
    agents: [snapshotOf(about)],
    models: { root: async (request, signal) => (await started, play(request, signal)) },
    tools: { look: () => returns('ok') },
  })
  const run = await bench.start('root')
  const seen: string[][] = [[], []]
  for await (const event of oneByOne(bench.engine.follow(run, 0, new AbortController().signal))) {
    if (event === 'live') {
      speak()
      continue
    }
    const views = [redactEvent(event, run), wholeTimelineView(event)]
    for (const [at, shown] of views.entries())
      if (shown && !('seq' in shown)) seen[at]!.push(`${shown.subject} ${JSON.stringify(shown.data['text'])}`)
      else if (shown?.subject === 'engine.run.completed') seen[at]!.push(shown.subject)
  }
  return { hidden: seen[0], whole: seen[1] }
}

test('text of an agent without tools reaches a reader of a hidden timeline as it arrives', async () => {
  expect(await textsOf({ name: 'root' }, ['Hello.'])).toEqual({
    hidden: ['engine.run.output "Hello."', 'engine.run.completed'],
    whole: ['engine.step.delta "Hello."', 'engine.run.completed'],
  })
})

test('of an agent with tools it reaches that reader once it is the answer: no thought before a call is shown', async () => {
  const thought = { text: 'The secret plan is to look.', calls: [{ name: 'look' }] }
  expect(await textsOf({ name: 'root', tools: [tool('look')] }, [thought, 'Done.'])).toEqual({
    hidden: ['engine.run.output "Done."', 'engine.run.completed'],
    whole: ['engine.step.delta "The secret plan is to look."', 'engine.step.delta "Done."', 'engine.run.completed'],
  })
})

test('what a tool reports is told to those who see the timeline now, is redacted, and stored nowhere', async () => {
  let work: (() => void) | undefined
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('look')] })],
    models: { root: inOrder({ calls: [{ name: 'look' }] }, 'Done.') },
    tools: {
      look: ({ onProgress }) =>
        new Promise((resolve) => {
          work = () => {
            onProgress!({ progress: 1, total: 2, message: 'half' })
            resolve(returns('ok'))
          }
        }),
    },
  })
  const run = await bench.start('root')
  const told: unknown[] = []
  for await (const event of oneByOne(bench.engine.follow(run, 0, new AbortController().signal))) {
    if (event === 'live' || 'seq' in event) {
      await turns()
      work?.()
      work = undefined
    } else if (event.subject === 'engine.step.progress')
      told.push([event.data, wholeTimelineView(event) === event, redactEvent(event, run)])
  }
  const call = expect.any(String) as string
  const data = {
    sessionId: expect.any(String) as string,
    runId: run,
    toolCallId: call,
    progress: 1,
    total: 2,
    message: 'half',
  }
  expect(told).toEqual([[data, true, undefined]])
  expect(JSON.stringify(await read(bench.engine, run, 0))).not.toContain('progress')
})
