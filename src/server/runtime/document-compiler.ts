/**
 * Reads, lints and compiles documents for operators who view a version or try an edit. This needs the compiler, which the
 * server does not import: the caller of `openServer` provides it.
 */
import type { WrittenFinding, WrittenPolicy } from '../../spec/explanation.ts'
import type { PolicyEntry, PolicySet } from '../../spec/policy-set.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'

export interface DocumentText {
  readonly path: string
  readonly text: string
}

/** Texts of a publication, some replaced by edited ones. */
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
   * Locates policies in their documents. Omits policies whose text is missing or differs from the compiled one, so that
   * nobody sees lines that do not decide.
   */
  locate(entries: readonly PolicyEntry[], documents: EditedDocuments): Promise<readonly WrittenPolicy[]>
}
