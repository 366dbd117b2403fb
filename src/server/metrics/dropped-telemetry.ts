/** Telemetry that nobody will get: what a receiver refused, or did not take for too long. */
import type { Counter, MetricRegistry } from './registry.ts'

export const countDroppedTelemetry = (registry: MetricRegistry): Counter<'signal'> =>
  registry.counter('svc_telemetry_dropped_total', 'Spans and log records that no receiver took.', ['signal'])
