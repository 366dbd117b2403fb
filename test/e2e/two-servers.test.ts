/** Two servers on one PostgreSQL: what one is told or does, the other shows and goes on with. */
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startPostgres } from '../store/postgres-server.ts'
import { svcJson, type ServerProcess } from './binary.ts'
import { openCourier, type Courier } from './courier.ts'
import { customer, ENDED } from './customer.ts'
import { bucketUrl } from '../bucket.ts'

const postgres = startPostgres()
afterAll(() => postgres?.stop())

/** A lease lasts 15 s, and is looked for every second. */
const TAKEN_OVER_MS = 16_000

describe.skipIf(!postgres)('two servers', () => {
  let count = 0
  let courier: Courier
  let callMs = 0
  const servers: ServerProcess[] = []
  beforeEach(async () => {
    callMs = 0
    const url = postgres!.url(`two_${count++}`)
    expect(await svcJson(['store', 'migrate'], { env: { SVC_STORE: url } })).toMatchObject({ from: 0 })
    courier = await openCourier({
      timeout: '10s',
      callMs: () => callMs,
      env: { SVC_STORE: url, AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' },
    })
  })
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop('SIGKILL')
    await courier.close()
  })

  /** A bucket is named, and no test uses a file. */
  const open = async (name: string): Promise<ServerProcess> => {
    const data = join(courier.project.directory, name)
    const server = await courier.serve(undefined, '--data', data, '--storage', await bucketUrl())
    servers.push(server)
    return server
  }
  const both = async () => {
    const [a, b] = [await open('a'), await open('b')]
    return { a, b, atA: customer(a, courier.access), atB: customer(b, courier.access) }
  }
  const times = (tool: string) => courier.arrivals.filter((each) => each.tool === tool).length
  const until = async (isSo: () => Promise<boolean> | boolean, within = 20_000): Promise<number> => {
    const from = performance.now()
    while (!(await isSo())) {
      if (performance.now() - from > within) throw new Error('It did not become so.')
      await after(5)
    }
    return performance.now() - from
  }

  test(
    'a run that one starts is answered at the other, and streamed by both without a gap',
    { timeout: 60_000 },
    async () => {
      const { a, b, atA, atB } = await both()
      const runId = await atA.start()
      const read = async (server: ServerProcess): Promise<[number, number][]> => {
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
      await until(async () => ENDED.has((await atB.help(runId)).status))
      expect(await atA.run(runId)).toMatchObject({ status: 'Completed', output: 'Delivered to Oslo.' })
      const [ofA, ofB] = await Promise.all(streams)
      const numbers = ofA!.map(([id]) => id)
      expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, at) => at + 1))
      expect(ofB!.map(([id]) => id)).toEqual(numbers)
      const behind = ofB!.map(([, at], index) => at - ofA![index]![1]).sort((x, y) => x - y)
      expect(behind[Math.floor(behind.length / 2)]).toBeLessThan(250)
      expect(['acme.post', 'acme.pay', 'acme.stamp'].map(times)).toEqual([1, 1, 1])
    },
  )

  test(
    'what the killed one drove is taken over, and its unsafe call is not made again',
    { timeout: 90_000 },
    async () => {
      const { a, atA, atB } = await both()
      callMs = 60_000
      const runId = await atA.start()
      await until(() => times('acme.look') === 1)
      await a.stop('SIGKILL')
      callMs = 0
      const took = await until(async () => (await atB.run(runId)).status === 'WaitingForHITL', 40_000)
      expect(took).toBeLessThan(TAKEN_OVER_MS + 4000)
      // Whether the call under way was made is a question to an operator, who asks the world.
      await until(async () => {
        await courier.review()
        return ENDED.has((await atB.help(runId)).status)
      }, 40_000)
      expect(await atB.run(runId)).toMatchObject({ status: 'Completed', output: 'Delivered to Oslo.' })
      expect(['acme.post', 'acme.pay', 'acme.stamp'].map(times)).toEqual([1, 1, 1])
      const numbers = await atB.eventNumbers(runId)
      expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, at) => at + 1))
    },
  )

  test('a server that is stopped hands over what it drove at once', { timeout: 60_000 }, async () => {
    const { a, atA, atB } = await both()
    const runs = await Promise.all(Array.from({ length: 5 }, () => atA.start()))
    expect(await a.stop('SIGTERM')).toBe(0)
    const took = await until(async () => {
      const all = await Promise.all(runs.map((runId) => atB.help(runId)))
      return all.every(({ status }) => ENDED.has(status))
    })
    expect(took).toBeLessThan(12_000)
    expect(['acme.post', 'acme.pay', 'acme.stamp'].map(times)).toEqual([5, 5, 5])
  })

  test('a cancel at one reaches the other, which drives the run', { timeout: 60_000 }, async () => {
    const { atA, b } = await both()
    callMs = 20_000
    const runId = await atA.start()
    await until(() => times('acme.look') === 1)
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

  test('of each tick of a schedule one run starts', { timeout: 60_000 }, async () => {
    const { atA } = await both()
    await svcJson(
      [
        'triggers',
        'create',
        'acme.courier',
        '--type',
        'schedule',
        '--cron',
        '* * * * * *',
        '--data',
        join(courier.project.directory, 'a'),
      ],
      { cwd: courier.project.directory },
    )
    await until(async () => (await atA.sessions()).filter(({ triggerType }) => triggerType === 'scheduled').length >= 5)
    const starts = (await atA.sessions()).flatMap(({ triggerType, startedAt }) =>
      triggerType === 'scheduled' ? [Math.floor(Date.parse(startedAt) / 1000)] : [],
    )
    expect(new Set(starts).size).toBe(starts.length)
  })
})
