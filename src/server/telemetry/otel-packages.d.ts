/**
 * What is used of the optional packages of OpenTelemetry, so that svc compiles where they are not installed. The tests export with the
 * packages themselves to a receiver of the published protocol.
 */
declare module '@opentelemetry/resources' {
  import type { Attributes } from '@opentelemetry/api'
  export interface Resource {
    readonly attributes: Attributes
    merge(other: Resource | null): Resource
  }
  export interface ResourceDetector {
    detect(): unknown
  }
  export const envDetector: ResourceDetector
  export function detectResources(config: { readonly detectors: readonly ResourceDetector[] }): Resource
  export function resourceFromAttributes(attributes: Attributes): Resource
}

declare module '@opentelemetry/exporter-trace-otlp-proto' {
  import type { Attributes, HrTime, Link, SpanContext, SpanKind, SpanStatus } from '@opentelemetry/api'
  import type { Resource } from '@opentelemetry/resources'
  interface Span {
    readonly name: string
    readonly kind: SpanKind
    readonly spanContext: () => SpanContext
    readonly parentSpanContext?: SpanContext
    readonly startTime: HrTime
    readonly endTime: HrTime
    readonly status: SpanStatus
    readonly attributes: Attributes
    readonly links: Link[]
    readonly events: never[]
    readonly duration: HrTime
    readonly ended: boolean
    readonly resource: Resource
    readonly instrumentationScope: { readonly name: string; readonly version?: string; readonly schemaUrl?: string }
    readonly droppedAttributesCount: number
    readonly droppedEventsCount: number
    readonly droppedLinksCount: number
  }
  export class OTLPTraceExporter {
    constructor(config?: object)
    export(items: Span[], done: (result: { code: number; error?: Error }) => void): void
    shutdown(): Promise<void>
  }
}

declare module '@opentelemetry/exporter-metrics-otlp-proto' {
  import type { Attributes, HrTime, ValueType } from '@opentelemetry/api'
  import type { Resource } from '@opentelemetry/resources'
  interface Point<T> {
    readonly startTime: HrTime
    readonly endTime: HrTime
    readonly attributes: Attributes
    readonly value: T
  }
  interface Histogram {
    readonly buckets: { readonly boundaries: number[]; readonly counts: number[] }
    readonly sum?: number
    readonly count: number
  }
  interface About {
    readonly descriptor: {
      readonly name: string
      readonly description: string
      readonly unit: string
      readonly valueType: ValueType
    }
    readonly aggregationTemporality: number
  }
  type Metric = About &
    (
      | { readonly dataPointType: 0; readonly dataPoints: Point<Histogram>[] }
      | { readonly dataPointType: 2; readonly dataPoints: Point<number>[] }
      | { readonly dataPointType: 3; readonly dataPoints: Point<number>[]; readonly isMonotonic: boolean }
    )
  interface Metrics {
    resource: Resource
    scopeMetrics: { scope: { readonly name: string; readonly version?: string }; metrics: Metric[] }[]
  }
  export class OTLPMetricExporter {
    constructor(config?: object)
    export(items: Metrics, done: (result: { code: number; error?: Error }) => void): void
    shutdown(): Promise<void>
  }
}

declare module '@opentelemetry/exporter-logs-otlp-proto' {
  import type { Attributes, HrTime, SpanContext } from '@opentelemetry/api'
  import type { Resource } from '@opentelemetry/resources'
  interface LogRecord {
    readonly hrTime: HrTime
    readonly hrTimeObserved: HrTime
    readonly spanContext?: SpanContext
    readonly severityText?: string
    readonly severityNumber?: number
    readonly body?: string
    readonly resource: Resource
    readonly instrumentationScope: { readonly name: string; readonly version?: string }
    readonly attributes: Attributes
    readonly droppedAttributesCount: number
  }
  export class OTLPLogExporter {
    constructor(config?: object)
    export(items: LogRecord[], done: (result: { code: number; error?: Error }) => void): void
    shutdown(): Promise<void>
  }
}

declare module '@opentelemetry/exporter-trace-otlp-http' {
  export { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
}
declare module '@opentelemetry/exporter-metrics-otlp-http' {
  export { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
}
declare module '@opentelemetry/exporter-logs-otlp-http' {
  export { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
}
