/**
 * What a receiver did not take of an export that it took: the exporters tell only the diagnostics of OpenTelemetry.
 * Source: docs/design/telemetry.md#when-a-receiver-is-away
 */
import type { TelemetrySignal } from './settings.ts'

/** The members in which receivers count. */
const REJECTED: readonly (readonly [member: string, signal: TelemetrySignal])[] = [
  ['rejectedSpans', 'traces'],
  ['rejectedDataPoints', 'metrics'],
  ['rejectedLogRecords', 'logs'],
]

const MESSAGE = 'Received Partial Success response:'

/**
 * One watch at a time: the diagnostics are those of the process.
 * @param rejected count above 0
 * @returns ends it
 */
export async function watchPartialSuccess(
  rejected: (signal: TelemetrySignal, count: number) => void,
): Promise<() => void> {
  // The exporters have it. Where it lies for them alone, nothing is known of parts.
  const api = await import('@opentelemetry/api').catch(() => undefined)
  if (!api) return () => {}
  const { diag, DiagLogLevel } = api
  const ignore = (): void => {}
  const warn = (message: string, ...args: readonly unknown[]): void => {
    if (message !== MESSAGE || typeof args[0] !== 'string') return
    for (const [signal, count] of readRejected(args[0])) rejected(signal, count)
  }
  const logger = { verbose: ignore, debug: ignore, info: ignore, error: ignore, warn }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
  return () => diag.disable()
}

/** Numbers of 64 bits are text in the JSON of the protocol. */
function readRejected(text: string): readonly (readonly [TelemetrySignal, number])[] {
  const said = JSON.parse(text) as Readonly<Record<string, unknown>>
  return REJECTED.flatMap(([member, signal]) => {
    const count = Number(said[member] ?? 0)
    return Number.isSafeInteger(count) && count > 0 ? [[signal, count] as const] : []
  })
}
