import { digestOfJson } from '../../base/digest.ts'
import type { Diagnostic } from '../diagnostic.ts'

const SEVERITIES = { error: 'major', warning: 'minor', info: 'info' } as const

/** GitLab's code quality report. A fingerprint stays the same while lines above move. */
export function reportGitlab(findings: readonly Diagnostic[]): string {
  const issues = findings.map(({ rule, message, severity, path, pointer, range }) => ({
    description: message,
    check_name: rule,
    fingerprint: digestOfJson([rule, path, pointer, message]).slice('sha256:'.length),
    severity: SEVERITIES[severity],
    location: { path, lines: { begin: range.start.line, end: range.end.line } },
  }))
  return `${JSON.stringify(issues)}\n`
}
