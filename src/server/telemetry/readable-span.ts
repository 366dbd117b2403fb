/** Spans as the exporters of OpenTelemetry take them. */
import type { HrTime } from '@opentelemetry/api'
import type { Instant } from '../../base/clock.ts'
import type { InstrumentationScope, OtlpExporters, ReadableSpan } from './exporters.ts'
import type { TracedSpan } from './session-spans.ts'

/** Enumerations of the API, which is not loaded where nothing is exported. */
const KINDS = { internal: 0, client: 2 }
const STATUS_UNSET = 0
const STATUS_ERROR = 2

export const toHrTime = (at: Instant): HrTime => [Math.floor(at / 1000), Math.round((at % 1000) * 1e6)]

export const toReadableSpan =
  (resource: OtlpExporters['resource'], instrumentationScope: InstrumentationScope) =>
  (span: TracedSpan): ReadableSpan => {
    const { name, kind, traceId, spanId, flags: traceFlags, parent, link, startedAt, endedAt, isFailed } = span
    return {
      name,
      kind: KINDS[kind],
      spanContext: () => ({ traceId, spanId, traceFlags }),
      ...(parent && { parentSpanContext: { traceId, traceFlags, ...parent } }),
      startTime: toHrTime(startedAt),
      endTime: toHrTime(endedAt),
      duration: toHrTime(endedAt - startedAt),
      status: { code: isFailed ? STATUS_ERROR : STATUS_UNSET },
      attributes: span.attributes,
      links: link ? [{ context: { traceId: link.traceId, spanId: link.spanId, traceFlags: link.flags } }] : [],
      events: [],
      ended: true,
      resource,
      instrumentationScope,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    }
  }
