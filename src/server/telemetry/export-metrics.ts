/**
 * Exports the metrics of `/metrics` over OTLP: the same numbers, read when they leave. Names lose the endings that Prometheus puts for
 * type and unit, which its receiver of OTLP adds again. Source: docs/design/telemetry.md#metrics
 */
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { BUCKETS, type HistogramValue, type MetricFamily, type MetricSample } from '../metrics/registry.ts'
import type { ExportOutcome, InstrumentationScope, OtlpExporters, ResourceMetrics } from './exporters.ts'
import { toHrTime } from './readable-span.ts'
import { createReceiverReport } from './receiver-report.ts'

/** Enumerations of the SDK, which is not loaded where nothing is exported. */
const HISTOGRAM = 0
const GAUGE = 2
const SUM = 3
const CUMULATIVE = 1
const DOUBLE = 1

type OtlpMetric = ResourceMetrics['scopeMetrics'][number]['metrics'][number]

export interface MetricExportParts {
  readonly resource: OtlpExporters['resource']
  readonly scope: InstrumentationScope
  readonly clock: Pick<Clock, 'now'>
  readonly log: Log
  readonly send: (metrics: ResourceMetrics) => Promise<ExportOutcome>
  /** Where it sends to, fit to be shown. */
  readonly to: string | undefined
  readonly intervalMs: number
}

export interface MetricExport {
  /** One at a time: what a slow receiver did not take, the next export tells, as values add up. */
  flush(): Promise<void>
  close(): void
}

export function createMetricExport(
  { resource, scope, clock, log, send, to, intervalMs }: MetricExportParts,
  collect: () => readonly MetricFamily[],
): MetricExport {
  const startedAt = clock.now()
  const report = createReceiverReport('metrics', log, to)
  let sending: Promise<void> | undefined
  async function exportNow(): Promise<void> {
    const metrics = collect().map((family) => toOtlpMetric(family, startedAt, clock.now()))
    const outcome = await send({ resource, scopeMetrics: [{ scope: { ...scope }, metrics }] })
    report.tell(outcome)
  }
  const flush = (): Promise<void> =>
    (sending ??= exportNow()
      .catch((error: unknown) => report.tell({ at: 'failed', why: (error as Error).message }))
      .finally(() => (sending = undefined)))
  const timer = setInterval(() => void flush(), intervalMs).unref()
  return { flush, close: () => clearInterval(timer) }
}

export function toOtlpMetric({ name, kind, help, samples }: MetricFamily, from: number, to: number): OtlpMetric {
  const { base, unit } = splitName(name)
  const about = {
    descriptor: { name: base, description: help, unit, valueType: DOUBLE },
    aggregationTemporality: CUMULATIVE,
  }
  const at = { startTime: toHrTime(from), endTime: toHrTime(to) }
  if (kind === 'histogram')
    return {
      ...about,
      dataPointType: HISTOGRAM,
      dataPoints: samples.map(({ labels, value }) => ({ ...at, attributes: labels, value: toHistogram(value) })),
    }
  const dataPoints = samples.map(({ labels, value }) => ({ ...at, attributes: labels, value: Number(value) }))
  return kind === 'counter'
    ? { ...about, dataPointType: SUM, isMonotonic: true, dataPoints }
    : { ...about, dataPointType: GAUGE, dataPoints }
}

/** `svc_commit_seconds` is `svc_commit` in seconds, `svc_tasks_total` a sum named `svc_tasks`. */
function splitName(name: string): { readonly base: string; readonly unit: string } {
  const [, base = name, ending] = /^(.*?)(?:_(seconds|bytes))?(?:_total)?$/.exec(name) ?? []
  return { base, unit: UNITS[ending ?? ''] ?? '' }
}

const UNITS: Readonly<Record<string, string>> = { seconds: 's', bytes: 'By' }

/** OTLP counts each bucket alone, where the text of Prometheus adds up those before. */
function toHistogram(value: MetricSample['value']) {
  const { inBuckets, count, sum } = value as HistogramValue
  const upTo = [...inBuckets, count]
  return { buckets: { boundaries: BUCKETS, counts: upTo.map((each, at) => each - (upTo[at - 1] ?? 0)) }, count, sum }
}
