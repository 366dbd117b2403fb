/** The forms in which findings are printed, by the name that `--format` takes. */
import type { Diagnostic } from '../text/diagnostic.ts'
import { reportSarif } from './sarif.ts'
import { type ReportInput, summarizeFindings, documentFilesIn } from './summary.ts'
import { reportText, severityWord } from './text.ts'
import { safeText, safeBlock } from '../../base/text/escape-text.ts'
import { fingerprintFinding } from './fingerprint.ts'
import { groupBy } from '../../base/values/collections.ts'
import { junitXml, type JunitCase } from './junit-xml.ts'

/** One line for each finding. */
const reportCompact = (findings: readonly Diagnostic[]): string =>
  findings
    .map(
      ({ path, range, severity, rule, message }) =>
        `${safeText(path)}:${range.start.line}:${range.start.column}  ${severityWord(severity).padEnd(5)}  ${rule}  ${safeText(message)}\n`,
    )
    .join('')

const COMMANDS = { error: 'error', warning: 'warning', info: 'notice' } as const

/** Annotations of GitHub's workflow commands. */
const reportGithub = (findings: readonly Diagnostic[]): string =>
  findings
    .map(({ severity, path, range: { start, end }, rule, message, fix }) => {
      // GitHub marks columns within one line only.
      const columns =
        start.line === end.line ? `,col=${start.column},endColumn=${Math.max(start.column, end.column)}` : ''
      const at = `file=${property(path)},line=${start.line},endLine=${end.line}${columns},title=${property(rule)}`
      // The message goes into the log of the job, which shows colours.
      const text = safeBlock(fix === undefined ? message : `${message} ${fix.description}`)
      return `::${COMMANDS[severity]} ${at}::${data(text)}\n`
    })
    .join('')

const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')

const SEVERITIES = { error: 'major', warning: 'minor', info: 'info' } as const

/** GitLab's code quality report. A fingerprint stays the same while lines above move. */
function reportGitlab(findings: readonly Diagnostic[]): string {
  const issues = findings.map((finding) => ({
    description: finding.message,
    check_name: finding.rule,
    fingerprint: fingerprintFinding(finding),
    severity: SEVERITIES[finding.severity],
    location: { path: finding.path, lines: { begin: finding.range.start.line, end: finding.range.end.line } },
  }))
  return `${JSON.stringify(issues)}\n`
}

/** One JSON document with keys in the documented order. Source: docs/design/lint.md#messages */
function reportJson(findings: readonly Diagnostic[], { workspace }: ReportInput): string {
  const diagnostics = findings.map((each) => {
    const { facts: _, ...shown } = each
    return shown
  })
  return `${JSON.stringify({ ...summarizeFindings(findings, workspace), diagnostics })}\n`
}

/** JUnit XML: a case for each finding; errors and warnings are failures. A clean file has one passing case. */
function reportJunit(findings: readonly Diagnostic[], { workspace }: ReportInput): string {
  const found = groupBy(findings, ({ path }) => path)
  const paths = [...new Set([...documentFilesIn(workspace), ...found.keys()])].sort()
  const cases = paths.flatMap((file) => found.get(file)?.map(caseOf) ?? [{ file, name: 'svc lint' }])
  return `${junitXml('svc lint', cases)}\n`
}

function caseOf({ path, range, rule, message, severity }: Diagnostic): JunitCase {
  const place = `${range.start.line}:${range.start.column}`
  const text = `${path}:${place} ${message}`
  const told = severity === 'info' ? { note: text } : { failure: { type: severity, message, text } }
  return { file: path, name: `${rule} at ${place}`, ...told }
}

export const reportFormats = {
  text: reportText,
  json: reportJson,
  sarif: reportSarif,
  github: reportGithub,
  gitlab: reportGitlab,
  junit: reportJunit,
  compact: reportCompact,
} satisfies Record<string, (findings: readonly Diagnostic[], input: ReportInput) => string>

export type ReportFormat = keyof typeof reportFormats
