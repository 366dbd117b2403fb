import type { Diagnostic } from '../text/diagnostic.ts'
import { summarizeFindings, type ReportInput } from './summary.ts'

/** One JSON document with keys in the documented order. Source: docs/design/lint.md#messages */
export function reportJson(findings: readonly Diagnostic[], { workspace }: ReportInput): string {
  const diagnostics = findings.map((each) => {
    const { facts: _, ...shown } = each
    return shown
  })
  return `${JSON.stringify({ ...summarizeFindings(findings, workspace), diagnostics })}\n`
}
