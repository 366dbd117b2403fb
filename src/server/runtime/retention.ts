/**
 * Deletes sessions that the configuration keeps no longer, and later what they left of their calls. Source: scale-out, section 3.7;
 * command line, 1.5, key `retention`.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { ProjectConfig } from '../../spec/config.ts'
import type { Store } from '../../store/store.ts'
import { detailOf } from '../http/detail.ts'

const EVERY_MS = 3_600_000
/** Sessions per transaction at most; the store ends one earlier that takes long. */
const CHUNK = 1000
/** Between two transactions: starts, saves and reads of others come first. */
const PAUSE_MS = 20

type RetentionConfig = NonNullable<ProjectConfig['retention']>

/** Milliseconds of `180d` or `10y`; a year has 366 days, so that nothing goes early. */
export const retentionMs = (text: string): number => Number.parseInt(text) * (text.endsWith('y') ? 366 : 1) * 86_400_000

/** @returns the number of sessions deleted */
export async function applyRetention(
  store: Store,
  { runs, audit }: RetentionConfig,
  clock: Clock,
  signal: AbortSignal,
): Promise<number> {
  let total = 0
  if (runs !== undefined)
    await inChunks(signal, async () => {
      const { deleted, more } = await store.deleteEndedSessions(clock.now() - retentionMs(runs), CHUNK)
      total += deleted
      return more
    })
  if (audit !== undefined)
    await inChunks(signal, async () => (await store.deleteKeptCalls(clock.now() - retentionMs(audit), CHUNK)) === CHUNK)
  return total
}

/** Leaves others time between chunks. @param next deletes one; false after the last */
async function inChunks(signal: AbortSignal, next: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted && (await next())) await wait(PAUSE_MS, undefined, { signal }).catch(() => {})
}

/** Applies retention now and every hour until stopped. */
export function startRetention(
  store: Store,
  config: RetentionConfig | undefined,
  clock: Clock,
  log: Log,
): { stop(): Promise<void> } {
  if (!config) return { stop: () => Promise.resolve() }
  const stop = new AbortController()
  const apply = async () => {
    try {
      const deleted = await applyRetention(store, config, clock, stop.signal)
      if (deleted > 0) log.write('info', 'retention deleted sessions', { sessions: deleted, olderThan: config.runs })
    } catch (error) {
      log.write('warn', 'retention failed', { detail: detailOf(error) })
    }
  }
  let running = apply()
  const timer = setInterval(() => void (running = running.then(apply)), EVERY_MS)
  timer.unref()
  return {
    stop() {
      clearInterval(timer)
      stop.abort()
      return running
    },
  }
}
