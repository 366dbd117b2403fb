/**
 * Reads, lints and compiles documents for operators who look at a version or try an edit. That takes the compiler, which the
 * server does not import: whoever opens the server gives it one.
 */
import type { WrittenFinding, WrittenPolicy } from '../../spec/explanation.ts'
import type { PolicyEntry, PolicySet } from '../../spec/policy-set.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'

export interface DocumentText {
  readonly path: string
  readonly text: string
}

/** Texts of a publication with those that somebody edits in their place. */
export interface EditedDocuments {
  readonly files: readonly DocumentText[]
  /** Paths of `files` that were edited. */
  readonly edited: readonly string[]
}

/** Compiled edits. `policiesOf`: the set of a version with the edited policies in place of those of the same name. */
export interface CompiledEdits {
  readonly findings: readonly WrittenFinding[]
  /** Absent where an edited document has an error. */
  readonly policiesOf?: (snapshot: AgentSnapshot) => PolicySet
}

export interface DocumentCompiler {
  /** Lint's findings about the edited documents. */
  lint(documents: EditedDocuments): Promise<readonly WrittenFinding[]>
  compile(documents: EditedDocuments): Promise<CompiledEdits>
  /**
   * Where the documents of policies say what they say. Left out are policies whose text is not there, or is not the one that
   * was compiled: nobody is shown lines that do not decide.
   */
  locate(entries: readonly PolicyEntry[], documents: EditedDocuments): Promise<readonly WrittenPolicy[]>
}
