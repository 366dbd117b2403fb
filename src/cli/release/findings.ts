/** Prints findings of lint and compile beside an answer, and makes the failure of a command that found errors. */
import { fail, type Failure } from '../../base/failure.ts'
import type { Diagnostic } from '../../documents/text/diagnostic.ts'
import { reportText } from '../../documents/report/text.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type { CommandContext } from '../shell/command.ts'

/** Prints errors and warnings on stderr; nothing with `--json`, where the failure carries them. */
export function printFindings(
  { mode, out }: Pick<CommandContext, 'mode' | 'out'>,
  findings: readonly Diagnostic[],
  workspace: Workspace,
): void {
  const reported = findings.filter(({ severity }) => severity !== 'info')
  if (mode.json || reported.length === 0) return
  out.message(reportText(reported, { workspace, color: mode.color.stderr > 0 }).trimEnd())
}

/** @param shown context of an earlier `printFindings`, so that the failure does not repeat what was printed */
export function documentsFailure(findings: readonly Diagnostic[], shown?: Pick<CommandContext, 'mode'>): Failure {
  const errors = findings.filter(({ severity }) => severity === 'error')
  const files = new Set(errors.map(({ path }) => path)).size
  const details = errors.map(({ path, range, rule, message }) => ({
    path: `${path}:${range.start.line}:${range.start.column}`,
    message: `${message} (${rule})`,
  }))
  const isPrinted = shown !== undefined && !shown.mode.json
  return fail('documents_have_errors', { errors: errors.length, files }, isPrinted ? {} : { details })
}
