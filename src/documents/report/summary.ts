import type { Diagnostic } from '../text/diagnostic.ts'
import { isUnder } from '../text/paths.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** Data for a report, besides the findings. */
export interface ReportInput {
  readonly workspace: Workspace
  /** For the text report; false when absent. */
  readonly color?: boolean
}

export interface LintSummary {
  /** True without errors. */
  readonly ok: boolean
  /** How many hold documents, of those in focus. */
  readonly files: number
  readonly errors: number
  readonly warnings: number
  /** Findings that `--fix` would fix. */
  readonly fixable: number
}

export function summarizeFindings(findings: readonly Diagnostic[], workspace: Workspace): LintSummary {
  const count = (severity: Diagnostic['severity']): number =>
    findings.filter((each) => each.severity === severity).length
  return {
    ok: count('error') === 0,
    files: documentFilesIn(workspace).length,
    errors: count('error'),
    warnings: count('warning'),
    fixable: findings.filter(({ fix }) => fix?.unsafe !== true && (fix?.edits.length ?? 0) > 0).length,
  }
}

/** Files that hold documents, of those in focus. */
export const documentFilesIn = ({ read, focus }: Workspace): readonly string[] =>
  read.filter((path) => focus === undefined || focus.some((each) => path === each || isUnder(each, path)))
