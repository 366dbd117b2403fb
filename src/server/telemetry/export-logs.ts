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

/** Records of one export. */
const MOST_AT_ONCE = 512
const SAMPLED = 0x01

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
  readonly delayMs: number
  readonly mostWaiting: number
  readonly dropped: (records: number) => void
}

export interface LogExport extends Log {
  flush(): Promise<void>
  close(): void
}

export function createLogExport(parts: LogExportParts): LogExport {
  const { resource, scope, clock, redactor, log, send, delayMs, mostWaiting, dropped } = parts
  const report = createReceiverReport('logs', log)
  let waiting: ReadableLog[] = []
  let sending: Promise<void> | undefined

  async function sendWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MOST_AT_ONCE)
      const outcome = await send(batch)
      if (outcome.at === 'sent') report.recovered()
      else report.failed(outcome.why)
      // Lines were dropped meanwhile, the oldest first, or none.
      if (outcome.at === 'away') return
      if (outcome.at === 'refused') dropped(batch.length)
      const sent = new Set(batch)
      waiting = waiting.filter((each) => !sent.has(each))
    }
  }
  const flush = (): Promise<void> =>
    (sending ??= sendWaiting()
      .catch((error: unknown) => report.failed((error as Error).message))
      .finally(() => (sending = undefined)))
  const timer = setInterval(() => void flush(), delayMs).unref()

  return {
    write(level, message, values = {}) {
      if (waiting.length >= mostWaiting) {
        waiting.shift()
        dropped(1)
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
    close: () => clearInterval(timer),
  }
}

const toAttributes = (values: Readonly<Record<string, JsonValue | undefined>>): ReadableLog['attributes'] =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      if (value === undefined || value === null) return []
      return [[name, typeof value === 'object' ? JSON.stringify(value) : value]]
    }),
  )
