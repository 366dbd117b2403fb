import type { Document } from '../../documents/document.ts'
import type { CompiledBundle } from '../../spec/snapshot.ts'
import { build } from '../build.ts'
import type { Call } from '../command.ts'
import { documentsFailure, tellFindings } from '../findings.ts'
import { withOperator } from '../operator.ts'
import type { Project } from '../project.ts'
import { hasRegistry } from '../registry.ts'

/**
 * The bundle at an absolute path, compiled; published documents are asked for only where there may be any.
 * @throws Failure `documents_have_errors`, `no_documents`
 */
export async function bundleAt(
  call: Call,
  project: Project,
  path: string,
): Promise<{ readonly bundle: CompiledBundle; readonly documents: readonly Document[] }> {
  const options = { project, path }
  const { workspace, findings, compiled } = hasRegistry(project)
    ? await withOperator(project, call, (operator) => build({ ...options, operator }))
    : await build(options)
  if (compiled?.bundle) return { bundle: compiled.bundle, documents: workspace.documents }
  tellFindings(call, findings, workspace)
  throw documentsFailure(findings, call)
}
