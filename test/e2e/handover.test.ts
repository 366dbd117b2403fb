/**
 * Two servers on one PostgreSQL, of which one ends: how soon the other has what it drove.
 * Source: docs/design/several-processes.md#life-of-a-process
 */
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
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
/** How many looks of this test a handover may need more than it should: each is a timer and a statement, as a claim is. */
const LOOKS_MORE = 20

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
      timeout: '20s',
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

  /** @returns how long it took, less what a machine on which others work may have added: that shows in the slowest look */
  async function timeUntil(isSo: () => Promise<boolean>): Promise<number> {
    const from = performance.now()
    let slowestMs = 0
    for (let lookedAt = from; !(await isSo()); lookedAt = performance.now()) {
      await after(5)
      slowestMs = Math.max(slowestMs, performance.now() - lookedAt)
    }
    return performance.now() - from - LOOKS_MORE * slowestMs
  }

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
      // On a busy machine the calls of some runs are given up before they leave.
      await waitUntil(() => courier.arrivals.length > RUNS)
      expect(new Set(await epochs())).toEqual(new Set([1]))
      const ended = a.stop('SIGTERM')
      const took = await timeUntil(async () => (await epochs()).filter((epoch) => epoch === 1).length <= 1)
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
      await waitUntil(() => courier.arrivals.length >= runs.length)
      expect(new Set(await epochs())).toEqual(new Set([1]))
      await a.stop('SIGKILL')
      callMs = () => 0
      const took = await timeUntil(async () => !(await epochs()).includes(1))
      expect(took).toBeLessThan(LEASE_MS + LOOKED_FOR_MS)
      await completedOnce(customer(b, courier.access), runs)
    },
  )
})
