/** The tests of what operators and programs do to runs, once more on PostgreSQL. */
import { afterAll, expect, test } from 'vitest'
import { migrateDatabase } from '../../src/store/postgres/migrate-database.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { openServer } from '../../src/server/open.ts'
import { ask, caller, closing, DESK, running, useDatabases } from './running.ts'

const server = startPostgres()
afterAll(() => server?.stop())

let databases = 0
if (server) {
  useDatabases(async () => {
    const url = server.url(`verbs_${++databases}`)
    await migrateDatabase(url)
    return url
  })
  // A file of tests that is imported adds them to this one.
  await import('./steering.test.ts')
  await import('./outside.test.ts')
  await import('./fork.test.ts')
  await import('./run-search.test.ts')
  await import('./moved-version.test.ts')
}

test.skipIf(!server)(
  'a stream ends when another server changes its trigger, and goes on while that is what it was',
  async () => {
    const house = await running()
    const other = await openServer(house.opened)
    closing(() => other.close())
    /** A stream of a new run at the other server, once that has let its reader in. */
    const open = async (trigger: string) => {
      const { secret } = await ask<{ secret: string }>(house.server.operator, 'POST /keys', { agent: DESK, trigger })
      const calls = caller(other.url, secret)
      const { body } = await calls.post<{ runId: string }>(`/v1/agents/${house.agentId}/runs`, {
        input: { order: 'A-1', amount: 180 },
      })
      await calls.until(body.runId, 'engine.session.paused')
      const stream = await fetch(`${other.url}/v1/runs/${body.runId}/stream`, { headers: { 'x-api-key': secret } })
      let ended = false
      const read = stream.text().then(() => (ended = true))
      return { read, hasEnded: () => ended, runId: body.runId }
    }
    const settings = { agent: DESK, type: 'api', name: 'second', ratePerMinute: 60, allowIps: ['127.0.0.0/8'] }
    const { triggerId } = await ask<{ triggerId: string }>(house.server.operator, 'POST /triggers', settings)
    const [kept, changed] = [await open('api'), await open('second')]
    await ask(house.server.operator, `PATCH /triggers/${triggerId}`, { exposeTimeline: false })
    await changed.read
    expect(kept.hasEnded()).toBe(false)
    await house.operator(`POST /runs/${kept.runId}/cancel`, {})
    await kept.read
  },
)
