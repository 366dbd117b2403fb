import type { JsonValue } from './json/json.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Writes log lines: a fixed message and named values. External text is passed as a value, never in the message. */
export interface Log {
  write(level: LogLevel, message: string, values?: Record<string, JsonValue | undefined>): void
}

export const silentLog: Log = { write() {} }
