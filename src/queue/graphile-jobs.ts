/**
 * Jobs of servers that share a PostgreSQL database, run by graphile-worker: each job runs on one server at a time. A job
 * that a dead server had begun stays locked for hours, so every minute one server adds those that are missing.
 * Source: docs/design/several-processes.md#background-jobs
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { TaskList, WorkerUtils } from 'graphile-worker'
import type { Clock, Instant } from '../base/clock.ts'
import { fail } from '../base/failure.ts'
import type { Log } from '../base/log.ts'
import { within } from '../base/signal-within.ts'
import { startGraphile, type GraphileLife, type GraphileLifeOptions } from './graphile-life.ts'
import { RETRY_JOB_MS, type BackgroundJob, type JobRunner } from './jobs.ts'

export interface GraphileJobParts {
  /** `postgres://…` */
  readonly url: string
  /** Schema of its tables. */
  readonly schema: string
  readonly clock: Clock
  readonly log: Log
  readonly failed: (job: BackgroundJob, error: unknown) => void
}

/** One connection listens, and each running job needs one. */
const CONNECTIONS = 3
const JOBS_AT_ONCE = 2
/** Polling interval for jobs that became due. A woken job starts at once. */
const POLL_MS = 1000
const ADD_MISSING = 'add_missing'
/** A job that is due within this time gets a timer of this process. */
const WAKE_WITHIN_MS = 60_000
/** Pause before graphile-worker is started again after it gave up, for example while the database is away. */
const RESTART_MS = 2000
/** How long jobs under way may take to end when the server does. What is not done then is due again at another server. */
const LAST_JOBS_MS = 5000
const LEAST_GRACE_MS = 500

type GraphileWorker = typeof import('graphile-worker')

/** @throws Failure `job_runner_missing` */
async function loadGraphile(): Promise<GraphileWorker> {
  try {
    return (await import('graphile-worker')) as GraphileWorker
  } catch (error) {
    throw fail('job_runner_missing', undefined, { cause: error })
  }
}

/** @throws Failure `job_runner_missing` */
export const checkJobRunner = async (): Promise<void> => void (await loadGraphile())

/** Creates or migrates its tables. @throws Failure `job_runner_missing` */
export async function migrateGraphileJobs(url: string, schema: string): Promise<void> {
  const graphile = await loadGraphile()
  await graphile.runMigrations({ connectionString: url, schema, logger: quietLogger(graphile) })
}

/** @throws Failure `job_runner_missing` */
export async function openGraphileJobs(jobs: readonly BackgroundJob[], parts: GraphileJobParts): Promise<JobRunner> {
  const { url, schema, clock, failed, log } = parts
  const graphile = await loadGraphile()
  const stop = new AbortController()
  const keyOf = (name: string): string => `svc ${name}`
  const add = (utils: Pick<WorkerUtils, 'addJob'>, name: string, at: Instant, keepsTime: boolean): Promise<unknown> =>
    utils.addJob(
      name,
      {},
      {
        jobKey: keyOf(name),
        jobKeyMode: keepsTime ? 'preserve_run_at' : 'replace',
        // By the clock of the database, as it compares it.
        runAt: new Date(at),
      },
    )
  const taskList: TaskList = {
    ...Object.fromEntries(
      jobs.map((job) => [
        job.name,
        async (_: unknown, helpers: Pick<WorkerUtils, 'addJob'>) => {
          const next = await job.run(stop.signal).catch((error: unknown) => {
            failed(job, error)
            return clock.now() + RETRY_JOB_MS
          })
          // Keeps an earlier time if the job was woken meanwhile.
          if (next === undefined || next === Infinity) return
          await add(helpers, job.name, next, true)
          wakeAt(job.name, next)
        },
      ]),
    ),
    [ADD_MISSING]: async (_, helpers) => {
      for (const { name } of jobs) await add(helpers, name, clock.now(), true)
    },
  }
  const options: GraphileLifeOptions = {
    url,
    connections: CONNECTIONS,
    schema,
    concurrency: JOBS_AT_ONCE,
    pollInterval: POLL_MS,
    noHandleSignals: true,
    // Without a batch, a job whose end cannot be stored causes an uncaught error, which ends the process.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    parsedCronItems: graphile.parseCronItems([
      { task: ADD_MISSING, match: '* * * * *', identifier: ADD_MISSING, options: { backfillPeriod: 0 } },
    ]),
    taskList,
    logger: quietLogger(graphile, log),
  }
  let life: GraphileLife = await startGraphile(graphile, options, stop.signal)
  const timers = new Map<string, NodeJS.Timeout>()
  /** Wakes that are not stored yet. */
  const waking = new Set<Promise<unknown>>()

  const wake = (name: string): void => {
    if (stop.signal.aborted || !jobs.some((job) => job.name === name)) return
    const added: Promise<unknown> = add(life, name, clock.now(), false)
      // The next minute adds it.
      .catch((error: unknown) => {
        if (!stop.signal.aborted) log.write('warn', 'a job could not be woken', { job: name, detail: String(error) })
      })
      .finally(() => waking.delete(added))
    waking.add(added)
  }

  function wakeAt(name: string, at: Instant): void {
    clearTimeout(timers.get(name))
    const waitMs = at - clock.now()
    if (waitMs <= WAKE_WITHIN_MS) timers.set(name, setTimeout(() => wake(name), Math.max(0, waitMs)).unref())
  }

  /** graphile-worker gives up after some errors in a row. */
  async function keepRunning(): Promise<void> {
    while (!stop.signal.aborted) {
      await life.ended
      for (let isTold = false; !stop.signal.aborted; isTold = true) {
        await delay(RESTART_MS * (0.5 + Math.random()), undefined, { signal: stop.signal }).catch(() => {})
        if (stop.signal.aborted) return
        try {
          life = await startGraphile(graphile, options, stop.signal)
          if (stop.signal.aborted) await life.stop(0)
          break
        } catch (error) {
          if (!isTold && !stop.signal.aborted)
            log.write('warn', 'background jobs wait for the database', { detail: String(error) })
        }
      }
    }
  }
  const kept = keepRunning()
  for (const { name } of jobs) wake(name)
  return {
    wake,
    async close(graceMs = LAST_JOBS_MS) {
      stop.abort()
      for (const timer of timers.values()) clearTimeout(timer)
      const until = performance.now() + Math.max(LEAST_GRACE_MS, Math.min(graceMs, LAST_JOBS_MS))
      const left = (): number => Math.max(0, until - performance.now())
      await within(left(), Promise.all(waking))
      await life.stop(left())
      await within(left(), kept)
    },
  }
}

/** graphile-worker logs each failed attempt to connect. The store already logs an outage once. */
const ABOUT_CONNECTIONS =
  /^PostgreSQL (active|idle) client |notify listener|UNLISTEN|connect|terminating|the database system is /i

/** Drops its log lines about itself, except failures. */
const quietLogger = ({ Logger }: GraphileWorker, log?: Log) =>
  new Logger(() => (level, message) => {
    if (['error', 'warning'].includes(level) && !ABOUT_CONNECTIONS.test(message))
      log?.write('warn', 'background jobs', { detail: message })
  })
