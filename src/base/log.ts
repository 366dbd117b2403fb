import type { JsonValue } from './json/json.ts'
import type { Redactor } from './secret.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Writes log lines: a fixed message and named values. External text is passed as a value, never in the message. */
export interface Log {
  write(level: LogLevel, message: string, values?: Record<string, JsonValue | undefined>): void
}

export const silentLog: Log = { write() {} }

/** A log that gets values without their secrets. */
export const withRedactedValues = (log: Log, redactor: Pick<Redactor, 'json'>): Log => ({
  write: (level, message, values) => log.write(level, message, values && redactor.json(values)),
})
