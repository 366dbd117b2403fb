/** What every job runner promises, and what only one of several servers can show. */
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { createEmbeddedJobs } from '../../src/queue/embedded-jobs.ts'
import { migrateGraphileJobs, openGraphileJobs } from '../../src/queue/graphile-jobs.ts'
import { JOB_SCHEMA, type BackgroundJob, type JobRunner } from '../../src/queue/jobs.ts'
import { openPool } from '../../src/store/postgres/database/pool.ts'
import { openPostgresProxy } from '../store/postgres-proxy.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { waitUntil } from '../wait-until.ts'

const server = startPostgres()
afterAll(() => server?.stop())

const runners: JobRunner[] = []
afterEach(async () => {
  for (const runner of runners.splice(0)) await runner.close()
})

/** A job that writes down when it ran. */
function counted(name: string, next: () => number | undefined = () => undefined) {
  const seen = { runs: 0, at: 0, most: 0 }
  const job: BackgroundJob = {
    name,
    async run() {
      seen.runs++
      seen.most = Math.max(seen.most, ++seen.at)
      await new Promise((resolve) => setTimeout(resolve, 20))
      seen.at--
      return next()
    },
  }
  return { job, seen }
}

const failures: string[] = []
const failed = ({ name }: BackgroundJob): void => void failures.push(name)
let databases = 0
const kinds: [string, () => Promise<(jobs: readonly BackgroundJob[]) => Promise<JobRunner>>][] = [
  ['in one process', async () => async (jobs) => createEmbeddedJobs(jobs, { clock: systemClock, failed })],
  ...(server
    ? [
        [
          'carried by graphile-worker',
          async () => {
            const url = server.url(`jobs_${databases++}`)
            await migrateGraphileJobs(url, JOB_SCHEMA)
            return (jobs: readonly BackgroundJob[]) =>
              openGraphileJobs(jobs, { url, schema: JOB_SCHEMA, clock: systemClock, log: silentLog, failed })
          },
        ] as (typeof kinds)[number],
      ]
    : []),
]

describe.each(kinds)('jobs %s', (_, prepare) => {
  test('run when they are opened, when they asked to, and when they are woken', async () => {
    const open = await prepare()
    const often = counted('often', () => Date.now() + 100)
    const once = counted('once')
    const runner = await open([often.job, once.job])
    runners.push(runner)
    await expect.poll(() => often.seen.runs).toBeGreaterThan(2)
    await expect.poll(() => once.seen.runs).toBe(1)
    runner.wake('once')
    await expect.poll(() => once.seen.runs).toBe(2)
    await runner.close()
    const { runs } = often.seen
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(often.seen.runs).toBe(runs)
  })

  test('that fail are told, and do not stop the others', async () => {
    const open = await prepare()
    failures.length = 0
    const well = counted('well', () => Date.now() + 50)
    const bad: BackgroundJob = { name: 'bad', run: () => Promise.reject(new Error('no')) }
    runners.push(await open([bad, well.job]))
    await expect.poll(() => well.seen.runs).toBeGreaterThan(1)
    await expect.poll(() => failures).toEqual(['bad'])
  })
})

describe.skipIf(!server)('jobs of several servers', () => {
  const openTwo = async (make: (name: string) => BackgroundJob) => {
    const url = server!.url(`jobs_${databases++}`)
    await migrateGraphileJobs(url, JOB_SCHEMA)
    const parts = { url, schema: JOB_SCHEMA, clock: systemClock, log: silentLog, failed }
    const two = [await openGraphileJobs([make('a')], parts), await openGraphileJobs([make('b')], parts)]
    runners.push(...two)
    return { url, two }
  }

  test('run at one of them, not at each', async () => {
    const { job, seen } = counted('shared', () => Date.now() + 500)
    await openTwo(() => job)
    await expect.poll(() => seen.runs).toBeGreaterThan(2)
    const [before, from] = [seen.runs, performance.now()]
    await new Promise((resolve) => setTimeout(resolve, 3000))
    // At each of them it would be twice as often.
    expect(seen.runs - before).toBeLessThanOrEqual(Math.ceil(((performance.now() - from) / 500) * 1.5))
  })

  test('one that a dead server had begun is added again', async () => {
    const { job, seen } = counted('left')
    const { url } = await openTwo(() => job)
    await expect.poll(() => seen.runs).toBeGreaterThan(0)
    const pool = await openPool({ url, schema: JOB_SCHEMA, name: 'test', connections: 1 })
    await pool.run(`select add_job('left', '{}'::json, run_at => now() + interval '1 day', job_key => 'svc left')`)
    await pool.run(`update _private_jobs set locked_at = now(), locked_by = 'dead'`)
    const before = seen.runs
    await pool.run(`select add_job('add_missing', '{}'::json)`)
    await expect.poll(() => seen.runs).toBe(before + 1)
    await pool.close()
  })

  test('go on after a restart of the database', { timeout: 180_000 }, async () => {
    const { job, seen } = counted('going', () => Date.now() + 5)
    const { two } = await openTwo(() => job)
    await expect.poll(() => seen.runs).toBeGreaterThan(0)
    // At several moments, with jobs under way.
    for (let n = 0; n < 4; n++) {
      await new Promise((resolve) => setTimeout(resolve, 150 * n))
      server!.restart()
    }
    const before = seen.runs
    await expect
      .poll(
        () => {
          two[0]!.wake('going')
          return seen.runs
        },
        { interval: 500 },
      )
      .toBeGreaterThan(before)
  })

  test(
    'go on, and can be closed, after two of them ended while the database was away',
    { timeout: 180_000 },
    async () => {
      let release = (): void => {}
      const released = new Promise<void>((resolve) => (release = resolve))
      const seen = { begun: 0 }
      const held = (name: string): BackgroundJob => ({
        name,
        async run() {
          seen.begun++
          await released
          return Date.now() + 100
        },
      })
      const url = server!.url(`jobs_${databases++}`)
      await migrateGraphileJobs(url, JOB_SCHEMA)
      const runner = await openGraphileJobs([held('one'), held('other')], {
        url,
        schema: JOB_SCHEMA,
        clock: systemClock,
        log: silentLog,
        failed,
      })
      runners.push(runner)
      await waitUntil(() => seen.begun === 2)
      server!.crash()
      release()
      // Both have tried to store their end, and found nobody.
      await new Promise((resolve) => setTimeout(resolve, 500))
      server!.start()
      await waitUntil(() => {
        runner.wake('one')
        return seen.begun > 3
      })
      await runner.close()
    },
  )

  test('are closed in time while the database does not answer', { timeout: 180_000 }, async () => {
    const proxy = await openPostgresProxy(server!.socket)
    const database = `jobs_${databases++}`
    await migrateGraphileJobs(server!.url(database), JOB_SCHEMA)
    const { job, seen } = counted('mute', () => Date.now() + 5)
    const runner = await openGraphileJobs([job], {
      url: proxy.url(database),
      schema: JOB_SCHEMA,
      clock: systemClock,
      log: silentLog,
      failed,
    })
    await waitUntil(() => seen.runs > 2)
    proxy.swallow(true)
    runner.wake('mute')
    const from = performance.now()
    await runner.close(1000)
    expect(performance.now() - from).toBeLessThan(10_000)
    await proxy.close()
  })
})
