import type { Document } from '../../documents/text/document.ts'
import type { CompiledBundle } from '../../spec/snapshot.ts'
import { buildBundle } from '../release/build.ts'
import type { CommandContext } from '../shell/command.ts'
import { documentsFailure, tellFindings } from '../release/findings.ts'
import { withOperator } from '../project/operator.ts'
import type { Project } from '../project/project.ts'
import { hasRegistry } from '../project/registry.ts'

/**
 * The bundle at an absolute path, compiled to ask what it would decide; errors that lint finds are told and do not stop that,
 * since what a bad grant would allow is a question to ask before it is mended. Published documents are asked for only where
 * there may be any.
 * @throws Failure `documents_have_errors` for what cannot be compiled, `no_documents`
 */
export async function bundleAt(
  call: CommandContext,
  project: Project,
  path: string,
): Promise<{ readonly bundle: CompiledBundle; readonly documents: readonly Document[] }> {
  const options = { project, path, despiteErrors: true }
  const { workspace, findings, compiled } = hasRegistry(project)
    ? await withOperator(project, call, (operator) => buildBundle({ ...options, operator }))
    : await buildBundle(options)
  const errors = findings.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) tellFindings(call, compiled?.bundle ? errors : findings, workspace)
  if (!compiled?.bundle) throw documentsFailure(findings, call)
  if (errors.length > 0)
    call.out.say(
      `decided in spite of ${errors.length === 1 ? '1 error' : `${errors.length} errors`}: no such bundle is published`,
    )
  return { bundle: compiled.bundle, documents: workspace.documents }
}
