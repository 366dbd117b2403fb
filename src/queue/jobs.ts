/**
 * Background jobs of a store: schedules, retention, sweeps. A job asks the store what is due, so it carries no data and an extra run is
 * harmless. Of several servers one runs them at a time: the others ask each second whether it is their turn.
 * Source: docs/design/several-processes.md#background-jobs
 */
import type { Clock, Instant } from '../base/clock.ts'
import { within } from '../base/signal-within.ts'

export interface BackgroundJob {
  /** Unique. */
  readonly name: string
  /**
   * Does what is due, for some seconds at most; a job with more work asks to be run again at once.
   * @returns the time of the next run; undefined = not before it is woken
   */
  run(signal: AbortSignal): Promise<Instant | undefined>
}

export interface JobRunner {
  /** Runs a job soon, before the time that it asked for. */
  wake(name: string): void
  /** Starts no more jobs; resolves when the running ones have ended, or after `graceMs`. */
  close(graceMs?: number): Promise<void>
}

/** The longest timer that node keeps: 2^31 - 1 ms. A later time is set again when that timer fires. */
const LONGEST_TIMER_MS = 2_147_483_647
/** Pause before a failed job runs again. */
const RETRY_MS = 60_000
/** How often a server that runs no jobs asks whether it should. */
const TURN_MS = 1000
/** How long jobs under way may take to end when the server does. What is not done then is due again later. */
const LAST_JOBS_MS = 5000
const LEAST_GRACE_MS = 500

export interface JobRunnerParts {
  readonly clock: Clock
  /** Whether this is the server that runs the jobs of the store. It may change at any time. */
  readonly isOurTurn: () => boolean
  readonly failed: (job: BackgroundJob, error: unknown) => void
}

/** All jobs are woken at once. */
export function createJobRunner(
  jobs: readonly BackgroundJob[],
  { clock, isOurTurn, failed }: JobRunnerParts,
): JobRunner {
  const stop = new AbortController()
  const running = new Map<string, Promise<void>>()
  const timers = new Map<string, NodeJS.Timeout>()

  async function run(job: BackgroundJob): Promise<void> {
    if (stop.signal.aborted) return
    const next = isOurTurn() ? await runOnce(job) : clock.now() + TURN_MS
    clearTimeout(timers.get(job.name))
    if (stop.signal.aborted || next === undefined || next === Infinity) return
    const timer = setTimeout(() => start(job), Math.min(LONGEST_TIMER_MS, Math.max(1, next - clock.now())))
    timers.set(job.name, timer.unref())
  }

  async function runOnce(job: BackgroundJob): Promise<Instant | undefined> {
    try {
      return await job.run(stop.signal)
    } catch (error) {
      failed(job, error)
      return clock.now() + RETRY_MS
    }
  }

  /** After the current run of the same job. */
  function start(job: BackgroundJob): void {
    running.set(
      job.name,
      (running.get(job.name) ?? Promise.resolve()).then(() => run(job)),
    )
  }

  for (const job of jobs) start(job)
  return {
    wake(name) {
      const job = jobs.find((each) => each.name === name)
      if (job) start(job)
    },
    async close(graceMs = LAST_JOBS_MS) {
      stop.abort()
      for (const timer of timers.values()) clearTimeout(timer)
      await within(Math.max(LEAST_GRACE_MS, Math.min(graceMs, LAST_JOBS_MS)), Promise.all(running.values()))
    },
  }
}
