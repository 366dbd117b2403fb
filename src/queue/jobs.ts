/**
 * Background jobs of a server: schedules, retention, sweeps. A job asks the store what is due, so it carries no data and an
 * extra run is harmless.
 */
import type { Instant } from '../base/clock.ts'

export interface BackgroundJob {
  /** Unique; letters and underscores. */
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
  /** Starts no more jobs; resolves when the running ones have ended, or after `graceMs` where the database keeps them. */
  close(graceMs?: number): Promise<void>
}

/** Pause before a failed job runs again. */
export const RETRY_JOB_MS = 60_000

/** Schema of the tables of graphile-worker, beside that of the store. */
export const JOB_SCHEMA = 'svc_jobs'
