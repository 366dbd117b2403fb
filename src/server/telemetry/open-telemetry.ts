/** Opens what exports telemetry, and closes it in bounded time. Source: docs/design/telemetry.md#when-a-receiver-is-away */
import type { Log } from '../../base/log.ts'
import type { Redactor } from '../../base/secret.ts'
import { within } from '../../base/signal-within.ts'
import type { WorkspaceId } from '../../base/ids.ts'
import type { Store } from '../../store/store.ts'
import { exportItems, openExporters, type ExportOutcome, type InstrumentationScope } from './exporters.ts'
import { createTraceExport, type TraceExport } from './export-traces.ts'
import { GENAI_SCHEMA_URL } from './genai-mapping.ts'
import { toReadableSpan } from './readable-span.ts'
import type { TracedSpan } from './session-spans.ts'
import type { TelemetrySettings } from './settings.ts'

/** For the last exports at the end of a server. */
const FLUSH_MS = 1000

export interface TelemetryParts {
  readonly settings: TelemetrySettings
  readonly version: string
  readonly workspace: { readonly id: WorkspaceId; readonly name: string }
  readonly redactor: Redactor
  readonly log: Log
}

export interface OpenTelemetry {
  /** Whether spans are exported. */
  readonly hasTraces: boolean
  /** Exports spans of the store from now on. */
  exportTraces(store: Store): void
  close(): Promise<void>
}

/** @throws Failure `telemetry_packages_missing` */
export async function openTelemetry(parts: TelemetryParts): Promise<OpenTelemetry> {
  const { settings, version, workspace, redactor, log } = parts
  const exporters = await openExporters(settings, {
    'service.name': 'svc',
    'service.version': version,
    'service.namespace': workspace.name,
  })
  const { targets } = settings
  let traces: TraceExport | undefined

  function spanSender(): (spans: readonly TracedSpan[]) => Promise<ExportOutcome> {
    const scope: InstrumentationScope = { name: 'svc', version, schemaUrl: GENAI_SCHEMA_URL }
    const toReadable = toReadableSpan(exporters.resource, scope)
    return async (spans) => {
      // Whatever a name or an attribute holds: secrets leave nowhere.
      const clean = spans.map((span) => ({
        ...span,
        name: redactor.text(span.name),
        attributes: redactor.json(span.attributes),
      }))
      if (exporters.traces) return await exportItems(exporters.traces, clean.map(toReadable))
      for (const { name, traceId, spanId, startedAt, endedAt, attributes } of clean)
        log.write('info', 'span', {
          name,
          traceId,
          spanId,
          ms: endedAt - startedAt,
          attributes: { ...attributes } as never,
        })
      return { at: 'sent' }
    }
  }

  return {
    hasTraces: targets.traces !== undefined,
    exportTraces(store) {
      if (!targets.traces) return
      traces = createTraceExport({
        store,
        workspaceId: workspace.id,
        log,
        send: spanSender(),
        timeoutMs: targets.traces.to === 'otlp' ? targets.traces.timeoutMs : 0,
        sampler: settings.sampler,
        withContent: settings.withContent,
        delayMs: settings.traceDelayMs,
        dropped: () => {},
      })
      traces.begin()
    },
    async close() {
      await within(FLUSH_MS, traces?.flush() ?? Promise.resolve())
      const ended = Promise.all([traces?.close(), exporters.traces?.shutdown()])
      await within(FLUSH_MS, ended)
    },
  }
}
