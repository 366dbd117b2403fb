/**
 * Exports the lines of the log over OTLP, those of a run in its trace. Lines wait in memory, as many as the settings say; what does not fit
 * is counted. Source: docs/design/telemetry.md#logs
 */
import type { Clock } from '../../base/clock.ts'
import type { JsonValue } from '../../base/json/json.ts'
import type { Log, LogLevel } from '../../base/log.ts'
import type { RunId } from '../../base/ids.ts'
import type { Redactor } from '../../base/secret.ts'
import { spanOfRun } from '../../spec/run/run-trace.ts'
import type { ExportOutcome, InstrumentationScope, OtlpExporters, ReadableLog } from './exporters.ts'
import { toHrTime } from './readable-span.ts'
import { createReceiverReport } from './receiver-report.ts'
import { sendInParts } from './send-in-parts.ts'

/** Records of one export. */
const MOST_AT_ONCE = 512
const SAMPLED = 0x01
const LONGEST_PAUSE_MS = 60_000

/** As OTLP numbers them. */
const SEVERITIES: Readonly<Record<LogLevel, number>> = { debug: 5, info: 9, warn: 13, error: 17 }

export interface LogExportParts {
  readonly resource: OtlpExporters['resource']
  readonly scope: InstrumentationScope
  readonly clock: Pick<Clock, 'now'>
  readonly redactor: Redactor
  /** For what is said of the export itself; must not lead here. */
  readonly log: Log
  readonly send: (records: readonly ReadableLog[]) => Promise<ExportOutcome>
  /** Longest time of `send`. */
  readonly timeoutMs: number
  /** Where it sends to, fit to be shown. */
  readonly to: string | undefined
  readonly delayMs: number
  readonly mostWaiting: number
  readonly dropped: (records: number) => void
}

export interface LogExport extends Log {
  flush(): Promise<void>
  close(): void
}

export function createLogExport(parts: LogExportParts): LogExport {
  const { resource, scope, clock, redactor, log, send, timeoutMs, delayMs, mostWaiting, dropped } = parts
  const report = createReceiverReport('logs', log, parts.to)
  const waiting: ReadableLog[] = []
  /** Of one export: they count as waiting, and are not dropped, since they may be taken. */
  let underWay: readonly ReadableLog[] = []
  let sending: Promise<void> | undefined
  let failures = 0
  let timer: NodeJS.Timeout | undefined

  async function sendWaiting(): Promise<void> {
    while (waiting.length > 0) {
      underWay = waiting.splice(0, MOST_AT_ONCE)
      const { outcome, refused, settled } = await sendInParts(underWay, send, timeoutMs)
      report.tell(outcome)
      if (refused.length > 0) dropped(refused.length)
      waiting.unshift(...underWay.slice(settled))
      underWay = []
      failures = outcome.at === 'away' ? failures + 1 : 0
      if (outcome.at === 'away') return
    }
  }
  const flush = (): Promise<void> =>
    (sending ??= sendWaiting()
      .catch((error: unknown) => report.tell({ at: 'failed', why: (error as Error).message }))
      .finally(() => (sending = undefined)))
  /** A receiver that is away is asked less and less often. */
  function schedule(): void {
    const pause = Math.min(delayMs * 2 ** Math.min(failures, 10), Math.max(delayMs, LONGEST_PAUSE_MS))
    timer = setTimeout(() => void flush().then(() => timer && schedule()), pause)
    timer.unref()
  }
  schedule()

  return {
    write(level, message, values = {}) {
      if (waiting.length + underWay.length >= mostWaiting) {
        dropped(1)
        // The oldest, or this one where all others are on their way.
        if (!waiting.shift()) return
      }
      const at = toHrTime(clock.now())
      const { traceId, ...others } = redactor.json(values)
      waiting.push({
        hrTime: at,
        hrTimeObserved: at,
        severityText: level,
        severityNumber: SEVERITIES[level],
        body: message,
        attributes: toAttributes(others),
        ...(typeof traceId === 'string' && {
          spanContext: { traceId, spanId: spanOfRun({ id: others['runId'] as RunId }), traceFlags: SAMPLED },
        }),
        resource,
        instrumentationScope: scope,
        droppedAttributesCount: 0,
      })
    },
    flush,
    close() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

const toAttributes = (values: Readonly<Record<string, JsonValue | undefined>>): ReadableLog['attributes'] =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      if (value === undefined || value === null) return []
      return [[name, typeof value === 'object' ? JSON.stringify(value) : value]]
    }),
  )
