/** Servers of one database whose own clocks are set while they serve: the database's time decides. */
import { afterAll, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Log } from '../../src/base/log.ts'
import { sealSet } from '../../src/policy/policy-set.ts'
import { openServer } from '../../src/server/open.ts'
import type { OperatorRoutes } from '../../src/operations/operations.ts'
import { migrateDatabase } from '../../src/store/postgres/migrate-database.ts'
import { policy } from '../engine/bench.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { waitUntil } from '../wait-until.ts'
import { ask, caller, closing, DESK, directory, running, scripted, tool } from './running.ts'

const postgres = startPostgres()
afterAll(() => postgres?.stop())

const HOUR = 3_600_000
const gate = policy('gate', { obligations: { timeout: { after_minutes: 30, default: 'allow' } } })
/** Pays unless somebody says no within half an hour. */
const payer = scripted(
  [{ call: { tool: 'refunds', arguments: { amount: 1 } } }, { say: 'Done.' }],
  [tool('acme.refunds', { sideEffectClass: 'idempotent_write' })],
  {
    policies: sealSet({
      v: 1,
      compiler: 'test',
      agent: DESK,
      entries: [gate],
      index: { refunds: [gate.id] },
      inherited: [],
    }),
  },
)

test.skipIf(!postgres)(
  'a server whose clock is an hour ahead takes a no for a no, and leaves its runs to others until the clock is right',
  { timeout: 60_000 },
  async () => {
    const store = postgres!.url('clocks')
    await migrateDatabase(store)
    const house = await running({ snapshot: payer, store })
    let aheadMs = 0
    const told: string[] = []
    const log: Log = { write: (level, message) => void told.push(`${level} ${message}`) }
    const wrong = await openServer({
      ...house.opened,
      dataDirectory: directory(),
      log,
      clock: { now: () => Date.now() + aheadMs, monotonic: () => systemClock.monotonic() },
      internal: { host: '127.0.0.1', port: 0 },
    })
    closing(() => wrong.close())
    const calls = caller(wrong.url, house.secret)
    const ready = async () => {
      const response = await fetch(`${wrong.internalUrl}/v1/readyz`)
      return [response.status, await response.json()]
    }
    expect(await ready()).toEqual([200, { status: 'serving' }])
    const asked = await calls.post<{ runId: string }>(`/v1/agents/${house.agentId}/runs`, { input: {} })
    await calls.until(asked.body.runId, 'engine.session.paused')

    aheadMs = HOUR
    expect(await ready()).toEqual([503, { status: 'clock_off' }])
    const { clockAheadMs } = await ask<OperatorRoutes['GET /status']['answer']>(wrong.operator, 'GET /status')
    expect(clockAheadMs).toBeGreaterThan(HOUR - 1000)
    const isSaid = (what: string) => told.some((line) => line.includes(what))
    await waitUntil(() => isSaid('error the clock differs from that of the database'))

    // Begun at the one that is wrong, and driven by the other.
    const begun = await calls.post<{ runId: string }>(`/v1/agents/${house.agentId}/runs`, { input: {} })
    await house.until(begun.body.runId, 'engine.session.paused')
    const { items } = await ask<OperatorRoutes['GET /tasks']['answer']>(house.server.operator, 'GET /tasks')
    expect(items).toHaveLength(2)
    for (const { expiresAt } of items) expect(Date.parse(expiresAt!) - Date.now()).toBeLessThanOrEqual(HOUR / 2)
    expect(wrong.engine.leasesHeld()).toBe(0)
    for (const { userTaskId, runId } of items) {
      const said = await ask<{ code?: string }>(wrong.operator, `POST /v1/runs/${runId}/messages`, {
        runId,
        userTaskId,
        approved: false,
      })
      expect(said.code).toBeUndefined()
      await house.until(runId, 'engine.session.completed')
      const run = await house.server.store.run(runId as never)
      const [task] = await house.server.store.tasksOfSession(run!.sessionId)
      expect(task!.answer).toMatchObject({ outcome: 'rejected', approved: false })
      expect((await house.server.store.calls({ sessionId: run!.sessionId })).map(({ state }) => state)).toEqual([
        'rejected',
      ])
    }

    aheadMs = 500
    expect(await ready()).toEqual([200, { status: 'serving' }])
    await waitUntil(() => isSaid('info the clock agrees'))
  },
)
