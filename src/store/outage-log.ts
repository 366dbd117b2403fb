/** Tells once that the database cannot be used, however many requests find out, and once that it can be used again. */
import type { Log } from '../base/log.ts'
import { isStoreAway } from './store-away.ts'

export interface OutageLog {
  answered(): void
  /** @param error as callers get it; what is no outage is left to them */
  failed(error: unknown): void
}

/** Without another failure for so long an outage is over. Some statements succeed while others get no connection. */
const OVER_AFTER_MS = 5000

/** Before the first answer it tells nothing: whoever opens the store gets the failure. */
export function createOutageLog(log: Log): OutageLog {
  let hasAnswered = false
  let refused = 0
  let failedAt = 0
  return {
    answered() {
      hasAnswered = true
      if (refused === 0 || performance.now() - failedAt < OVER_AFTER_MS) return
      log.write('info', 'the database can be used again', { refused })
      refused = 0
    },
    failed(error) {
      if (!hasAnswered || !isStoreAway(error)) return
      // Callers are not told which disk of the database is full; operators need it.
      const detail = error.code === 'storage_full' && error.cause instanceof Error ? error.cause.message : error.message
      if (refused++ === 0) log.write('warn', 'the database cannot be used now', { code: error.code, detail })
      failedAt = performance.now()
    },
  }
}
