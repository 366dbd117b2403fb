/** Findings of lint and compile, told beside an answer, and what becomes of a command that has errors among them. */
import { fail, type Failure } from '../base/failure.ts'
import type { Diagnostic } from '../documents/diagnostic.ts'
import { reportText } from '../documents/report/text.ts'
import type { Workspace } from '../documents/workspace.ts'
import type { Call } from './command.ts'

/** Prints what was found on stderr; nothing with `--json`, where the failure carries it. */
export function tellFindings(
  { mode, out }: Pick<Call, 'mode' | 'out'>,
  findings: readonly Diagnostic[],
  workspace: Workspace,
): void {
  if (mode.json || findings.length === 0) return
  out.say(reportText(findings, { workspace, color: mode.color.stderr > 0 }).trimEnd())
}

export function documentsFailure(findings: readonly Diagnostic[]): Failure {
  const errors = findings.filter(({ severity }) => severity === 'error')
  const files = new Set(errors.map(({ path }) => path)).size
  const details = errors.map(({ path, range, rule, message }) => ({
    path: `${path}:${range.start.line}:${range.start.column}`,
    message: `${message} (${rule})`,
  }))
  return fail('documents_have_errors', { errors: errors.length, files }, { details })
}
