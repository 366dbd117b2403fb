import type { Diagnostic } from '../text/diagnostic.ts'
import { fingerprintFinding } from './fingerprint.ts'

const SEVERITIES = { error: 'major', warning: 'minor', info: 'info' } as const

/** GitLab's code quality report. A fingerprint stays the same while lines above move. */
export function reportGitlab(findings: readonly Diagnostic[]): string {
  const issues = findings.map((finding) => ({
    description: finding.message,
    check_name: finding.rule,
    fingerprint: fingerprintFinding(finding),
    severity: SEVERITIES[finding.severity],
    location: { path: finding.path, lines: { begin: finding.range.start.line, end: finding.range.end.line } },
  }))
  return `${JSON.stringify(issues)}\n`
}
