import { expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { agentIdOf } from '../../src/base/ids.ts'
import { firstMessage } from '../../src/engine/prompt/input.ts'
import { collectTimeline } from './collect-timeline.ts'
import { inOrder, openBench, returns, snapshotOf, startOf, tool, turns, WORKSPACE } from './bench.ts'

const plain = () => openBench({ agents: [snapshotOf({ name: 'root' })], models: { root: inOrder('Hello.') } })
const count = async (bench: Awaited<ReturnType<typeof plain>>) =>
  (await bench.store.sessions({ workspaceId: WORKSPACE }, { skip: 0, take: 1 })).total

test('answers a start with ids and Running once it is durable', async () => {
  const bench = await plain()
  const response = await bench.engine.start(startOf('root'))
  expect(response).toEqual({
    sessionId: expect.any(String) as string,
    runId: expect.any(String) as string,
    status: 'Running',
    totalTokensUsed: 0,
    output: null,
    agentId: agentIdOf('test', 'acme.root'),
    triggerId: null,
    pending: [],
  })
  expect(await count(bench)).toBe(1)
})

test('records in the session how it was started', async () => {
  const bench = await plain()
  const run = await bench.start('root', { message: 'Hi' })
  expect(await bench.store.session((await bench.store.run(run))!.sessionId)).toMatchObject({
    triggerType: 'api',
    triggeredBy: 'k1',
    input: { message: 'Hi' },
    startContext: { userInput: { message: 'Hi' }, version: '1.0.0', llmModel: 'root-model', limits: {} },
  })
})

test('input that does not match the contract is refused and leaves nothing', async () => {
  const inputContract = { type: 'object', required: ['order'], properties: { order: { type: 'number' } } }
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', inputContract })],
    models: { root: inOrder('Hello.') },
  })
  await expect(bench.engine.start(startOf('root', { order: 'seven' }))).rejects.toMatchObject({
    code: 'input_contract_violation',
    extras: { details: [{ path: '/input/order', message: 'must be number' }] },
  })
  expect(await count(bench)).toBe(0)
})

test('a file reference that names no file of the workspace is refused', async () => {
  const bench = await plain()
  const input = { docs: [{ svcFile: true, filename: 'a.pdf' }] }
  await expect(bench.engine.start(startOf('root', input))).rejects.toMatchObject({ code: 'file_not_found' })
})

test('a start without a secret that a tool needs is refused and leaves nothing', async () => {
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root' })],
    models: { root: inOrder('Hello.') },
    unset: { secret: 'orders', env: 'ORDERS_TOKEN' },
  })
  await expect(bench.engine.start(startOf('root'))).rejects.toMatchObject({
    code: 'secret_not_set',
    message: 'The secret "orders" is not set: the environment variable ORDERS_TOKEN is missing or empty.',
  })
  expect(await count(bench)).toBe(0)
})

test('an agent without a deployed version cannot be started', async () => {
  const bench = await plain()
  await expect(bench.engine.start(startOf('nobody'))).rejects.toMatchObject({ code: 'not_found' })
})

test('the same Idempotency-Key starts once, and with another body is refused', async () => {
  const bench = await plain()
  const one = startOf('root', {}, { idempotency: { key: 'k', bodyDigest: 'sha256:1' } })
  const [first, twin] = await Promise.all([bench.engine.start(one), bench.engine.start(one)])
  const later = await bench.engine.start(one)
  expect([first, twin, later].map((each) => each.runId)).toEqual([first.runId, first.runId, first.runId])
  expect([first, twin, later].map((each) => each.duplicateDelivery)).toEqual([undefined, true, true])
  const other = startOf('root', {}, { idempotency: { key: 'k', bodyDigest: 'sha256:2' } })
  await expect(bench.engine.start(other)).rejects.toMatchObject({ code: 'idempotency_key_reused' })
  expect(await count(bench)).toBe(1)
})

test.each([
  [{}, 'Begin.'],
  [{ message: 'Hi' }, 'Hi'],
  [{ question: 'Why?' }, 'Why?'],
  [{ order: 'x' }, '{\n  "order": "x"\n}'],
  [{ message: 'Hi', to: 'you' }, '{\n  "message": "Hi",\n  "to": "you"\n}'],
  [{ message: 7 }, '{\n  "message": 7\n}'],
])('the first user message of %o', (input, message) => {
  expect(firstMessage(input)).toBe(message)
})

test('stores no known secret in a step, event or result, wherever it comes from', async () => {
  const secret = 'sk-very-secret-value'
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('look')] })],
    models: {
      root: inOrder({ text: `I know ${secret}`, calls: [{ name: 'look', args: { q: secret } }] }, `It is ${secret}`),
    },
    tools: { look: () => returns({ header: secret }) },
  })
  bench.parts.redactor.add(new Secret(secret))
  const run = await bench.start('root', { message: `Use ${secret}` })
  await bench.waitForEnd(run)
  const { sessionId } = (await bench.store.run(run))!
  const everything = JSON.stringify([
    await collectTimeline(await bench.engine.conversation(sessionId)),
    await bench.store.events(sessionId, 0, 100),
    await bench.store.load(sessionId),
    await bench.store.calls({ sessionId }),
  ])
  expect(everything).not.toContain(secret)
  expect((await bench.store.run(run))!.output).toBe('It is ***')
})

test('lets effects in flight finish on close, sends no more, and the next process continues', async () => {
  let release: (() => void) | undefined
  const bench = await openBench({
    agents: [
      snapshotOf({ name: 'root', tools: [tool('look'), tool('post', { sideEffectClass: 'non_idempotent_write' })] }),
    ],
    models: { root: inOrder({ calls: [{ name: 'look' }] }, { calls: [{ name: 'post' }] }, 'Done.') },
    tools: {
      look: () =>
        new Promise((resolve) => {
          release = () => resolve(returns('seen'))
        }),
      post: () => returns('posted'),
    },
  })
  const run = await bench.start('root')
  await turns()
  const closed = bench.engine.close(60_000)
  release!()
  await closed
  expect(await bench.store.run(run)).toMatchObject({ state: { at: 'thinking', turn: 2 } })
  await expect(bench.engine.start(startOf('root'))).rejects.toMatchObject({ code: 'shutting_down' })
  await bench.restart()
  await bench.waitForEnd(run)
  expect(bench.invoked.map((each) => each.tool.wire)).toEqual(['look', 'post'])
})
