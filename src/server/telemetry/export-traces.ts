/**
 * Exports what the marks of the store say is due, a few sessions at a time. The queue is in the database, so it costs no memory while a
 * receiver is away, and a process that is killed leaves it to the next one. Source: docs/design/telemetry.md#spans
 */
import type { Log } from '../../base/log.ts'
import type { WorkspaceId } from '../../base/ids.ts'
import type { Store } from '../../store/store.ts'
import type { SessionUpdate } from '../../store/session-update.ts'
import type { ExportOutcome } from './exporters.ts'
import { createReceiverReport } from './receiver-report.ts'
import { isSampled } from './sampler.ts'
import { sendInParts } from './send-in-parts.ts'
import { readSpans, type TracedSpan } from './session-spans.ts'
import type { SamplerSettings } from './settings.ts'

/** Sessions of one export. */
const MOST_SESSIONS = 32
/** Beyond the time of an export, before another process may take its sessions. */
const LEASE_MARGIN_MS = 5000
/** In which parts of an export are begun. */
const PARTS_MS = 3000
/** Spans that could not be exported for so long are given up: nobody looks for them any more. */
const GIVE_UP_MS = 3_600_000
const LONGEST_PAUSE_MS = 60_000

export interface TraceExportParts {
  readonly store: Store
  readonly workspaceId: WorkspaceId
  readonly log: Log
  readonly send: (spans: readonly TracedSpan[]) => Promise<ExportOutcome>
  /** Longest time of `send`. */
  readonly timeoutMs: number
  /** Where it sends to, fit to be shown. */
  readonly to: string | undefined
  readonly sampler: SamplerSettings
  readonly withContent: boolean
  readonly delayMs: number
  /** Counts spans that nobody will get. */
  readonly dropped: (spans: number) => void
}

export interface TraceExport {
  begin(): void
  /** Exports all that is due, as far as the receiver takes it. */
  flush(): Promise<void>
  /** Stops after the export under way; what is left is due for the next process. */
  close(): Promise<void>
}

/** A store that marks each update in which a run pauses or ends. */
export function withTraceMarks(store: Store): Store {
  const mark = (update: SessionUpdate): SessionUpdate =>
    update.events.some(({ subject }) => MARKED.has(subject)) ? { ...update, isTraced: true } : update
  return {
    ...store,
    start: (update, ...more) => store.start(mark(update), ...more),
    save: (update, ...more) => store.save(mark(update), ...more),
  }
}

const MARKED: ReadonlySet<string> = new Set(
  ['paused', 'completed', 'failed', 'cancelled'].map((each) => `engine.run.${each}`),
)

export function createTraceExport(parts: TraceExportParts): TraceExport {
  const { store, workspaceId, log, send, timeoutMs, sampler, withContent, delayMs, dropped } = parts
  const { clock } = store
  const report = createReceiverReport('traces', log, parts.to)
  let isClosed = false
  let failures = 0
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined

  const sendSome = async (spans: readonly TracedSpan[]): Promise<ExportOutcome> =>
    spans.length === 0 ? { at: 'sent' } : await send(spans)

  /** @returns whether there may be more that the receiver takes */
  async function exportSome(): Promise<boolean> {
    const now = clock.now()
    const marks = await store.claimTraces({
      workspaceId,
      now,
      until: now + timeoutMs + LEASE_MARGIN_MS,
      limit: MOST_SESSIONS,
    })
    if (marks.length === 0) return false
    const read = await Promise.all(
      marks.map(async (mark) => ({ mark, ...(await readSpans(store, mark, withContent)) })),
    )
    const spans = read.flatMap((each) => each.spans).filter((span) => isSampled(sampler, span, span.isBegunHere))
    const { outcome, refused } = await sendInParts(spans, sendSome, PARTS_MS)
    report.tell(outcome)
    const isAway = outcome.at === 'away'
    // What was refused of an export that broke off comes again with the rest.
    const ended = isAway ? read.filter(({ mark: { since } }) => since < now - GIVE_UP_MS) : read
    const lost = isAway ? ended.reduce((sum, each) => sum + each.spans.length, 0) : refused.length
    if (lost > 0) dropped(lost)
    if (ended.length > 0)
      await store.endTraces(
        ended.map(({ mark: { sessionId, sent }, upTo }) => ({ sessionId, sent, upTo })),
        clock.now(),
      )
    failures = isAway ? failures + 1 : 0
    return !isAway
  }

  async function look(): Promise<void> {
    try {
      let isMore = true
      while (isMore) isMore = !isClosed && clock.mayDecide() && (await exportSome())
    } catch (error) {
      failures++
      report.tell({ at: 'failed', why: (error as Error).message })
    }
  }

  /** One look at a time. */
  const flush = (): Promise<void> => (looking ??= look().finally(() => (looking = undefined)))

  function schedule(): void {
    if (isClosed) return
    const pause = Math.min(delayMs * 2 ** Math.min(failures, 10), Math.max(delayMs, LONGEST_PAUSE_MS))
    timer = setTimeout(() => void flush().then(schedule), pause)
    timer.unref()
  }

  return {
    begin: schedule,
    flush,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await looking
    },
  }
}
