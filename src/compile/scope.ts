/** Which findings concern what is compiled: those of its closure. Source: bundles, section 1. */
import { isFailure } from '../base/failure.ts'
import { filesNamedBy, reachedFrom } from '../documents/facts/dependents.ts'
import type { Diagnostic } from '../documents/text/diagnostic.ts'
import type { Document } from '../documents/text/document.ts'
import { directoryOf, isUnder } from '../documents/text/paths.ts'
import type { Workspace } from '../documents/workspace/workspace.ts'
import { openCompileState, type CompileInput } from './compile.ts'
import { locateSubject } from './stages/locate.ts'
import { nothingPublished } from './state/published.ts'

/**
 * True for a finding in a document or file that the closure of `root` reaches, and for one in a file of its bundle of which
 * nobody can say whether it is reached: a policy that cannot be read may stand for a boundary.
 */
export function concernsClosure({
  workspace,
  root,
  guardrails = [],
}: Pick<CompileInput, 'workspace' | 'root' | 'guardrails'>): (finding: Diagnostic) => boolean {
  const isMeant = (path: string): boolean => path === root || isUnder(root, path)
  const start = startOf(workspace, root)
  if (!start) return ({ path }) => isMeant(path)
  const reached = reachedFrom(workspace, [start, ...guardrails.flatMap((path) => workspace.documentsAt(path))])
  const named = new Set([...guardrails, ...[...reached].flatMap((each) => filesNamedBy(workspace, each))])
  const others = workspace.documents.filter((each) => !reached.has(each))
  const namedByOthers = new Set(others.flatMap((each) => filesNamedBy(workspace, each)))
  const bundle = workspace.bundleOf(start)

  /** For a part of a file that is no document. */
  const mayBeReached = (path: string): boolean => {
    if (named.has(path)) return true
    if (namedByOthers.has(path)) return false
    const kinds = kindsIn(workspace, path)
    // What a broken Agent holds is reached by its path alone.
    if (kinds.length > 0 && kinds.every((kind) => kind === 'Agent')) return false
    // A broken Bundle may be the one that was meant.
    if (kinds.length > 0 && kinds.every((kind) => kind === 'Agent' || kind === 'Bundle'))
      return isUnder(directoryOf(path), start.path) || (isMeant(path) && directoryOf(start.path) !== root)
    return workspace.bundleOf({ path }) === bundle
  }
  return ({ path, rule, range }) => {
    const here = workspace.documentsAt(path)
    const holder = here.find((each) => isWithin(each, range.start.offset))
    if (holder) return reached.has(holder)
    if (here.some((each) => reached.has(each))) return true
    // Comments that silence rules say nothing of their own.
    return rule.startsWith('lint/') && here.length > 0 ? false : mayBeReached(path)
  }
}

/** The Bundle, or what is compiled alone; undefined where that cannot be told. */
function startOf(workspace: Workspace, root: string): Document | undefined {
  const work = openCompileState({ workspace, root, published: nothingPublished })
  try {
    locateSubject(work)
  } catch (error) {
    if (!isFailure(error)) throw error
  }
  return work.bundle ?? work.subject
}

function isWithin(document: Document, offset: number): boolean {
  const span = document.spanOf('')
  return span !== undefined && span.start.offset <= offset && offset <= span.end.offset
}

/** Kinds that a file which cannot be read seems to hold. */
const kindsIn = ({ files }: Workspace, path: string): string[] => {
  const text = new TextDecoder().decode(files.read(path))
  return Array.from(text.matchAll(/^(?:kind|[ \t{]*"kind")[ \t]*:[ \t]*["']?(\w+)/gm), ([, kind]) => kind!)
}
