/** Says once that a receiver does not take what is exported, and once that it does again. */
import type { Log } from '../../base/log.ts'
import type { ExportOutcome } from './exporters.ts'
import type { TelemetrySignal } from './settings.ts'

type NotTaken = { readonly at: 'failed'; readonly why: string } | ExportOutcome

export interface ReceiverReport {
  tell(outcome: NotTaken): void
}

/** @param to its address, fit to be shown; undefined for the log of the server */
export function createReceiverReport(signal: TelemetrySignal, log: Log, to: string | undefined): ReceiverReport {
  let isDown = false
  return {
    tell(outcome) {
      const { at } = outcome
      if (at === 'sent' && isDown) log.write('info', 'telemetry is taken again', { signal })
      if (at !== 'sent' && !isDown) {
        const fix = at === 'refused' && outcome.status !== undefined ? remedyOf(outcome.status, signal) : undefined
        log.write('warn', 'telemetry is not taken by its receiver; runs go on', {
          signal,
          ...(to !== undefined && { to }),
          why: outcome.why,
          ...(fix !== undefined && { fix }),
        })
      }
      isDown = at !== 'sent'
    },
  }
}

/** The variable with which somebody may have meant another receiver, or another way to send. */
function remedyOf(status: number, signal: TelemetrySignal): string | undefined {
  const name = signal.toUpperCase()
  if (status === 401 || status === 403) return `Give it a key: OTEL_EXPORTER_OTLP_${name}_HEADERS.`
  if (status === 404 || status === 405 || (status >= 300 && status < 400))
    return `Name the address that takes ${signal}, OTEL_EXPORTER_OTLP_${name}_ENDPOINT, or set OTEL_${name}_EXPORTER=none.`
  if (status === 415)
    return `Set OTEL_EXPORTER_OTLP_${name}_COMPRESSION=none, or another OTEL_EXPORTER_OTLP_${name}_PROTOCOL.`
  return undefined
}
