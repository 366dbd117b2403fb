import type { Diagnostic } from '../text/diagnostic.ts'
import { groupBy } from '../../base/values/collections.ts'
import { junitXml, type JunitCase } from './junit-xml.ts'
import { documentFilesIn, type ReportInput } from './summary.ts'

/** JUnit XML: a case for each finding; errors and warnings are failures. A clean file has one passing case. */
export function reportJunit(findings: readonly Diagnostic[], { workspace }: ReportInput): string {
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
