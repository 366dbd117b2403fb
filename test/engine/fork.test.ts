/** Forks and retries under crashes, and what they take over. Source: docs/design/steering.md#fork */
import { expect, test } from 'vitest'
import type { RunId } from '../../src/base/ids.ts'
import { readForkSource } from '../../src/engine/fork.ts'
import type { ForkRequest } from '../../src/engine/interface/engine.ts'
import type { Run } from '../../src/spec/run/run.ts'
import {
  inOrder,
  openBench,
  operator,
  policy,
  replyTo,
  returns,
  snapshotOf,
  startOf,
  tool,
  turns,
  WORKSPACE,
  type Bench,
} from './bench.ts'
import { createCrashingProcess, type Crash } from './crashing-process.ts'

const olga = operator() as ForkRequest['by']

/** A run that looked, and paid after a person had approved it; each call counts where it happens. */
async function paidRun(crashes: readonly Crash[] = []) {
  const world = createCrashingProcess(crashes)
  const happened = new Map<string, number>()
  const root = snapshotOf({
    name: 'root',
    tools: [tool('look'), tool('pay', { sideEffectClass: 'irreversible_action' })],
    policies: [{ on: ['pay'], entry: policy('ask', {}) }],
  })
  const count = (wire: string) => (invocation: { idempotencyKey: string }) =>
    world.send(() => {
      happened.set(
        `${wire} ${invocation.idempotencyKey}`,
        (happened.get(`${wire} ${invocation.idempotencyKey}`) ?? 0) + 1,
      )
      return returns(`${wire} done`)
    })
  const model = inOrder({ calls: [{ name: 'look' }] }, { calls: [{ name: 'pay', args: { amount: 5 } }] }, 'Paid.')
  const bench = await openBench({
    agents: [root],
    models: { root: (request, signal) => world.send(() => model(request, signal)) },
    tools: { look: count('look'), pay: count('pay') },
    store: world.wrap,
  })
  const settle = async (): Promise<void> => {
    for (let round = 0; round < 30; round++) {
      await turns(20)
      if (world.hasCrashed()) {
        world.restart()
        await bench.restart()
        continue
      }
      await bench.advance(64_000)
      for (const run of await openRuns(bench))
        for (const task of await bench.store.tasksOfSession(run.sessionId)) {
          if (task.status !== 'pending' || world.hasCrashed()) continue
          // An operator tells the truth.
          const key = `pay ${task.context?.['idempotency_key'] as string}`
          const option = happened.has(key) ? 'happened' : 'skip'
          const said = task.kind === 'anomaly_review' ? { selectedOptionId: option } : { approved: true }
          const shown = { user_task_id: task.id, arguments: task.arguments ?? null }
          await bench.engine.answer(run.id, replyTo(shown, { by: olga, ...said })).catch(() => {})
        }
    }
  }
  return { bench, world, happened, settle }
}

const openRuns = async (bench: Bench): Promise<readonly Run[]> =>
  (await bench.store.runs({ workspaceId: WORKSPACE }, { skip: 0, take: 50 })).items.filter(
    ({ state }) => state.at !== 'done',
  )

async function repeat(bench: Bench, run: RunId, verb: string): Promise<void> {
  const { sessionId, agentVersionId } = (await bench.store.run(run))!
  if (verb === 'retry') {
    await bench.engine.start(startOf('root', {}, { principal: olga, origin: { kind: 'retry', runId: run, sessionId } }))
    return
  }
  const source = await readForkSource(bench.store, run)
  const at = source.steps.find(({ type }) => type === 'ToolResult')!.ordinal
  const version = (await bench.store.version(agentVersionId))!
  await bench.engine.fork(source, { by: olga, at, edits: [], version, limits: startOf('root').limits })
}

test.each(['fork', 'retry'])(
  'a %s loses and doubles nothing, wherever its process crashes',
  async (verb) => {
    const first = await paidRun()
    await first.bench.start('root')
    await first.settle()
    const before = first.world.steps()
    await repeat(first.bench, (await firstRun(first.bench)).id, verb)
    await first.settle()
    const last = first.world.steps()
    expect(last - before).toBeGreaterThan(5)
    for (let at = before + 1; at <= last; at++) {
      for (const after of [false, true]) {
        const { bench, happened, settle } = await paidRun([{ at, after }])
        await bench.start('root')
        await settle()
        const run = (await firstRun(bench)).id
        // Whoever got no answer asks again.
        await repeat(bench, run, verb).catch(async () => {
          await settle()
          await repeat(bench, run, verb)
        })
        await settle()
        const { items } = await bench.store.runs({ workspaceId: WORKSPACE }, { skip: 0, take: 10 })
        expect(items.length).toBeGreaterThan(1)
        for (const each of items) expect([at, after, each.status]).toEqual([at, after, 'Completed'])
        const pays = [...happened].filter(([key]) => key.startsWith('pay'))
        expect([at, after, pays.filter(([, times]) => times > 1)]).toEqual([at, after, []])
        // Nobody paid for a run that repeats another before a person had approved it for that run.
        for (const each of items) {
          const tasks = await bench.store.tasksOfSession(each.sessionId)
          const paid = pays.some(([key]) => key.includes(each.id))
          expect(!paid || tasks.some(({ kind, answer }) => kind === 'approval' && answer?.approved)).toBe(true)
        }
        await bench.engine.close(0)
      }
    }
  },
  120_000,
)

const firstRun = async (bench: Bench): Promise<Run> =>
  (await bench.store.runs({ workspaceId: WORKSPACE }, { skip: 0, take: 10 })).items.at(-1)!

test('a fork of a run that continues a session is told what came before it', async () => {
  const heard: string[] = []
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', tools: [tool('look')] })],
    models: {
      root: ({ messages, run }) => {
        heard.push(JSON.stringify(messages))
        return run.turn === 1 && messages.length > 1 ? { calls: [{ name: 'look' }] } : 'The sky is blue.'
      },
    },
    tools: { look: () => returns('seen') },
  })
  const before = await bench.start('root', { message: 'What colour is the sky?' })
  await turns()
  const { sessionId } = (await bench.store.run(before))!
  const run = await bench.start('root', { message: 'Are you sure?' }, { continued: { sessionId } })
  await turns()
  heard.length = 0
  await repeat(bench, run, 'fork')
  await turns()
  expect(heard).toHaveLength(1)
  expect(heard[0]).toContain('What colour is the sky?')
  expect(heard[0]).toContain('The sky is blue.')
  expect(heard[0]).toContain('seen')
})
