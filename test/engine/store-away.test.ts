/** The database is away for a moment: whichever request fails, an accepted run goes on by itself once it is back, and pays once. */
import { expect, test } from 'vitest'
import { fail } from '../../src/base/failure.ts'
import type { Store } from '../../src/store/store.ts'
import { boundAgent, inOrder, openBench, reply, returns, snapshotOf, tool, turns } from './bench.ts'

const MINUTE = 60_000

interface Ended {
  readonly status: string
  readonly paid: number
  /** Requests after the start, refused ones included. */
  readonly asked: number
}

/**
 * A run that asks a sub-agent and pays once a person has approved. The person tries again where an answer is refused.
 * @param from the first request after the start that fails
 * @param count how many fail from there on
 */
async function runWithFaults(from: number, count: number): Promise<Ended> {
  let asked = 0
  let isStarted = false
  const refuse = (): Promise<never> => Promise.reject(fail('store_busy', { database: 'db', why: 'too many clients' }))
  const failing = (store: Store): Store =>
    new Proxy(store, {
      get(target, name: keyof Store) {
        const member: unknown = target[name]
        if (typeof member !== 'function') return member
        return (...given: unknown[]): unknown => {
          const isRefused = isStarted && asked >= from && asked < from + count
          if (isStarted) asked++
          if (isRefused) return refuse()
          if (name === 'start') isStarted = true
          return member.apply(target, given)
        }
      },
    })
  const child = snapshotOf({ name: 'child' })
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        agents: [boundAgent(child)],
        tools: [tool('pay', { sideEffectClass: 'irreversible_action' })],
      }),
      child,
    ],
    models: {
      root: inOrder({ calls: [{ name: 'child', args: { message: 'go' } }] }, { calls: [{ name: 'pay' }] }, 'Paid.'),
      child: inOrder('Low risk.'),
    },
    tools: { pay: () => returns('receipt 7') },
    store: failing,
  })
  const run = await bench.start('root')
  const { sessionId } = (await bench.store.run(run))!
  for (let minute = 0; minute < 12; minute++) {
    await turns()
    const { tasks } = (await bench.store.load(sessionId))!
    for (const { id, status } of tasks)
      if (status === 'pending') await bench.engine.answer(run, reply({ user_task_id: id })).catch(() => undefined)
    await bench.advance(MINUTE)
  }
  return { status: (await bench.store.run(run))!.status, paid: bench.invoked.length, asked }
}

test.each([1, 2, 5])('%i requests that fail, one after the other, at any place', async (count) => {
  const { asked } = await runWithFaults(Infinity, 0)
  expect(asked).toBeGreaterThan(10)
  const wrong: [number, string, number][] = []
  for (let from = 0; from < asked; from++) {
    const { status, paid } = await runWithFaults(from, count)
    if (status !== 'Completed' || paid !== 1) wrong.push([from, status, paid])
  }
  expect(wrong).toEqual([])
})
