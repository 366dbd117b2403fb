/** What a client is told of its call by a process that ends meanwhile. Source: docs/design/gate.md#answers */
import { expect, test } from 'vitest'
import { agentIdOf } from '../../src/base/ids.ts'
import type { Engine } from '../../src/engine/interface/engine.ts'
import type { Store } from '../../src/store/store.ts'
import { key, openBench, policy, returns, snapshotOf, startOf, tool, turns, WORKSPACE } from './bench.ts'

const desk = snapshotOf({
  name: 'desk',
  model: { provider: 'external', name: 'client' },
  tools: [tool('pay', { sideEffectClass: 'irreversible_action' })],
  policies: [{ on: ['pay'], entry: policy('pay', {}) }],
})

/** Begins to end its engine with the save that `ends` picks, before anybody learns of that save. */
function endingWith(ends: (update: Parameters<Store['save']>[0]) => boolean) {
  const world: { engine?: Engine; ended?: Promise<void> } = {}
  const store = (inner: Store): Store => ({
    ...inner,
    async save(update, holder) {
      const lease = await inner.save(update, holder)
      if (world.engine && !world.ended && ends(update)) {
        world.ended = world.engine.close(60_000)
        await turns(5)
      }
      return lease
    },
  })
  return { world, store }
}

test('a call that asks a person while its process begins to end is answered with the task', async () => {
  const { world, store } = endingWith(({ tasks }) => tasks.length > 0)
  const bench = await openBench({ agents: [desk], models: {}, tools: { pay: () => returns({ paid: true }) }, store })
  world.engine = bench.engine
  const ending = new AbortController()
  const answered = bench.engine.gate.callTool(
    {
      workspaceId: WORKSPACE,
      agentId: agentIdOf('test', 'acme.desk'),
      principal: key('k1', 'desk'),
      conversation: 'c-1',
      callId: 'p1',
      tool: 'pay',
      arguments: { amount: 5 },
      limits: startOf('desk').limits,
    },
    { signal: ending.signal },
  )
  while (!world.ended) await turns(1)
  ending.abort()
  expect(await answered).toMatchObject({ callId: 'p1', at: 'asking', title: expect.stringContaining('pay') })
  await world.ended
  expect(bench.invoked).toEqual([])
})
