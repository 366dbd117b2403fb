/** Reads, lints and compiles documents for the server. Loads the compiler on the first use. */
import { finishInTurns } from '../../base/event-loop.ts'
import type { DocumentCompiler } from '../../server/runtime/document-compiler.ts'

export const lazyDocuments: DocumentCompiler = {
  async lint(documents) {
    return (await import('../../compile/edit/lint-edits.ts')).lintEditedDocuments(documents)
  },
  async compile(documents) {
    const { compileEditedPolicies } = await import('../../compile/edit/compile-edits.ts')
    return await finishInTurns(compileEditedPolicies(documents))
  },
  async locate(entries, documents) {
    return (await import('../../compile/edit/locate-policies.ts')).locatePolicies(entries, documents)
  },
}
