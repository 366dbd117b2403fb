/** A day passes in a moment: what has a time happens at that time, once, whoever the process is that sees to it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RunId } from '../../src/base/ids.ts'
import { inOrder, openBench, overloaded, policy, returns, snapshotOf, T0, tool } from './bench.ts'

const RUNS = Number(process.env['SVC_DAY_RUNS'] ?? 150)
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** Time-outs by the wire name of the tool that they gate. */
const TIMEOUTS = {
  soon: { after_minutes: 5, default: 'deny' },
  later: { after_minutes: 45, default: 'allow' },
  last: { after_minutes: 240, default: 'escalate' },
} as const
const names = Object.keys(TIMEOUTS) as (keyof typeof TIMEOUTS)[]
/** Budget of all waits of a run: what is escalated after four hours waits one more. */
const BUDGET = 300

test(
  `of ${RUNS} runs in a day, no timer is late and none fires twice`,
  async () => {
    const tools = names.map((name) => tool(name, { sideEffectClass: 'idempotent_write' }))
    const policies = names.map((name) => ({
      on: [name],
      entry: policy(name, { obligations: { timeout: TIMEOUTS[name] } }),
    }))
    const bench = await openBench({
      agents: [snapshotOf({ name: 'root', tools, policies, limits: { max_hitl_wait_minutes: BUDGET } })],
      models: {
        root: (request, signal) =>
          request.run.input['stumbles'] === true && request.run.attempt === 1
            ? overloaded
            : inOrder({ calls: [{ name: request.run.input['calls'] as string }] }, 'End.')(request, signal),
      },
      tools: Object.fromEntries(names.map((name) => [name, () => returns('ok')])),
    })
    const [starts] = fc.sample(
      fc.array(
        fc.record({
          at: fc.integer({ min: 0, max: DAY - 1 }),
          calls: fc.constantFrom(...names),
          stumbles: fc.boolean(),
        }),
        { minLength: RUNS, maxLength: RUNS },
      ),
      1,
    )
    const runs: { id: RunId; calls: keyof typeof TIMEOUTS }[] = []
    let restarted = false
    for (const { at, calls, stumbles } of [...starts!].sort((a, b) => a.at - b.at)) {
      await bench.advance(T0 + at - bench.clock.now())
      if (!restarted && at > DAY / 2) {
        restarted = true
        await bench.restart()
      }
      runs.push({ id: await bench.start('root', { calls, stumbles }), calls })
    }
    await bench.advance(2 * BUDGET * MINUTE)

    for (const { id, calls } of runs) {
      const run = (await bench.store.run(id))!
      const steps = await bench.store.stepsOfRun(id)
      const tasks = await bench.store.tasksOfSession(run.sessionId)
      const [task, escalation] = tasks
      expect(task!.completedAt).toBe(task!.createdAt + TIMEOUTS[calls].after_minutes * MINUTE)
      expect([calls, run.status, tasks.map(({ kind, status }) => `${kind} ${status}`)]).toEqual(
        calls === 'last'
          ? [calls, 'Failed', ['approval expired', 'escalation cancelled']]
          : [calls, 'Completed', ['approval expired']],
      )
      // Nobody answers the operator's task either, and the budget of the waits ends the run.
      expect(escalation?.completedAt).toBe(escalation && task!.createdAt + BUDGET * MINUTE)
      expect(steps.filter(({ type }) => type === 'UserTaskRes')).toHaveLength(1)
      const events = await bench.store.events(run.sessionId, 0, 1000)
      expect(events.filter(({ subject }) => subject === 'engine.user_task.expired')).toHaveLength(1)
    }
    const allowed = runs.filter(({ calls }) => calls === 'later')
    expect(bench.invoked).toHaveLength(allowed.length)
    expect(new Set(bench.invoked.map(({ run }) => run.id))).toEqual(new Set(allowed.map(({ id }) => id)))
    expect(await bench.store.nextTimerAt()).toBeUndefined()
  },
  60_000 + RUNS * 50,
)
