/** Looking whether a call of unknown outcome happened: told, shown, and decided by nobody but a person. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import { versionIdOf, type TaskId } from '../../src/base/ids.ts'
import type { BoundTool } from '../../src/spec/snapshot.ts'
import type { ToolOutcome } from '../../src/tools/tool.ts'
import { inOrder, openBench, operator, publish, reply, returns, snapshotOf, T0, tool, type Bench } from './bench.ts'

const FIND_INPUT = {
  type: 'object',
  properties: { order: { type: 'string' }, idempotency_key: { type: 'string' } },
  required: ['order'],
  additionalProperties: false,
}
const find = tool('find', { inputSchema: FIND_INPUT, inputSchemas: [FIND_INPUT] })
const post = tool('post', { sideEffectClass: 'non_idempotent_write', labels: { 'svc/probe': 'acme.find' } })
const unknown: ToolOutcome = { at: 'unknown', code: 'timeout', error: 'No answer came in time.' }

interface Asked {
  readonly bench: Bench
  readonly run: Awaited<ReturnType<Bench['start']>>
  readonly task: JsonObject
  readonly taskId: TaskId
}

/** A run whose `post` has timed out, before a person. */
async function asked(
  tools: readonly BoundTool[] = [post, find],
  args: JsonObject = { order: 'A-1', amount: 5 },
  found: () => ToolOutcome = () => returns({ posted: 'A-1' }),
): Promise<Asked> {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools })],
    models: {
      root: ({ run }) => (run.turn === 1 ? { calls: [{ name: 'post', args }] } : JSON.stringify(run.results)),
    },
    tools: { post: () => unknown, find: () => found() },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  return { bench, run, task, taskId: task['user_task_id'] as TaskId }
}

const look = ({ bench, taskId }: Asked) => bench.engine.probe(taskId, operator(), new AbortController().signal)

test('offers the probe of a tool, with its arguments, for a call of unknown outcome', async () => {
  const { task, run } = await asked()
  expect((task['context'] as JsonObject)['probe']).toEqual({
    name: 'find',
    ref: 'acme.find',
    arguments: { order: 'A-1', idempotency_key: `svc:${run}:1:0` },
  })
})

test('records a probe in the timeline and in the task, and leaves the outcome unknown', async () => {
  const found = await asked()
  const { bench, run, taskId } = found
  const key = `svc:${run}:1:0`
  const asking = { order: 'A-1', idempotency_key: key }
  expect(await look(found)).toEqual({
    name: 'find',
    arguments: asking,
    result: { posted: 'A-1' },
    isError: false,
    durationMs: 5,
  })
  expect(bench.invoked.at(-1)).toMatchObject({ arguments: asking, idempotencyKey: `${key}:probe` })
  const looked = (await bench.timeline(run)).filter(({ content }) => content['probe_of'] !== undefined)
  expect(looked).toMatchObject([
    { type: 'ToolCall', content: { name: 'find', ref: 'acme.find', arguments: asking, asked_by: 'operator:olga' } },
    { type: 'ToolResult', content: { name: 'find', result: { posted: 'A-1' }, is_error: false } },
  ])
  expect((await bench.store.task(taskId))!.context!['probe']).toEqual({
    name: 'find',
    ref: 'acme.find',
    arguments: asking,
    found: { result: { posted: 'A-1' }, is_error: false, at: new Date(T0).toISOString(), by: 'operator:olga' },
  })
  expect((await bench.store.run(run))!.status).toBe('WaitingForHITL')
})

test("uses the probe's result for a call that happened where the person gives none", async () => {
  const found = await asked()
  const { bench, run, task } = found
  await look(found)
  await bench.engine.answer(run, reply(task, { by: operator(), selectedOptionId: 'happened' }))
  await bench.waitForEnd(run)
  expect(JSON.parse((await bench.store.run(run))!.output as string)).toEqual([
    { name: 'post', callId: 'c1_0', result: { posted: 'A-1' }, isError: false },
  ])
})

test.each<[string, () => ToolOutcome]>([
  ['failed', () => returns({ error: 'down' }, true)],
  ['did not answer', () => unknown],
])('a probe that %s finds nothing, and can be repeated', async (_, outcome) => {
  const outcomes = [outcome(), returns({ posted: 'A-1' })]
  const found = await asked(undefined, undefined, () => outcomes.shift()!)
  expect((await look(found)).isError).toBe(true)
  expect((await look(found)).result).toEqual({ posted: 'A-1' })
})

test.each<[string, readonly BoundTool[]]>([
  ['is not bound', [post]],
  ['may change something', [post, { ...find, sideEffectClass: 'idempotent_write' }]],
])('a probe that %s is not offered and not called', async (_, tools) => {
  const found = await asked(tools)
  expect(found.task['context']).not.toHaveProperty('probe')
  await expect(look(found)).rejects.toThrow('post has no tool to look with.')
})

test('a probe that may change something in the version to which the run was moved is not called', async () => {
  const found = await asked()
  const { bench, run } = found
  const made = snapshotOf({ name: 'root', tools: [post, { ...find, sideEffectClass: 'non_idempotent_write' }] })
  const next = { ...made, version: '1.0.1' }
  await publish(bench.store, [next])
  const version = (await bench.store.version(versionIdOf('test', next.id, next.digest)))!
  await bench.engine.migrate(run, { by: operator(), version, reason: 'a new version' })
  await expect(look(found)).rejects.toThrow('post has no tool to look with.')
  expect(bench.invoked.map((each) => each.tool.wire)).toEqual(['post'])
})

test('does not call a probe that the arguments do not fit', async () => {
  const found = await asked(undefined, { amount: 5 })
  await expect(look(found)).rejects.toThrow('What post was called with does not fit find: /order is required.')
  expect(found.bench.invoked.map((each) => each.tool.wire)).toEqual(['post'])
})

test('does not probe for a task that is decided', async () => {
  const found = await asked()
  await found.bench.engine.answer(found.run, reply(found.task, { by: operator(), selectedOptionId: 'skip' }))
  await expect(look(found)).rejects.toThrow('No such review that waits.')
})

test('does not let a probe affect an approval of another task', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('pay', { sideEffectClass: 'irreversible_action' }), find] })],
    models: { root: inOrder({ calls: [{ name: 'pay' }] }, 'Done.') },
    tools: { find: () => returns('found') },
  })
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  const taskId = task['user_task_id'] as TaskId
  await expect(bench.engine.probe(taskId, operator(), new AbortController().signal)).rejects.toThrow(
    'No such review that waits.',
  )
})
