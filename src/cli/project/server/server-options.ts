import type { RuntimeOptions } from '../../../server/runtime/options.ts'
import { packageVersion } from '../../shell/version.ts'
import type { Project } from '../project.ts'
import { finishInTurns } from '../../../base/event-loop.ts'
import type { DocumentCompiler } from '../../../server/runtime/document-compiler.ts'

/** What every server of a project gets, whether it listens or not. */
export const projectServerOptions = ({
  workspace,
  config,
  directory,
}: Project): Pick<RuntimeOptions, 'workspace' | 'config' | 'configDirectory' | 'version' | 'documents'> => ({
  workspace,
  config,
  configDirectory: directory,
  version: packageVersion,
  documents: lazyDocuments,
})

export const lazyDocuments: DocumentCompiler = {
  async lint(documents) {
    return (await import('../../../compile/edit/lint-edits.ts')).lintEditedDocuments(documents)
  },
  async compile(documents) {
    const { compileEditedPolicies } = await import('../../../compile/edit/compile-edits.ts')
    return await finishInTurns(compileEditedPolicies(documents))
  },
  async locate(entries, documents) {
    return (await import('../../../compile/edit/locate-policies.ts')).locatePolicies(entries, documents)
  },
}
