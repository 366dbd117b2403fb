/** Findings of lint and compile, told beside an answer, and what becomes of a command that has errors among them. */
import { fail, type Failure } from '../../base/failure.ts'
import type { Diagnostic } from '../../documents/text/diagnostic.ts'
import { reportText } from '../../documents/report/text.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type { CommandContext } from '../shell/command.ts'

/** Prints what was found on stderr; nothing with `--json`, where the failure carries it. Remarks are for `svc lint`. */
export function tellFindings(
  { mode, out }: Pick<CommandContext, 'mode' | 'out'>,
  findings: readonly Diagnostic[],
  workspace: Workspace,
): void {
  const worth = findings.filter(({ severity }) => severity !== 'info')
  if (mode.json || worth.length === 0) return
  out.say(reportText(worth, { workspace, color: mode.color.stderr > 0 }).trimEnd())
}

/** @param told where `tellFindings` came before: people are not told twice, programs find all of it in the failure */
export function documentsFailure(findings: readonly Diagnostic[], told?: Pick<CommandContext, 'mode'>): Failure {
  const errors = findings.filter(({ severity }) => severity === 'error')
  const files = new Set(errors.map(({ path }) => path)).size
  const details = errors.map(({ path, range, rule, message }) => ({
    path: `${path}:${range.start.line}:${range.start.column}`,
    message: `${message} (${rule})`,
  }))
  const said = told !== undefined && !told.mode.json
  return fail('documents_have_errors', { errors: errors.length, files }, said ? {} : { details })
}
