import type { Clock, Instant } from '../base/clock.ts'
import { RETRY_JOB_MS, type BackgroundJob, type JobRunner } from './jobs.ts'

/** The longest timer that node keeps: 2^31 - 1 ms. A later time is set again when that timer fires. */
const LONGEST_TIMER_MS = 2_147_483_647

export interface EmbeddedJobParts {
  readonly clock: Clock
  readonly failed: (job: BackgroundJob, error: unknown) => void
}

/** Runs the jobs of the only process of a store. All of them are woken at once. */
export function createEmbeddedJobs(jobs: readonly BackgroundJob[], { clock, failed }: EmbeddedJobParts): JobRunner {
  const stop = new AbortController()
  const running = new Map<string, Promise<void>>()
  const timers = new Map<string, NodeJS.Timeout>()

  async function run(job: BackgroundJob): Promise<void> {
    if (stop.signal.aborted) return
    let next: Instant | undefined
    try {
      next = await job.run(stop.signal)
    } catch (error) {
      failed(job, error)
      next = clock.now() + RETRY_JOB_MS
    }
    clearTimeout(timers.get(job.name))
    if (stop.signal.aborted || next === undefined || next === Infinity) return
    const timer = setTimeout(() => start(job), Math.min(LONGEST_TIMER_MS, Math.max(1, next - clock.now())))
    timers.set(job.name, timer.unref())
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
    async close() {
      stop.abort()
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all(running.values())
    },
  }
}
