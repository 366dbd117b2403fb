/** Selects the findings in the closure of the compiled document. Source: docs/design/bundles-and-authority.md#members */
import { isFailure } from '../base/failure.ts'
import { filesNamedBy, reachableDocuments } from '../documents/lint/dependents.ts'
import type { Diagnostic } from '../documents/text/diagnostic.ts'
import type { Document } from '../documents/text/document.ts'
import { directoryOf, isUnder } from '../documents/text/paths.ts'
import type { Workspace } from '../documents/workspace/workspace.ts'
import { openCompileState, type CompileInput } from './compile.ts'
import { locateSubject } from './stages/locate.ts'
import { nothingPublished } from './state/published.ts'

/**
 * True for a finding in a document or file that the closure of `root` reaches, and for one in a file of its bundle that may be
 * reached: an unreadable policy may implement a boundary.
 */
export function concernsClosure({
  workspace,
  root,
  guardrails = [],
}: Pick<CompileInput, 'workspace' | 'root' | 'guardrails'>): (finding: Diagnostic) => boolean {
  const isSelected = (path: string): boolean => path === root || isUnder(root, path)
  const start = startOf(workspace, root)
  if (!start) return ({ path }) => isSelected(path)
  const reached = reachableDocuments(workspace, [start, ...guardrails.flatMap((path) => workspace.documentsAt(path))])
  const named = new Set([...guardrails, ...[...reached].flatMap((each) => filesNamedBy(workspace, each))])
  const others = workspace.documents.filter((each) => !reached.has(each))
  const namedByOthers = new Set(others.flatMap((each) => filesNamedBy(workspace, each)))
  const bundle = workspace.bundleOf(start)

  /** For a finding outside any document of the file. */
  const mayBeReached = (path: string): boolean => {
    if (named.has(path)) return true
    if (namedByOthers.has(path)) return false
    const kinds = kindsIn(workspace, path)
    // A broken Agent can be reached only by its path.
    if (kinds.length > 0 && kinds.every((kind) => kind === 'Agent')) return false
    // A broken Bundle may be the one to compile.
    if (kinds.length > 0 && kinds.every((kind) => kind === 'Agent' || kind === 'Bundle'))
      return isUnder(directoryOf(path), start.path) || (isSelected(path) && directoryOf(start.path) !== root)
    return workspace.bundleOf({ path }) === bundle
  }
  return ({ path, rule, range }) => {
    const documents = workspace.documentsAt(path)
    const document = documents.find((each) => isWithin(each, range.start.offset))
    if (document) return reached.has(document)
    if (documents.some((each) => reached.has(each))) return true
    // Findings about suppression comments do not stop a compilation.
    return rule.startsWith('lint/') && documents.length > 0 ? false : mayBeReached(path)
  }
}

/** The Bundle, or the document that is compiled alone; undefined if `root` is ambiguous or means nothing. */
function startOf(workspace: Workspace, root: string): Document | undefined {
  const state = openCompileState({ workspace, root, published: nothingPublished })
  try {
    locateSubject(state)
  } catch (error) {
    if (!isFailure(error)) throw error
  }
  return state.bundle ?? state.subject
}

function isWithin(document: Document, offset: number): boolean {
  const span = document.spanOf('')
  return span !== undefined && span.start.offset <= offset && offset <= span.end.offset
}

/** The kinds of documents that an unreadable file seems to contain. */
const kindsIn = ({ files }: Workspace, path: string): string[] => {
  const text = new TextDecoder().decode(files.read(path))
  return text.match(/(?<=^(?:kind|[ \t{]*"kind")[ \t]*:[ \t]*["']?)\w+/gm) ?? []
}
