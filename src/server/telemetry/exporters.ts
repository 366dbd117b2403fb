/**
 * The exporters of OpenTelemetry: packages that are installed beside svc, and imported only where something is exported.
 * Source: docs/design/telemetry.md#packages
 */
import type { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import type { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import type { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import type { Resource } from '@opentelemetry/resources'
import { fail } from '../../base/failure.ts'
import type { OtlpTarget, TelemetrySignal, TelemetrySettings } from './settings.ts'

/** The release that svc is tested with. */
const EXPORTER_VERSION = '0.223.0'
const RESOURCES_VERSION = '2.12.0'

export type ReadableSpan = Parameters<OTLPTraceExporter['export']>[0][number]
export type ReadableLog = Parameters<OTLPLogExporter['export']>[0][number]
export type ResourceMetrics = Parameters<OTLPMetricExporter['export']>[0]
export type InstrumentationScope = ReadableSpan['instrumentationScope']

interface Exporter<T> {
  export(items: T, done: (result: { code: number; error?: Error }) => void): void
  shutdown(): Promise<void>
}

export interface OtlpExporters {
  readonly resource: Resource
  readonly traces?: Exporter<ReadableSpan[]>
  readonly metrics?: Exporter<ResourceMetrics>
  readonly logs?: Exporter<ReadableLog[]>
}

interface ExporterConfig {
  url: string
  headers: Record<string, string>
  timeoutMillis: number
  compression: never
}

/** Loads the exporter of a signal, by the protocol that it speaks. */
const LOADERS = {
  traces: {
    'http/protobuf': async () => (await import('@opentelemetry/exporter-trace-otlp-proto')).OTLPTraceExporter,
    'http/json': async () => (await import('@opentelemetry/exporter-trace-otlp-http')).OTLPTraceExporter,
  },
  metrics: {
    'http/protobuf': async () => (await import('@opentelemetry/exporter-metrics-otlp-proto')).OTLPMetricExporter,
    'http/json': async () => (await import('@opentelemetry/exporter-metrics-otlp-http')).OTLPMetricExporter,
  },
  logs: {
    'http/protobuf': async () => (await import('@opentelemetry/exporter-logs-otlp-proto')).OTLPLogExporter,
    'http/json': async () => (await import('@opentelemetry/exporter-logs-otlp-http')).OTLPLogExporter,
  },
}

const packageOf = (signal: TelemetrySignal, { protocol }: OtlpTarget): string =>
  `@opentelemetry/exporter-${signal === 'traces' ? 'trace' : signal}-otlp-${protocol === 'http/json' ? 'http' : 'proto'}`

/** Packages that the settings need, as npm installs them. */
export function neededPackages({ targets }: Pick<TelemetrySettings, 'targets'>): readonly string[] {
  const exporters = otlpTargets(targets).map(([signal, target]) => `${packageOf(signal, target)}@${EXPORTER_VERSION}`)
  return [...exporters, `@opentelemetry/resources@${RESOURCES_VERSION}`]
}

const otlpTargets = (targets: TelemetrySettings['targets']): readonly (readonly [TelemetrySignal, OtlpTarget])[] =>
  (Object.entries(targets) as [TelemetrySignal, OtlpTarget | { to: 'console' }][]).flatMap(([signal, target]) =>
    target.to === 'otlp' ? [[signal, target]] : [],
  )

/**
 * @param resource what is said of the server, before the variables
 * @throws Failure `telemetry_packages_missing`
 */
export async function openExporters(
  settings: Pick<TelemetrySettings, 'targets'>,
  resource: Readonly<Record<string, string>>,
): Promise<OtlpExporters> {
  try {
    const { detectResources, envDetector, resourceFromAttributes } = await import('@opentelemetry/resources')
    const opened = await Promise.all(
      otlpTargets(settings.targets).map(async ([signal, target]) => {
        const Exporter = (await LOADERS[signal][target.protocol]()) as new (config: ExporterConfig) => unknown
        return [signal, new Exporter(configOf(target))] as const
      }),
    )
    const detected = detectResources({ detectors: [envDetector] })
    return { resource: resourceFromAttributes(resource).merge(detected), ...Object.fromEntries(opened) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    const packages = neededPackages(settings)
    throw fail(
      'telemetry_packages_missing',
      { packages: packages.join(', ') },
      { cause: error, fix: `npm install ${packages.join(' ')}` },
    )
  }
}

const configOf = ({ url, headers, timeoutMs, compression }: OtlpTarget): ExporterConfig => ({
  url,
  headers: { ...headers },
  timeoutMillis: timeoutMs,
  // An enumeration of a package that is not loaded yet; these are its values.
  compression: compression as never,
})

/** How an export ended. */
export type ExportOutcome =
  | { readonly at: 'sent' }
  /** The receiver cannot take it now. */
  | { readonly at: 'away'; readonly why: string }
  /** The receiver will never take it. */
  | {
      readonly at: 'refused'
      readonly why: string
      /** Of its answer. */
      readonly status?: number
      /** For what was sent, or how much of it: a part may be taken. */
      readonly isOfContent: boolean
    }

const SUCCESS = 0
const LATE = 'the receiver did not take it in time'
/** An exporter that ends by itself can say more. */
const GRACE_MS = 1000

/**
 * Never rejects.
 * @param timeoutMs for all tries together: an exporter itself waits for as long as a receiver goes on answering
 */
export function exportItems<T>(exporter: Exporter<T>, items: T, timeoutMs: number): Promise<ExportOutcome> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve({ at: 'away', why: LATE }), timeoutMs + GRACE_MS)
    timer.unref()
    const end = (outcome: ExportOutcome): void => {
      clearTimeout(timer)
      resolve(outcome)
    }
    try {
      exporter.export(items, ({ code, error }) => end(code === SUCCESS ? { at: 'sent' } : outcomeOf(error)))
    } catch (error) {
      end(outcomeOf(error))
    }
  })
}

/** Bad data, and too much of it. */
const OF_CONTENT: ReadonlySet<number> = new Set([400, 413])

/** The exporters name a status only where the protocol allows no further try. The answer itself may hold anything, and is not told. */
function outcomeOf(error: unknown): ExportOutcome {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  if (typeof code === 'number')
    return { at: 'refused', why: `the receiver answered ${code}`, status: code, isOfContent: OF_CONTENT.has(code) }
  // Whatever it took would be sent again for an hour.
  if (typeof message === 'string' && message.includes('body exceeded size limit'))
    return { at: 'refused', why: 'the receiver answered without end', isOfContent: false }
  if (message === 'Export failed with retryable status')
    return { at: 'away', why: 'the receiver asks for patience (429, 502, 503 or 504)' }
  return { at: 'away', why: typeof code === 'string' ? code : LATE }
}
