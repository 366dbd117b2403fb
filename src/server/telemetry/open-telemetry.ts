/** Opens what exports telemetry, and closes it in bounded time. Source: docs/design/telemetry.md#when-a-receiver-is-away */
import { hostname } from 'node:os'
import { type MetricRegistry, printMetrics, type MetricFamily } from '../metrics/registry.ts'
import type { Clock } from '../../base/clock.ts'
import { toJson } from '../../base/json/typed-json.ts'
import type { Log } from '../../base/log.ts'
import { showAddress } from '../../base/net/show-address.ts'
import type { Redactor } from '../../base/secret.ts'
import { within } from '../../base/signal-within.ts'
import type { WorkspaceId } from '../../base/ids.ts'
import type { Store } from '../../store/store.ts'
import { createLogExport } from './export-logs.ts'
import { createMetricExport } from './export-metrics.ts'
import { createTraceExport } from './export-traces.ts'
import {
  exportItems,
  openExporters,
  type ExportOutcome,
  type InstrumentationScope,
  type ResourceMetrics,
} from './exporters.ts'
import { GENAI_SCHEMA_URL } from './genai-mapping.ts'
import { watchPartialSuccess } from './partial-success.ts'
import { toReadableSpan } from './readable-span.ts'
import type { TracedSpan } from './session-spans.ts'
import type { TelemetrySettings, TelemetrySignal } from './settings.ts'

/** For the last exports at the end of a server. */
const FLUSH_MS = 1000

export interface TelemetryParts {
  readonly settings: TelemetrySettings
  readonly version: string
  readonly workspace: { readonly id: WorkspaceId; readonly name: string }
  readonly redactor: Redactor
  /** The lines of this log are not exported. */
  readonly log: Log
  readonly clock: Pick<Clock, 'now'>
  readonly metrics?: MetricRegistry
}

export interface OpenTelemetry {
  /** Whether spans are exported. */
  readonly hasTraces: boolean
  readonly hasMetrics: boolean
  /** Exports what is written to it; absent where logs are not exported. */
  readonly log?: Log
  /** Exports spans of the store from now on. */
  exportTraces(store: Store): void
  exportMetrics(collect: () => readonly MetricFamily[]): void
  close(): Promise<void>
}

/** @throws Failure `telemetry_packages_missing` */
export async function openTelemetry(parts: TelemetryParts): Promise<OpenTelemetry> {
  const { settings, version, workspace, redactor, log, clock, metrics: registry } = parts
  const exporters = await openExporters(settings, {
    'service.name': 'svc',
    'service.version': version,
    'service.namespace': workspace.name,
    'service.instance.id': `${hostname()}:${process.pid}`,
  })
  const { resource } = exporters
  const { targets } = settings
  const scope: InstrumentationScope = { name: 'svc', version }
  /** What a receiver refused, or did not take for too long. */
  const drops = registry?.counter('svc_telemetry_dropped_total', 'Spans and log records that no receiver took.', [
    'signal',
  ])
  const dropped = (signal: TelemetrySignal) => (count: number) => drops?.add({ signal }, count)
  const timeoutOf = (signal: TelemetrySignal): number => {
    const { [signal]: target } = targets
    return target?.to === 'otlp' ? target.timeoutMs : 0
  }
  const addressOf = (signal: TelemetrySignal): string | undefined => {
    const { [signal]: target } = targets
    return target?.to === 'otlp' ? showAddress(target.url) : undefined
  }

  const told = new Set<TelemetrySignal>()
  const endWatch = await watchPartialSuccess((signal, count) => {
    // Values of metrics add up, and come with the next export.
    if (signal !== 'metrics') dropped(signal)(count)
    if (told.has(signal)) return
    told.add(signal)
    log.write('warn', 'telemetry is taken in part by its receiver; runs go on', {
      signal,
      to: addressOf(signal) ?? null,
      rejected: count,
    })
  })
  /** What is flushed at the end, and stopped. */
  const open: { flush(): Promise<void>; close(): void | Promise<void> }[] = []

  const logs = exporters.logs
  const logExport =
    logs &&
    createLogExport({
      resource,
      scope,
      clock,
      redactor,
      log,
      send: (records) => exportItems(logs, [...records], timeoutOf('logs')),
      timeoutMs: timeoutOf('logs'),
      to: addressOf('logs'),
      delayMs: settings.logDelayMs,
      mostWaiting: settings.logQueue,
      dropped: dropped('logs'),
    })
  if (logExport) open.push(logExport)

  const toReadable = toReadableSpan(resource, { ...scope, schemaUrl: GENAI_SCHEMA_URL })
  async function sendSpans(spans: readonly TracedSpan[]): Promise<ExportOutcome> {
    // Whatever a name or an attribute holds: secrets leave nowhere.
    const clean = spans.map((span) => ({
      ...span,
      name: redactor.text(span.name),
      attributes: redactor.json(span.attributes),
    }))
    if (exporters.traces) return await exportItems(exporters.traces, clean.map(toReadable), timeoutOf('traces'))
    for (const { name, traceId, spanId, startedAt, endedAt, attributes } of clean)
      log.write('info', 'span', { name, traceId, spanId, ms: endedAt - startedAt, ...toJson({ attributes }) })
    return { at: 'sent' }
  }

  return {
    hasTraces: targets.traces !== undefined,
    hasMetrics: targets.metrics !== undefined,
    ...(logExport && { log: logExport }),
    exportTraces(store) {
      if (!targets.traces) return
      const traces = createTraceExport({
        store,
        workspaceId: workspace.id,
        log,
        send: sendSpans,
        timeoutMs: timeoutOf('traces'),
        to: addressOf('traces'),
        sampler: settings.sampler,
        withContent: settings.withContent,
        delayMs: settings.traceDelayMs,
        dropped: dropped('traces'),
      })
      traces.begin()
      open.push(traces)
    },
    exportMetrics(collect) {
      if (!targets.metrics) return
      const { metrics } = exporters
      const send = async (values: ResourceMetrics): Promise<ExportOutcome> => {
        if (metrics) return await exportItems(metrics, values, timeoutOf('metrics'))
        log.write('info', 'metrics', { text: printMetrics(collect()) })
        return { at: 'sent' }
      }
      open.push(
        createMetricExport(
          { resource, scope, clock, log, send, to: addressOf('metrics'), intervalMs: settings.metricIntervalMs },
          collect,
        ),
      )
    },
    async close() {
      await within(FLUSH_MS, Promise.all(open.map((each) => each.flush())))
      const { traces, metrics } = exporters
      const closed = open.map(async (each) => await each.close())
      const ended = [traces, metrics, logs].map(async (each) => await each?.shutdown())
      await within(FLUSH_MS, Promise.all([...closed, ...ended]))
      endWatch()
    },
  }
}
