import { expect, test } from 'vitest'
import { inOrder, openBench, operator, reply, snapshotOf, type AgentSpec, type Model } from './bench.ts'

const schema = { type: 'object', required: ['amount'], properties: { amount: { type: 'number' } } }
const json = (about: Partial<NonNullable<AgentSpec['output']>>, model: Model) =>
  openBench({
    agents: [snapshotOf({ name: 'root', output: { format: 'json', schema, ...about } })],
    models: { root: model },
  })

test('parses and checks JSON', async () => {
  const bench = await json({}, inOrder('{"amount": 3}'))
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect((await bench.store.run(run))!.output).toEqual({ amount: 3 })
})

test('refuses an output that is nested too deep to be stored', async () => {
  const bench = await json({ schema: {}, on_invalid: 'fail' }, inOrder(`${'['.repeat(1500)}${']'.repeat(1500)}`))
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({
    errorCode: 'output_invalid',
    error: 'The output is not valid: the output is not JSON: nested deeper than 256 levels.',
  })
})

test('returns an invalid output to the model at most twice', async () => {
  const heard: string[] = []
  const bench = await json({ on_invalid: 'retry' }, ({ messages }) => {
    const last = messages.at(-1)!
    if (last.role === 'user' && last.parts[0]?.type === 'text') heard.push(last.parts[0].text)
    return '{"amount": "three"}'
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(heard).toHaveLength(3)
  expect(heard[1]).toBe(
    'Your answer is not valid: [{"path":"/amount","message":"must be number"}]. Answer again, with the whole JSON value and nothing else.',
  )
  expect(await bench.store.run(run)).toMatchObject({
    status: 'Failed',
    errorCode: 'output_invalid',
    error: 'The output is not valid: /amount must be number.',
  })
})

test('repairs an output with one completion that does nothing else', async () => {
  const bench = await json({ on_invalid: 'repair' }, ({ run, messages, tools }) => {
    if (run.turn === 1) return '{"amount": "3"}'
    expect(tools).toEqual([])
    expect(messages).toHaveLength(1)
    expect(run.earlier?.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    return '{"amount": 3}'
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect((await bench.store.run(run))!.output).toEqual({ amount: 3 })
})

test('accepts an output from an operator only if it is valid', async () => {
  const bench = await json({ on_invalid: 'escalate' }, inOrder('three'))
  const run = await bench.start('root')
  const task = await bench.waitForTask(run)
  expect(task).toMatchObject({ kind: 'escalation', context: { output: 'three' } })
  const by = operator()
  expect(await bench.engine.answer(run, reply(task, { by, approved: true, textValue: '{}' }))).toMatchObject({
    code: 'invalid_value',
  })
  await bench.engine.answer(run, reply(task, { by, approved: true, textValue: '{"amount": 3}' }))
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Completed', output: { amount: 3 } })
})

test('fails the run when an operator rejects the output', async () => {
  const bench = await json({ on_invalid: 'escalate' }, inOrder('three'))
  const run = await bench.start('root')
  await bench.engine.answer(run, reply(await bench.waitForTask(run), { by: operator(), approved: false }))
  await bench.waitForEnd(run)
  expect(await bench.store.run(run)).toMatchObject({ status: 'Failed', errorCode: 'output_invalid' })
})

test('fails the run at once when on_invalid is fail', async () => {
  const bench = await json({ on_invalid: 'fail' }, inOrder('three'))
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect((await bench.timeline(run)).find((item) => item.type === 'OutputValidation')!.content).toMatchObject({
    valid: false,
    action: 'fail',
  })
})
