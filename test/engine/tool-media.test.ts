/** Images that tools answer: kept beside the result, sent again by whoever continues, and never text. */
import { expect, test } from 'vitest'
import { readForkSource } from '../../src/engine/fork.ts'
import type { ForkRequest } from '../../src/engine/interface/engine.ts'
import type { CompletionRequest, ModelMessage } from '../../src/providers/provider.ts'
import type { ToolMedia } from '../../src/spec/tool-media.ts'
import type { ToolOutcome } from '../../src/tools/tool.ts'
import { openBench, operator, policy, replyTo, returns, snapshotOf, startOf, tool, turns, type Bench } from './bench.ts'

const PNG: ToolMedia = { kind: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' }
const shows = (...media: ToolMedia[]): ToolOutcome =>
  ({ ...returns('[image: image/png, 8 bytes]'), media }) as ToolOutcome
const answer: ModelMessage = {
  role: 'tool',
  callId: expect.any(String) as string,
  name: 'shot',
  content: '[image: image/png, 8 bytes]',
  media: [PNG],
  isError: false,
}

/** An agent that looks, then pays once a person approves. */
async function openLooking(): Promise<{ bench: Bench; asked: CompletionRequest[] }> {
  const asked: CompletionRequest[] = []
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools: [tool('shot'), tool('pay', { sideEffectClass: 'irreversible_action' })],
        policies: [{ on: ['pay'], entry: policy('ask', {}) }],
      }),
    ],
    models: {
      root: (request) => {
        asked.push(request)
        return request.run.turn === 1
          ? { calls: [{ name: 'shot' }] }
          : request.run.turn === 2
            ? { calls: [{ name: 'pay' }] }
            : 'done'
      },
    },
    tools: { shot: () => shows(PNG), pay: () => returns('paid') },
  })
  return { bench, asked }
}

const toolMessages = (request: CompletionRequest): ModelMessage[] =>
  request.messages.filter(({ role, ...rest }) => role === 'tool' && 'name' in rest && rest.name === 'shot')

test('each later request has the image, after a restart and in a fork, too', async () => {
  const { bench, asked } = await openLooking()
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  await bench.restart()
  await bench.engine.answer(run, replyTo(task))
  await bench.waitForEnd(run)
  expect(asked.map(toolMessages)).toEqual([[], [answer], [answer]])

  const source = await readForkSource(bench.store, run)
  const at = source.steps.find(({ type }) => type === 'ToolResult')!.ordinal
  const by = operator() as ForkRequest['by']
  const version = (await bench.store.version((await bench.store.run(run))!.agentVersionId))!
  await bench.engine.fork(source, { by, at, edits: [], version, limits: startOf('root').limits })
  await turns()
  expect(toolMessages(asked.at(-1)!)).toEqual([answer])
})

test('timeline and events name the image and have none of its bytes', async () => {
  const { bench } = await openLooking()
  const run = await bench.start('root')
  await bench.waitForTask(run)
  const timeline = await bench.timeline(run)
  expect(timeline.find(({ type }) => type === 'ToolResult')!.content).toMatchObject({
    result: '[image: image/png, 8 bytes]',
  })
  const { sessionId } = (await bench.store.run(run))!
  const events = await bench.store.events(sessionId, 0, 1000)
  expect(JSON.stringify([timeline, events])).not.toContain('iVBOR')
})

test('a run keeps images as long as it has room', async () => {
  const asked: CompletionRequest[] = []
  const big = { ...PNG, data: 'A'.repeat(20 * 1024 * 1024) }
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('shot')] })],
    models: {
      root: (request) => {
        asked.push(request)
        return request.run.turn < 4 ? { calls: [{ name: 'shot' }] } : 'done'
      },
    },
    tools: { shot: ({ idempotencyKey }) => shows(/:[12]:\d+$/.test(idempotencyKey) ? big : PNG) },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  const note = '[image: image/png, 8 bytes]'
  expect(
    toolMessages(asked.at(-1)!).map(
      (message) => message.role === 'tool' && [message.content, message.media?.length ?? 0],
    ),
  ).toEqual([
    [note, 1],
    [`${note}\n[1 file of this result is not shown, because a run keeps 32 MiB of them]`, 0],
    [note, 1],
  ])
})
