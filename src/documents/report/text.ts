import { cutText } from '../../base/text/cut-text.ts'
import { safeText } from '../../base/text/escape-text.ts'
import { widthOf } from '../../terminal/width.ts'
import { createTheme, type TextStyle, type Theme } from '../../terminal/theme.ts'
import type { Diagnostic, LintSeverity } from '../text/diagnostic.ts'
import type { TextSpan } from '../text/source.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { ReportInput } from './summary.ts'

/** Columns of a line that are shown around a fault; longer lines are cut. */
const WINDOW = 120

/**
 * Findings for people, each with the line of the document and the fault underlined. Ends with a line break; empty for none.
 * Source: docs/design/lint.md#messages
 */
export function reportText(findings: readonly Diagnostic[], { workspace, color = false }: ReportInput): string {
  const theme = createTheme(color ? 1 : 0)
  const paints: Record<LintSeverity, TextStyle> = { error: theme.bad, warning: theme.warn, info: theme.dim }
  return findings.map((each) => block(each, workspace, theme, paints[each.severity])).join('\n')
}

/** `error`, `warn` or `info`, as lists show it. */
export const severityWord = (severity: LintSeverity): string => (severity === 'warning' ? 'warn' : severity)

function block(finding: Diagnostic, workspace: Workspace, theme: Theme, paint: TextStyle): string {
  const { path, range, rule, severity, message, why, fix, related, docs } = finding
  const mends = fix !== undefined && fix.edits.length > 0 && !fix.unsafe ? ' (svc lint --fix)' : ''
  const advice = fix === undefined ? '' : `${theme.ok('fix: ')}${safeText(lower(fix.description))}${mends}   `
  const place = theme.strong(`${safeText(path)}:${range.start.line}:${range.start.column}`)
  let text = `${place}  ${paint(severityWord(severity))}  ${theme.dim(rule)}\n`
  text += `  ${safeText(message)}\n${frame(workspace, path, range, paint)}`
  for (const { path, range, message } of related)
    text += `   ${safeText(path)}:${range.start.line}:${range.start.column}  ${safeText(message)}\n`
  if (why !== undefined) text += `  ${theme.dim('why: ')}${safeText(lower(why))}\n`
  return `${text}  ${advice}${theme.dim(`docs: ${safeText(docs)}`)}\n`
}

/** The line before, the line itself, and the underline. Empty where the file has no text to show. */
function frame(workspace: Workspace, path: string, { start, end }: TextSpan, paint: TextStyle): string {
  const text = workspace.line(path, start.line)
  if (text.trim() === '') return ''
  const from = text.length <= WINDOW ? 0 : Math.max(0, start.column - 1 - WINDOW / 2)
  const part = text.slice(from, from + WINDOW)
  const indent = columns(text.slice(from, start.column - 1))
  const marked = text.slice(start.column - 1, end.line === start.line ? end.column - 1 : text.length).trimEnd()
  const width = Math.max(1, Math.min(columns(part) - indent, columns(marked)))
  const previous = start.line > 1 && from === 0 ? workspace.line(path, start.line - 1) : ''
  const before = previous.trim() === '' ? '' : numbered(start.line - 1, shown(cutText(previous, WINDOW).text))
  return `${before}${numbered(start.line, shown(part))}       | ${' '.repeat(indent)}${paint('^'.repeat(width))}\n`
}

/** Text of a file as printed. */
const shown = (text: string): string => safeText(text.replaceAll('\t', ' '))

const columns = (text: string): number => widthOf(shown(text))

const numbered = (line: number, text: string): string => `${String(line).padStart(6)} | ${text}\n`

/** A sentence as it follows a colon: small initial, no full stop. */
const lower = (sentence: string): string =>
  `${/^[A-Z][a-z ]/.test(sentence) ? sentence.charAt(0).toLowerCase() : sentence.charAt(0)}${sentence.slice(1)}`.replace(
    /\.$/,
    '',
  )
