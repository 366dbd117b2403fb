import { safeText, widthOf } from '../../terminal/text.ts'
import { createTheme, type Theme } from '../../terminal/theme.ts'
import type { Diagnostic, Severity } from '../diagnostic.ts'
import type { Source, Span } from '../source.ts'
import type { ReportInput } from './summary.ts'

/** Columns of a line that are shown around a fault; longer lines are cut. */
const WINDOW = 120

/**
 * Findings for people, each with the author's own line and what is wrong underlined. Ends with a line break; empty for none.
 * Source: lint rules, "Message shape".
 */
export function reportText(findings: readonly Diagnostic[], { workspace, color = false }: ReportInput): string {
  const theme = createTheme(color ? 1 : 0)
  return findings.map((each) => `${block(each, workspace.source(each.path), theme).join('\n')}\n`).join('\n')
}

/** `error`, `warn` or `info`, as lists show it. */
export const severityWord = (severity: Severity): string => (severity === 'warning' ? 'warn' : severity)

function block(finding: Diagnostic, source: Source, theme: Theme): string[] {
  const { path, range, rule, message, why, fix, related, docs } = finding
  const paint = { error: theme.bad, warning: theme.warn, info: theme.dim }[finding.severity]
  const last = [
    ...(fix === undefined
      ? []
      : [`fix: ${lower(fix.description)}${fix.edits.length > 0 && !fix.unsafe ? ' (svc lint --fix)' : ''}`]),
    `docs: ${docs}`,
  ]
  return [
    `${safeText(path)}:${range.start.line}:${range.start.column}  ${paint(severityWord(finding.severity))}  ${rule}`,
    `  ${safeText(message)}`,
    ...frame(source, range, paint),
    ...related.map(
      (each) =>
        `   ${safeText(each.path)}:${each.range.start.line}:${each.range.start.column}  ${safeText(each.message)}`,
    ),
    ...(why === undefined ? [] : [`  why: ${safeText(lower(why))}`]),
    `  ${safeText(last.join('   '))}`,
  ]
}

/** The line before, the line itself, and the underline. Empty where the file has no text to show. */
function frame(source: Source, { start, end }: Span, paint: (text: string) => string): string[] {
  const text = source.line(start.line)
  if (text.trim() === '') return []
  const number = (line: number): string => String(line).padStart(6)
  const from = text.length <= WINDOW ? 0 : Math.max(0, start.column - 1 - WINDOW / 2)
  const shown = safeText(text.slice(from, from + WINDOW).replaceAll('\t', ' '))
  const before = safeText(text.slice(from, start.column - 1).replaceAll('\t', ' '))
  const marked = text.slice(start.column - 1, end.line === start.line ? end.column - 1 : text.length).trimEnd()
  const room = Math.max(1, widthOf(shown) - widthOf(before))
  const width = Math.min(room, Math.max(1, widthOf(safeText(marked.replaceAll('\t', ' ')))))
  const previous = source.line(start.line - 1)
  return [
    ...(start.line > 1 && previous.trim() !== '' && from === 0
      ? [`${number(start.line - 1)} | ${safeText(previous.slice(0, WINDOW).replaceAll('\t', ' '))}`]
      : []),
    `${number(start.line)} | ${shown}`,
    `${' '.repeat(6)} | ${' '.repeat(widthOf(before))}${paint('^'.repeat(width))}`,
  ]
}

/** A sentence as it follows a colon: small initial, no full stop. */
const lower = (sentence: string): string =>
  `${/^[A-Z][a-z ]/.test(sentence) ? sentence.charAt(0).toLowerCase() : sentence.charAt(0)}${sentence.slice(1)}`.replace(
    /\.$/,
    '',
  )
