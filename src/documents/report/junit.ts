import type { Diagnostic } from '../text/diagnostic.ts'
import { groupBy } from '../text/group.ts'
import { filesIn, type ReportInput } from './summary.ts'

/** JUnit XML: a suite for each file, a case for each finding; errors and warnings are failures. A clean file has one passing case. */
export function reportJunit(findings: readonly Diagnostic[], { workspace }: ReportInput): string {
  const found = groupBy(findings, ({ path }) => path)
  const paths = [...new Set([...filesIn(workspace), ...found.keys()])].sort()
  const suites = paths.map((path) => suite(path, found.get(path) ?? []))
  const failures = findings.filter(isFailure).length
  const tests = suites.reduce((sum, { tests }) => sum + tests, 0)
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="svc lint" tests="${tests}" failures="${failures}">\n${suites.map(({ text }) => text).join('')}</testsuites>\n`
}

const isFailure = ({ severity }: Diagnostic): boolean => severity !== 'info'

function suite(path: string, findings: readonly Diagnostic[]): { readonly text: string; readonly tests: number } {
  const cases =
    findings.length === 0 ? [`    <testcase classname="${xml(path)}" name="svc lint"/>\n`] : findings.map(testCase)
  const text = `  <testsuite name="${xml(path)}" tests="${cases.length}" failures="${findings.filter(isFailure).length}">\n${cases.join('')}  </testsuite>\n`
  return { text, tests: cases.length }
}

function testCase(finding: Diagnostic): string {
  const { path, range, rule, message, severity } = finding
  const where = `${path}:${range.start.line}:${range.start.column}`
  const body = isFailure(finding)
    ? `<failure type="${severity}" message="${xml(message)}">${xml(`${where} ${message}`)}</failure>`
    : `<system-out>${xml(`${where} ${message}`)}</system-out>`
  return `    <testcase classname="${xml(path)}" name="${xml(`${rule} at ${range.start.line}:${range.start.column}`)}">${body}</testcase>\n`
}

/** Without the control characters that XML 1.0 has no way to write. */
const xml = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '')
    .replaceAll(/\p{Surrogate}/gu, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
