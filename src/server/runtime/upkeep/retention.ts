/**
 * Deletes sessions that exceed the configured retention, and later the records of their calls.
 * Source: docs/design/several-processes.md#retention-and-erasure
 */
import { signalWithin } from '../../../base/signal-within.ts'
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '../../../base/clock.ts'
import type { Log } from '../../../base/log.ts'
import type { ProjectConfig } from '../../../spec/config.ts'
import type { BackgroundJob } from '../../../queue/jobs.ts'
import type { SessionStore } from '../../../store/session-store.ts'

const EVERY_MS = 3_600_000
/** Maximum time per run of the job, so that other jobs run too. */
const SLICE_MS = 20_000
/** Sessions per transaction at most; the store ends one earlier that takes long. */
const CHUNK = 1000
/** Pause between two transactions, for starts, saves and reads. */
const PAUSE_MS = 20

type RetentionConfig = NonNullable<ProjectConfig['retention']>

/** Milliseconds of `180d` or `10y`; a year has 366 days, so that nothing is deleted early. */
export const retentionMs = (text: string): number => Number.parseInt(text) * (text.endsWith('y') ? 366 : 1) * 86_400_000

/** @returns the number of sessions deleted */
export async function applyRetention(
  store: SessionStore,
  { runs, audit }: RetentionConfig,
  clock: Clock,
  signal: AbortSignal,
): Promise<number> {
  let total = 0
  if (runs !== undefined)
    await repeat(signal, async () => {
      const { deleted, more } = await store.deleteEndedSessions(clock.now() - retentionMs(runs), CHUNK)
      total += deleted
      return more
    })
  if (audit !== undefined)
    await repeat(signal, async () => (await store.deleteKeptCalls(clock.now() - retentionMs(audit), CHUNK)) === CHUNK)
  return total
}

/** Repeats a chunk while there are more, with a pause between two. */
async function repeat(signal: AbortSignal, deleteChunk: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted && (await deleteChunk())) await wait(PAUSE_MS, undefined, { signal }).catch(() => {})
}

/** @param config undefined = nothing is deleted */
export const retentionJob = (
  store: SessionStore,
  config: RetentionConfig | undefined,
  clock: Clock,
  log: Log,
): BackgroundJob => ({
  name: 'retention',
  async run(signal) {
    if (!config) return undefined
    const slice = signalWithin(SLICE_MS, signal)
    const deleted = await applyRetention(store, config, clock, slice)
    if (deleted > 0) log.write('info', 'retention deleted sessions', { sessions: deleted, olderThan: config.runs })
    return slice.aborted ? clock.now() : clock.now() + EVERY_MS
  },
})
