/** The documents that a change of some files may affect. */
import { attachmentsOf } from '../facts/policies/attachments.ts'
import { boundariesOf } from '../facts/policies/authority.ts'
import { toolDocument, toolsOf } from '../facts/agents/bindings.ts'
import { subAgentEdges } from '../facts/agents/closure.ts'
import type { Document } from '../text/document.ts'
import { pathsIn } from '../facts/path-refs.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** The changed files, and the files of all documents that refer to them, directly or not. Sorted, without deleted files. */
export function affectedFiles(workspace: Workspace, changed: readonly string[]): readonly string[] {
  const users = new Map<string, string[]>()
  for (const document of workspace.documents)
    for (const path of usedBy(workspace, document)) users.set(path, [...(users.get(path) ?? []), document.path])
  const affected = new Set(changed)
  // A set also iterates over members added during the loop.
  for (const path of affected) for (const user of users.get(path) ?? []) affected.add(user)
  const paths = new Set(workspace.files.paths)
  return [...affected].filter((path) => paths.has(path)).sort()
}

/** The documents, and all documents to which they refer, directly or not. */
export function reachableDocuments(workspace: Workspace, documents: readonly Document[]): ReadonlySet<Document> {
  const reached = new Set(documents)
  // A set also iterates over members added during the loop.
  for (const document of reached) {
    const named = filesNamedBy(workspace, document).flatMap((path) => workspace.documentsAt(path))
    for (const each of [...named, ...documentsUsedBy(workspace, document)]) reached.add(each)
  }
  return reached
}

/** Paths in the workspace that a document names. */
export const filesNamedBy = (workspace: Workspace, document: Document): string[] =>
  pathsIn(document).flatMap(({ value }) => {
    const found = workspace.resolve(document, value)
    return 'path' in found ? [found.path] : []
  })

const documentsUsedBy = (workspace: Workspace, document: Document): Document[] =>
  [
    ...toolsOf(document).map((use) => toolDocument(workspace, use)),
    ...attachmentsOf(workspace, document).flatMap(({ policies }) => policies),
    ...boundariesOf(workspace, document).flatMap(({ policies }) => policies),
    ...subAgentEdges(workspace, document).map(({ child }) => child),
  ].filter((each) => each !== undefined)

const usedBy = (workspace: Workspace, document: Document): string[] => [
  ...filesNamedBy(workspace, document),
  ...documentsUsedBy(workspace, document).map(({ path }) => path),
]
