import { diffClosures } from '../../../authority/diff.ts'
import type { VersionDifference } from '../../../authority/change.ts'
import { diffFiles, type FileChange } from '../../../compile/diff/files.ts'
import { answerScreen } from '../../shell/screen/list.ts'
import { changeLines, countChanges, differenceBody, fileLine, paintChange } from '../../release/changes.ts'
import { closureAt, publishedClosure } from '../../release/closures.ts'
import { differenceComment } from '../../release/difference-comment.ts'
import type { CommandContext } from '../../shell/command.ts'
import { withOperator, withOperatorOf } from '../../project/server/operator.ts'
import { openProject } from '../../project/project.ts'
import { splitVersion } from '../../project/reference.ts'
import type { bundleDifference, versionDifference } from '../../answers/difference.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

export async function bundleDiff(call: CommandContext<ValueOf<typeof bundleDifference>>): Promise<number> {
  const { given, cwd } = call
  const against = given.text('against')
  const paths = given.rest(0)
  if (against === undefined ? paths.length !== 2 : paths.length > 1)
    throw usageFailure('Two bundles are compared: svc bundle diff A B, or svc bundle diff [A] --against ns.name@1.2.0.')
  const project = await openProject(call)
  const form = { strict: given.text('fail-on') === 'breaking', isComment: given.text('format') === 'markdown' }
  if (against !== undefined) {
    const before = await withOperatorOf(project, call, (operator) => publishedClosure(operator, against))
    const after = await closureAt(call, project, paths[0] ?? cwd)
    return await printDifference(call, diffClosures(before, after.closure), form)
  }
  const [before, after] = [await closureAt(call, project, paths[0]!), await closureAt(call, project, paths[1]!)]
  return await printDifference(
    call,
    diffClosures(before.closure, after.closure),
    form,
    diffFiles(before.files, after.files),
  )
}

/** `svc versions diff AGENT@A AGENT@B`. */
export async function versionsDiff(call: CommandContext<ValueOf<typeof versionDifference>>): Promise<number> {
  const { given } = call
  const [before, after] = [given.required(0), given.required(1)]
  for (const each of [before, after])
    if (splitVersion(each).version === undefined)
      throw usageFailure(`"${each}" names no version; write namespace.name@1.2.0.`)
  const difference = await withOperator(call, async (operator) =>
    diffClosures(await publishedClosure(operator, before), await publishedClosure(operator, after)),
  )
  return await printDifference(call, difference, { strict: given.text('fail-on') === 'breaking' })
}

/** @param files absent for a published version: a snapshot does not contain the files */
async function printDifference(
  { mode, out, io }: CommandContext<ValueOf<typeof bundleDifference>>,
  difference: VersionDifference,
  { strict, isComment = false }: { readonly strict: boolean; readonly isComment?: boolean },
  files?: readonly FileChange[],
): Promise<number> {
  if (mode.json) await out.json({ ...differenceBody(difference), ...(files && { files }) })
  else if (isComment) out.line(differenceComment(difference, files))
  else {
    const { theme } = answerScreen({ io, mode })
    changeLines(difference.changes, io.stdout.isTTY).forEach((line) => out.prose(paintChange(theme, line)))
    files?.forEach((each) => out.line(fileLine(each, io.stdout.isTTY)))
    const same = difference.changes.length === 0 && (files ?? []).length === 0
    out.message(same ? 'no difference' : countChanges(difference))
  }
  return strict && difference.breaking ? 1 : 0
}
