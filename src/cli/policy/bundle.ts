import type { Document } from '../../documents/text/document.ts'
import type { CompiledBundle } from '../../spec/snapshot.ts'
import { buildWithRegistry } from '../release/build.ts'
import type { CommandContext } from '../shell/command.ts'
import { documentsFailure, printFindings } from '../release/findings.ts'
import type { Project } from '../project/project.ts'

/**
 * Compiles the bundle at an absolute path to evaluate its policies. Errors that lint finds are printed and do not stop it:
 * authors want to know what a bad grant would allow before they fix it. Queries published documents only where a registry
 * exists.
 * @throws Failure `documents_have_errors` for what cannot be compiled, `no_documents`
 */
export async function compileBundleAt(
  call: CommandContext,
  project: Project,
  path: string,
): Promise<{ readonly bundle: CompiledBundle; readonly documents: readonly Document[] }> {
  const { workspace, findings, compiled } = await buildWithRegistry(call, { project, path, despiteErrors: true })
  const errors = findings.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) printFindings(call, compiled?.bundle ? errors : findings, workspace)
  if (!compiled?.bundle) throw documentsFailure(findings, call)
  if (errors.length > 0)
    call.out.message(
      `decided in spite of ${errors.length === 1 ? '1 error' : `${errors.length} errors`}, with which nothing can be published`,
    )
  return { bundle: compiled.bundle, documents: workspace.documents }
}
