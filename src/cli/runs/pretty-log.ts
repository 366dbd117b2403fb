/** Lines of the server's log for people. Source: docs/design/command-line.md#serving */
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '../../base/json/json.ts'
import type { Screen } from '../../terminal/screen.ts'
import { safeJson, safeText } from '../../base/text/escape-text.ts'
import { timeOfDay } from '../../terminal/time.ts'

/** Takes the JSON lines of the log, which have passed the redactor. */
export function prettyLog(screen: Screen): { write(line: string): void } {
  return { write: (line) => screen.lines(drawLogLine(screen, line)) }
}

function drawLogLine({ theme }: Screen, line: string): string {
  const value = JSON.parse(line) as JsonValue
  const { time, level, msg, ...values } = (isJsonObject(value) ? value : {}) as JsonObject
  const usual = level === 'warn' ? theme.waiting : theme.dim
  const style = level === 'error' || level === 'fatal' ? theme.bad : usual
  return [
    theme.dim(timeOfDay(Date.parse(textOf(time)))),
    style(textOf(level).padEnd(5)),
    safeText(textOf(msg)),
    ...Object.entries(values).map(([key, each]) => theme.dim(`${safeText(key)}=${safeJson(each)}`)),
  ].join('  ')
}
