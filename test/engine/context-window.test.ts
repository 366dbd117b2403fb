/** What a long run's model is given (`svc/context`). Source: docs/design/steering.md#context */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CompletionRequest, ModelMessage } from '../../src/providers/provider.ts'
import { estimateUsage } from '../../src/providers/tokens.ts'
import type { ContextRule } from '../../src/spec/context-rule.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import { openBench, operator, reply, returns, snapshotOf, tool, turns, type Model, type ModelReply } from './bench.ts'
import { cases } from '../cases.ts'

const isSummary = ({ system }: CompletionRequest): boolean => system.startsWith('Summarise the beginning')
const RULE: ContextRule = { keep: 2, summarise: false, budget: { tokens: 300 } }

interface Play {
  readonly rule?: ContextRule
  /** Characters of each result, in order; the run ends after the last. */
  readonly results: readonly number[]
  readonly about?: Partial<AgentSnapshot>
  readonly summary?: ModelReply
}

/** A run that calls a tool for each result. */
async function play({ rule = RULE, results, about = {}, summary = 'All looked at.' }: Play) {
  const requests: CompletionRequest[] = []
  const model: Model = (request) => {
    requests.push(request)
    if (isSummary(request)) return summary
    const n = request.run.turn
    return n <= results.length ? { calls: [{ name: 'look', id: `c${n}`, args: { n } }] } : 'Done.'
  }
  const root = { ...snapshotOf({ name: 'root', tools: [tool('look')] }), context: rule, ...about }
  const bench = await openBench({
    agents: [root],
    models: { root: model },
    tools: { look: ({ arguments: given }) => returns('r'.repeat(results[(given as { n: number }).n - 1]!)) },
  })
  const run = await bench.start('root', { message: 'Look at everything.' })
  await turns(400)
  return { bench, run, requests, asked: () => requests.filter((each) => !isSummary(each)) }
}

const sizeOf = (request: CompletionRequest): number => estimateUsage(request, '', []).inputTokens
const shapeOf = (message: ModelMessage): string =>
  message.role === 'assistant'
    ? `assistant ${message.calls.map(({ id }) => id).join(',')}${message.text}`
    : message.role === 'tool'
      ? `tool ${message.callId}`
      : `user ${message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')}`

test('leaves the oldest messages out before a call that would not fit, and says so in the prompt and in a step', async () => {
  const { bench, run, asked } = await play({ results: [400, 400, 400, 400] })
  expect(asked().map(({ messages }) => messages.map(shapeOf))).toEqual([
    ['user Look at everything.'],
    ['user Look at everything.', 'assistant c1', 'tool c1'],
    ['user Look at everything.', 'assistant c1', 'tool c1', 'assistant c2', 'tool c2'],
    ['user Look at everything.', 'user [4 earlier messages of this conversation left out.]', 'assistant c3', 'tool c3'],
    [
      'user Look at everything.',
      'user [4 earlier messages of this conversation left out.]',
      'assistant c3',
      'tool c3',
      'assistant c4',
      'tool c4',
    ],
  ])
  for (const request of asked()) expect(sizeOf(request)).toBeLessThanOrEqual(300)
  const limits = (await bench.timeline(run)).filter(({ type }) => type === 'LimitReached')
  expect(limits.map(({ content }) => content)).toMatchObject([
    {
      limit: 'context_window',
      value: 300,
      used: expect.any(Number),
      action: 'leave_out',
      left_out: { messages: 4, through_ordinal: expect.any(Number) },
    },
  ])
  expect((await bench.store.run(run))!.status).toBe('Completed')
})

test('changes nothing without the annotation, and nothing that fits', async () => {
  const without = await play({ results: [400, 400, 400, 400], about: { context: undefined as never } })
  expect(without.asked().at(-1)!.messages).toHaveLength(9)
  const fits = await play({ results: [40, 40] })
  expect(fits.asked().at(-1)!.messages).toHaveLength(5)
  for (const { bench, run } of [without, fits])
    expect((await bench.timeline(run)).filter(({ type }) => type === 'LimitReached')).toEqual([])
})

test('takes a share of the context window of the model', async () => {
  const rule: ContextRule = { ...RULE, budget: { percent: 50 } }
  const { asked } = await play({ rule, results: [400, 400, 400, 400] })
  // 128,000 tokens where nobody has stated a window.
  expect(asked().at(-1)!.messages).toHaveLength(9)
})

test('has the model summarise what is left out, counts that completion, and streams none of it', async () => {
  const { bench, run, requests } = await play({ rule: { ...RULE, summarise: true }, results: [400, 400, 400, 400] })
  const summaries = requests.filter(isSummary)
  expect(summaries).toHaveLength(1)
  expect(summaries[0]).toMatchObject({ tools: [] })
  const [material] = summaries[0]!.messages.map(shapeOf)
  expect(material).toBe(
    `user User: Look at everything.\n\nAssistant calls look: {"n":1}\n\nResult of look: ${'r'.repeat(400)}\n\nAssistant calls look: {"n":2}\n\nResult of look: ${'r'.repeat(400)}`,
  )
  const [, note] = requests.at(-1)!.messages.map(shapeOf)
  expect(note).toBe('user [Summary of 4 earlier messages of this conversation:]\n\nAll looked at.')
  const steps = await bench.timeline(run)
  expect(steps.find(({ type }) => type === 'LimitReached')!.content).toMatchObject({
    limit: 'context_window',
    action: 'summarise',
    summary: 'All looked at.',
    left_out: { messages: 4 },
    model: 'root-model',
    usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
  })
  expect(steps.filter(({ type }) => type === 'Reasoning')).toHaveLength(5)
  const { usage, status } = (await bench.store.run(run))!
  const counted = [
    ...steps.filter(({ type }) => type === 'Reasoning'),
    steps.find(({ type }) => type === 'LimitReached')!,
  ]
  expect(usage.inputTokens).toBe(
    counted.reduce((sum, { content }) => sum + (content['usage'] as { input_tokens: number }).input_tokens, 0),
  )
  expect(status).toBe('Completed')
  const { sessionId } = (await bench.store.run(run))!
  const events = await bench.store.events(sessionId, 0, 1000)
  expect(JSON.stringify(events.filter(({ subject }) => subject.includes('delta')))).not.toContain('All looked at')
})

test('a summary that is cut counts as none', async () => {
  const { requests } = await play({
    rule: { ...RULE, summarise: true },
    results: [400, 400, 400, 400],
    summary: { text: 'All loo', finish: 'length' },
  })
  expect(requests.at(-1)!.messages.map(shapeOf)[1]).toBe('user [4 earlier messages of this conversation left out.]')
})

test('a summary that is under way when its process ends is asked for again', async () => {
  let asked = 0
  const model: Model = (request) => {
    if (isSummary(request)) return asked++ === 0 ? { text: '', after: 'silence' } : 'All looked at.'
    const n = request.run.turn
    return n <= 4 ? { calls: [{ name: 'look', id: `c${n}`, args: { n } }] } : 'Done.'
  }
  const bench = await openBench({
    agents: [{ ...snapshotOf({ name: 'root', tools: [tool('look')] }), context: { ...RULE, summarise: true } }],
    models: { root: model },
    tools: { look: () => returns('r'.repeat(400)) },
  })
  const run = await bench.start('root')
  await turns(300)
  await bench.restart()
  await bench.waitForEnd(run)
  const limits = (await bench.timeline(run)).filter(({ type }) => type === 'LimitReached')
  expect(limits.map(({ content }) => content['action'])).toEqual(['summarise'])
  expect(bench.invoked).toHaveLength(4)
})

test.each([
  [true, 'Completed', ['escalate', 'leave_out']],
  [false, 'Failed', ['escalate']],
] as const)('asks an operator instead where the limits escalate; approved: %s', async (approved, status, actions) => {
  const { bench, run } = await play({ results: [400, 400, 400, 400], about: { limits: { on_limit: 'escalate' } } })
  const task = await bench.waitForTask(run)
  expect(task).toMatchObject({ kind: 'escalation', title: 'acme.root has reached context_window' })
  expect(task['prompt']).toMatch(
    /^The limit context_window of 300 is reached: \d+ used\. Approve to leave out the oldest messages, reject to end the run\.$/,
  )
  await bench.engine.answer(run, reply(task, { by: operator(), approved }))
  await bench.waitForEnd(run)
  expect((await bench.store.run(run))!.status).toBe(status)
  const limits = (await bench.timeline(run)).filter(({ type }) => type === 'LimitReached')
  expect(limits.map(({ content }) => content['action'])).toEqual(actions)
})

test('what stays is always the first message and an unbroken end that begins with a completion', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 1500 }), { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 100, max: 900 }),
      fc.boolean(),
      async (results, keep, tokens, summarise) => {
        const { asked, bench, run } = await play({ rule: { keep, summarise, budget: { tokens } }, results })
        expect((await bench.store.run(run))!.status).toBe('Completed')
        // Every call and its result, as a run without the rule would be given them.
        const whole = [
          'user Look at everything.',
          ...results.flatMap((_, at) => [`assistant c${at + 1}`, `tool c${at + 1}`]),
        ]
        for (const [turn, { messages }] of asked().entries()) {
          const full = whole.slice(0, 1 + 2 * turn)
          const shapes = messages.map(shapeOf)
          expect(shapes[0]).toBe(full[0])
          const isShortened = shapes[1]?.startsWith('user [') === true
          const tail = shapes.slice(isShortened ? 2 : 1)
          expect(tail).toEqual(full.slice(full.length - tail.length))
          expect(isShortened || tail.length === full.length - 1).toBe(true)
          if (!isShortened) continue
          expect(tail.length).toBeGreaterThanOrEqual(keep)
          expect(tail[0]).toMatch(/^assistant /)
          expect(shapes[1]).toMatch(new RegExp(`\\b${full.length - 1 - tail.length} earlier messages? `))
        }
      },
    ),
    { numRuns: cases(40) },
  )
})
