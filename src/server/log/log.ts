/** The server's log: JSON lines. Source: docs/design/security.md#secrets */
import { pino, type DestinationStream } from 'pino'
import { escapeAsJson } from '../../base/text/escape-text.ts'
import type { LogLevel, Log } from '../../base/log.ts'
import type { Redactor } from '../../base/secret.ts'

/**
 * Secrets are redacted at any depth before a line is written: the logger's own redaction supports fixed paths only.
 * @param destination standard error when absent
 */
export function createLog(
  redactor: Redactor,
  level: LogLevel = 'info',
  destination: DestinationStream = pino.destination({ dest: 2, sync: true }),
): Log {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    {
      write(line) {
        try {
          // Standard error may be a terminal.
          destination.write(escapeAsJson(line))
        } catch {
          // It may be a file on a full disk, too: what is told of the work must not stop it.
        }
      },
    },
  )
  return {
    write(level, message, values = {}) {
      if (logger.isLevelEnabled(level)) logger[level](redactor.json(values), message)
    },
  }
}
