/**
 * Deletes sessions that exceed the configured retention, and later the records of their calls.
 * Source: docs/design/several-processes.md#retention-and-erasure
 */
import { signalWithin } from '../../../base/signal-within.ts'
import { setTimeout as wait } from 'node:timers/promises'
import { toIsoText, type Instant } from '../../../base/clock.ts'
import type { ActKind } from '../../../spec/people/act.ts'
import type { ProjectConfig } from '../../../spec/project/config.ts'
import type { BackgroundJob } from '../../../queue/jobs.ts'
import { describeServerAct } from '../describe-act.ts'
import type { ServerServices } from '../services.ts'

const EVERY_MS = 3_600_000
/** Maximum time per run of the job, so that other jobs run too. */
const SLICE_MS = 20_000
/** Sessions per transaction at most; the store ends one earlier that takes long. */
const CHUNK = 1000
/** Pause between two transactions, for starts, saves and reads. */
const PAUSE_MS = 20

type RetentionConfig = NonNullable<ProjectConfig['retention']>

export type RetentionServices = Pick<ServerServices, 'store' | 'clock' | 'workspace' | 'redactor'>

interface DeletedSessions {
  readonly deleted: number
}

/** Milliseconds of `180d` or `10y`; a year has 366 days, so that nothing is deleted early. */
export const retentionMs = (text: string): number => Number.parseInt(text) * (text.endsWith('y') ? 366 : 1) * 86_400_000

/** @returns the number of sessions deleted */
export async function applyRetention(
  services: RetentionServices,
  { runs, audit }: RetentionConfig,
  signal: AbortSignal,
): Promise<number> {
  const { store, clock } = services
  let total = 0
  const recording = (kind: ActKind, what: string, before: Instant, countOf: (answer: unknown) => number) =>
    store.recording((answer) => {
      const count = countOf(answer)
      const subject = `${count} ${what} that retention no longer keeps`
      return count === 0 ? null : describeServerAct(services, kind, { subject, after: { before: toIsoText(before) } })
    })
  if (runs !== undefined)
    await repeat(signal, async () => {
      const before = clock.now() - retentionMs(runs)
      const recorded = recording('sessions.deleted', 'sessions', before, (each) => (each as DeletedSessions).deleted)
      const { deleted, more } = await recorded.deleteEndedSessions(before, CHUNK)
      total += deleted
      return more
    })
  if (audit !== undefined)
    await repeat(signal, async () => {
      const before = clock.now() - retentionMs(audit)
      const recorded = recording('records.deleted', 'records of calls', before, Number)
      return (await recorded.deleteKeptCalls(before, CHUNK)) === CHUNK
    })
  return total
}

/** Repeats a chunk while there are more, with a pause between two. */
async function repeat(signal: AbortSignal, deleteChunk: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted && (await deleteChunk())) await wait(PAUSE_MS, undefined, { signal }).catch(() => {})
}

/** Deletes nothing where the configuration names no time. */
export const retentionJob = (services: RetentionServices & Pick<ServerServices, 'config' | 'log'>): BackgroundJob => ({
  name: 'retention',
  async run(signal) {
    const { clock, log } = services
    const config = services.config.retention
    if (!config) return undefined
    const slice = signalWithin(SLICE_MS, signal)
    const deleted = await applyRetention(services, config, slice)
    if (deleted > 0) log.write('info', 'retention deleted sessions', { sessions: deleted, olderThan: config.runs })
    return slice.aborted ? clock.now() : clock.now() + EVERY_MS
  },
})
