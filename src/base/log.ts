import type { JsonValue } from './json.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** A line of the log: a fixed message and named values. Text from outside is only ever a value. */
export interface Log {
  write(level: LogLevel, message: string, values?: Record<string, JsonValue | undefined>): void
}

export const silentLog: Log = { write() {} }
