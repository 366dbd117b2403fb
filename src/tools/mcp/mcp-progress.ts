/** Reports of MCP servers about calls under way: seldom, short, and of one line each. */
import type { Clock } from '../../base/clock.ts'
import { shortenText } from '../../base/text/cut-text.ts'
import type { Redactor } from '../../base/secret.ts'
import type { ToolProgress } from '../tool.ts'

/** Between two reports of a call; those in between are left out. */
const REPORT_MS = 5000

/** Characters of a message. */
const MAX_MESSAGE = 200

/** Takes the reports of one call as its server sends them, at any rate, and passes some of them on. */
export function createProgressReporter(
  { monotonic }: Pick<Clock, 'monotonic'>,
  redactor: Redactor,
  onProgress: (progress: ToolProgress) => void,
): (given: unknown) => void {
  let next = -Infinity
  return (given) => {
    const now = monotonic()
    if (now < next) return
    const report = toProgress(given, redactor)
    if (Object.keys(report).length === 0) return
    next = now + REPORT_MS
    onProgress(report)
  }
}

function toProgress(given: unknown, redactor: Redactor): ToolProgress {
  const { progress, total, message } = Object(given) as Readonly<Record<string, unknown>>
  const line = typeof message === 'string' ? toLine(message, redactor) : ''
  return {
    ...(isNumber(progress) && { progress }),
    ...(isNumber(total) && { total }),
    ...(line !== '' && { message: line }),
  }
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

/** Without line breaks, control characters, invisible ones and secrets. */
function toLine(text: string, redactor: Redactor): string {
  const line = shortenText(text, 4 * MAX_MESSAGE)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
  const { text: kept, cut } = redactor.cut(line, MAX_MESSAGE)
  return cut === 0 ? kept : `${kept}…`
}
