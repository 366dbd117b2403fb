/** How the last 24 hours went, as the first screen of a day says it. */
import { expect, test } from 'vitest'
import type { OverviewView } from '../../src/operations/insight.ts'
import { ask, running, scripted, tool } from './running.ts'

const snapshot = scripted(
  [{ say: 'A refund is due.', call: { tool: 'refunds', arguments: { amount: 180 } } }, { say: 'done' }],
  [tool('acme.refunds', { sideEffectClass: 'irreversible_action' })],
)

test('says what waits, what was decided and spent, and how long tools and models took', async () => {
  const { server, start, until, operator } = await running({
    snapshot,
    config: { tools: { 'acme.refunds': { mock: [{ result: { refunded: 180 } }] } }, plan: { runs_per_day: 10 } },
  })
  const runs = [(await start()).body, (await start()).body, (await start()).body]
  for (const { runId } of runs) await until(runId!, 'engine.user_task.created')
  const [done, cancelled, waiting] = runs.map(({ runId }) => runId!)
  const tasks = await operator('GET /tasks')
  const taskOf = (runId: string | undefined) =>
    (tasks as { items: { runId: string; userTaskId: string; argsDigest: string }[] }).items.find(
      (each) => each.runId === runId,
    )!
  const { userTaskId, argsDigest } = taskOf(done)
  await operator(`POST /v1/runs/${done}/messages`, {
    runId: done,
    userTaskId,
    approved: true,
    metadata: { 'svc/arguments_digest': argsDigest },
  })
  await until(done!, 'engine.run.completed')
  await operator(`POST /runs/${cancelled}/cancel`, {})
  const { facts, lists } = await ask<OverviewView>(server.operator, 'GET /overview')
  expect(facts.map(({ name, text }) => [name, text])).toEqual([
    ['Waiting', '1'],
    ['Runs', '3'],
    ['Failed', '0'],
    ['Held', '0'],
    ['Cost today', 'nothing billed'],
    ['Tokens today', '96'],
    ['Runs today', '3 of 10'],
    ['Servers', '1'],
    ['Clock', 'right'],
  ])
  const took = expect.stringMatching(/^\d+m?s$/) as unknown
  expect(lists.map(({ title, rows }) => [title, rows.map((row) => row.flatMap(({ text }) => text ?? []))])).toEqual([
    ['Waiting for people', [['acme.refunds amount 180', waiting!.slice(-6)]]],
    ['Slow tools', [['acme.refunds', took, took, '1', '0']]],
    ['Slow models', [['scripted/script', took, took, '4', '0']]],
    [
      'Decisions',
      [
        ['policies', 'require approval', '3'],
        ['people', 'approved', '1'],
      ],
    ],
  ])
})
