/** Two servers on one PostgreSQL, of which one ends: how soon the other has what it drove. Source: scale-out, sections 3.5 and 4. */
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bucketUrl } from '../bucket.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { svcJson, type ServerProcess } from './binary.ts'
import { openCourier, type Courier } from './courier.ts'
import { customer, ENDED } from './customer.ts'
import { waitUntil } from '../wait-until.ts'

const postgres = startPostgres()
afterAll(() => postgres?.stop())

const LEASE_MS = 5000
const LOOKED_FOR_MS = 1000
/** Of handing one session over. */
const PER_SESSION_MS = 100
/** What a machine adds on which others work. */
const BUSY_MS = 500

describe.skipIf(!postgres)('when a server ends', () => {
  let count = 0
  let courier: Courier
  let database: Client
  let callMs: () => number
  const servers: ServerProcess[] = []
  beforeEach(async () => {
    callMs = () => 0
    const url = postgres!.url(`handover_${count++}`)
    const env = { SVC_STORE: url, SVC_LEASE_TTL: `${LEASE_MS / 1000}s` }
    await svcJson(['store', 'migrate'], { env })
    database = new Client(url)
    await database.connect()
    courier = await openCourier({
      timeout: '10s',
      callMs: () => callMs(),
      env: { ...env, AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' },
    })
  })
  afterEach(async () => {
    await database.end()
    for (const server of servers.splice(0)) await server.stop('SIGKILL')
    await courier.close()
  })

  const open = async (name: string): Promise<ServerProcess> => {
    const data = join(courier.project.directory, name)
    const server = await courier.serve(undefined, '--data', data, '--storage', await bucketUrl())
    servers.push(server)
    return server
  }
  /** Runs with work, by the epoch of their lease: it grows with each change of holder. */
  const epochs = async (): Promise<readonly number[]> =>
    (await database.query<{ epoch: string }>('select epoch from svc.session where busy')).rows.map(({ epoch }) =>
      Number(epoch),
    )

  /** Ends the runs as people do, and finds every unsafe call made once. */
  async function completedOnce(caller: ReturnType<typeof customer>, runs: readonly string[]): Promise<void> {
    await waitUntil(async () => {
      await courier.review()
      return (await Promise.all(runs.map((runId) => caller.help(runId)))).every(({ status }) => ENDED.has(status))
    })
    for (const runId of runs) expect(await caller.run(runId)).toMatchObject({ status: 'Completed' })
    const times = (tool: string) => courier.arrivals.filter((each) => each.tool === tool).length
    expect(['acme.post', 'acme.pay', 'acme.stamp'].map(times)).toEqual([runs.length, runs.length, runs.length])
  }

  test(
    'by SIGTERM, the other has each run as soon as no call of it is under way',
    { timeout: 240_000, retry: 2 },
    async () => {
      const [a, b] = [await open('a'), await open('b')]
      const RUNS = 20
      const SHORT_MS = 500
      const LONG_MS = 4000
      callMs = () => (courier.arrivals.length === 1 ? LONG_MS : SHORT_MS)
      const atA = customer(a, courier.access)
      const first = await atA.start()
      await waitUntil(() => courier.arrivals.length > 0)
      const runs = [first, ...(await Promise.all(Array.from({ length: RUNS }, () => atA.start())))]
      await waitUntil(() => new Set(courier.arrivals.map(({ runId }) => runId)).size > RUNS)
      expect(await epochs()).toEqual(Array.from({ length: RUNS + 1 }, () => 1))
      const ended = a.stop('SIGTERM')
      const took = await waitUntil(async () => (await epochs()).filter((epoch) => epoch === 1).length <= 1)
      expect(took).toBeLessThan(SHORT_MS + RUNS * PER_SESSION_MS)
      // The long call is waited for, and its outcome stored.
      expect(a.process.exitCode).toBeNull()
      expect(await ended).toBe(0)
      await completedOnce(customer(b, courier.access), runs)
    },
  )

  test(
    'by SIGKILL, the other has its runs within the time of a lease and a second',
    { timeout: 240_000, retry: 2 },
    async () => {
      const [a, b] = [await open('a'), await open('b')]
      callMs = () => 60_000
      const atA = customer(a, courier.access)
      const runs = await Promise.all(Array.from({ length: 5 }, () => atA.start()))
      await waitUntil(() => new Set(courier.arrivals.map(({ runId }) => runId)).size === runs.length)
      await a.stop('SIGKILL')
      callMs = () => 0
      const took = await waitUntil(async () => !(await epochs()).includes(1))
      expect(took).toBeLessThan(LEASE_MS + LOOKED_FOR_MS + BUSY_MS)
      await completedOnce(customer(b, courier.access), runs)
    },
  )
})
