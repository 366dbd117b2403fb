/** Reads, lints and compiles documents for the server, with the compiler, which is loaded when somebody asks. */
import type { DocumentCompiler } from '../../server/runtime/document-compiler.ts'

export const lazyDocuments: DocumentCompiler = {
  async lint(documents) {
    return (await import('../../compile/edit/lint-edits.ts')).lintEditedDocuments(documents)
  },
  async compile(documents) {
    return (await import('../../compile/edit/compile-edits.ts')).compileEditedPolicies(documents)
  },
  async locate(entries, documents) {
    return (await import('../../compile/edit/locate-policies.ts')).locatePolicies(entries, documents)
  },
}
