/** Two servers on one PostgreSQL: what one is told or does, the other shows and goes on with. */
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startPostgres } from '../store/postgres-server.ts'
import { cases } from '../cases.ts'
import { svcJson, type RunningServer, type ServerProcess } from './binary.ts'
import { openCourier, type Courier } from './courier.ts'
import { customer, ENDED } from './customer.ts'
import { bucketUrl } from '../bucket.ts'
import { waitUntil } from '../wait-until.ts'

const postgres = startPostgres()
afterAll(() => postgres?.stop())

/** Ticks of the schedule, one a second. */
const TICKS = Math.max(6, cases(20))

describe.skipIf(!postgres)('two servers', () => {
  let count = 0
  let database: string
  let courier: Courier
  let callMs = 0
  const closers: (() => Promise<unknown>)[] = []
  beforeEach(async () => {
    callMs = 0
    database = postgres!.url(`two_${count++}`)
    expect(await svcJson(['store', 'migrate'], { env: { SVC_STORE: database } })).toMatchObject({ from: 0 })
    courier = await openCourier({
      timeout: '10s',
      callMs: () => callMs,
      env: { SVC_STORE: database, AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' },
    })
  })
  afterEach(async () => {
    for (const close of closers.splice(0)) await close()
    await courier.close()
  })

  /** A bucket is named, and no test uses a file. */
  const dataOf = (name: string): string => join(courier.project.directory, name)
  const open = async (name: string): Promise<ServerProcess> => {
    const server = await courier.serve(undefined, '--data', dataOf(name), '--storage', await bucketUrl())
    closers.push(() => server.stop('SIGKILL'))
    return server
  }
  const openHere = async (name: string): Promise<RunningServer> => {
    const server = await courier.serveHere('--data', dataOf(name), '--storage', await bucketUrl())
    closers.push(() => server.stop())
    return server
  }
  const times = (tool: string) => courier.arrivals.filter((each) => each.tool === tool).length

  test(
    'a run that one starts is answered at the other, and streamed by both without a gap',
    // A machine on which others work may add to the delays.
    { timeout: 240_000, retry: 2 },
    async () => {
      const [a, b] = [await openHere('a'), await openHere('b')]
      const [atA, atB] = [customer(a, courier.access), customer(b, courier.access)]
      const runId = await atA.start()
      const read = async (server: RunningServer): Promise<[number, number][]> => {
        const response = await fetch(`${server.url}/v1/runs/${runId}/stream`, {
          headers: { 'X-API-Key': courier.access.secret },
        })
        const seen: [number, number][] = []
        for await (const chunk of response.body!.pipeThrough(new TextDecoderStream()))
          for (const [, id] of chunk.matchAll(/^id: ?(\d+)$/gm)) seen.push([Number(id), performance.now()])
        return seen
      }
      const streams = [read(a), read(b)]
      // Only the other server is asked and told.
      await waitUntil(async () => ENDED.has((await atB.help(runId)).status))
      expect(await atA.run(runId)).toMatchObject({ status: 'Completed', output: 'Delivered to Oslo.' })
      const [ofA, ofB] = await Promise.all(streams)
      const numbers = ofA!.map(([id]) => id)
      expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, at) => at + 1))
      expect(ofB!.map(([id]) => id)).toEqual(numbers)
      // The run goes from one to the other, so now this stream is ahead and now that one.
      const apart = ofB!.map(([, at], index) => Math.abs(at - ofA![index]![1])).sort((x, y) => x - y)
      expect(apart[Math.floor(apart.length / 2)]).toBeLessThan(50)
      expect(['acme.post', 'acme.pay', 'acme.stamp'].map(times)).toEqual([1, 1, 1])
    },
  )

  test('a cancel at one reaches the other, which drives the run', { timeout: 240_000 }, async () => {
    const [a, b] = [await open('a'), await openHere('b')]
    const atA = customer(a, courier.access)
    callMs = 20_000
    const runId = await atA.start()
    await waitUntil(() => times('acme.look') === 1)
    const cancelled = await fetch(`${b.url}/v1/runs/${runId}/cancel`, {
      method: 'POST',
      headers: { 'X-API-Key': courier.access.secret },
    })
    expect(cancelled.status).toBeLessThan(300)
    expect((await atA.run(runId)).status).toBe('Cancelled')
    // What was under way may have been made; nothing follows it.
    await after(500)
    expect(times('acme.pay')).toBe(0)
  })

  test(
    `${TICKS} ticks of a schedule start ${TICKS} runs, while servers come and go`,
    { timeout: 300_000 },
    async () => {
      const [a, b] = [await open('a'), await openHere('b')]
      const others = [await openHere('c'), await openHere('d')]
      const at = { cwd: courier.project.directory }
      const { triggerId } = await svcJson<{ triggerId: string }>(
        ['triggers', 'create', 'acme.courier', '--type', 'schedule', '--cron', '* * * * * *', '--data', dataOf('a')],
        at,
      )
      const atC = customer(others[0]!, courier.access)
      const scheduled = async () => (await atC.sessions()).filter(({ triggerType }) => triggerType === 'scheduled')
      await waitUntil(async () => (await scheduled()).length >= TICKS / 3)
      await b.stop('SIGTERM')
      await waitUntil(async () => (await scheduled()).length >= (TICKS * 2) / 3)
      await a.stop('SIGKILL')
      await waitUntil(async () => (await scheduled()).length >= TICKS)
      await svcJson(['triggers', 'delete', triggerId, '--yes', '--data', dataOf('c')], at)
      // A pass that had begun may start one more.
      await waitUntil(async () => (await scheduled()).length === (await ticksOf(triggerId)).length)
      const ticks = await ticksOf(triggerId)
      expect(ticks.length).toBeGreaterThanOrEqual(TICKS)
      expect(ticks).toEqual(ticks.map((_, index) => ticks[0]! + index * 1000))
      // All of them go on, those of the servers that are gone too.
      await waitUntil(async () => {
        await courier.review()
        return (await scheduled()).every(({ status }) => ENDED.has(status))
      })
    },
  )

  /** Moments of the ticks that a run was started for. */
  async function ticksOf(triggerId: string): Promise<readonly number[]> {
    const client = new Client(database)
    await client.connect()
    try {
      const { rows } = await client.query<{ key: string }>('select key from svc.idempotency where key like $1', [
        `tick ${triggerId} %`,
      ])
      return rows.map(({ key }) => Number(key.split(' ')[2])).sort((x, y) => x - y)
    } finally {
      await client.end()
    }
  }
})
