import type { Diagnostic } from '../diagnostic.ts'
import { summarise, type ReportInput } from './summary.ts'

/** One document, its keys in the order of the command line's page. Source: command line, `svc lint`. */
export function reportJson(findings: readonly Diagnostic[], { workspace }: ReportInput): string {
  const diagnostics = findings.map((each) => {
    const { facts: _, ...shown } = each
    return shown
  })
  return `${JSON.stringify({ ...summarise(findings, workspace), diagnostics })}\n`
}
