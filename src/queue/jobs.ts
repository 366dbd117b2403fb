/**
 * What a server does in the background: schedules, retention, sweeps. The work asks the store what is due, so a job carries no data
 * and may run once too often.
 */
import type { Instant } from '../base/clock.ts'

export interface BackgroundJob {
  /** Unique; letters and underscores. */
  readonly name: string
  /**
   * Does what is due. One that has more to do than fits into some seconds does a part and asks to be run again at once.
   * @returns when it is to be run next; undefined = not before it is woken
   */
  run(signal: AbortSignal): Promise<Instant | undefined>
}

export interface JobRunner {
  /** Runs a job soon, whatever it asked for. */
  wake(name: string): void
  /** No job begins any more; resolves when those under way have ended. */
  close(): Promise<void>
}

/** After a job has failed it is run again in so long. */
export const RETRY_JOB_MS = 60_000

/** Schema of the tables of graphile-worker, beside that of the store. */
export const JOB_SCHEMA = 'svc_jobs'
