/** Which files of a directory make up its bundle. Source: bundles, sections 1 and 4. */
import { fail } from '../base/failure.ts'
import { directoryOf, isUnder, joinPath } from '../documents/paths.ts'
import type { Workspace } from '../documents/workspace.ts'
import type { Archive } from './archive.ts'
import { checkContents } from './contents.ts'
import type { LockFile } from './lock.ts'

/** Kept beside the root when it is there. */
export const LOCK = 'svc.lock'

/**
 * The files that a compilation read. Of a Bundle also every other document in its directory, since a policy that nothing
 * attaches may stand for a boundary; its paths are made relative to that directory. Files that no document names are left out.
 * @param root path of the document that was compiled
 * @param lock of that compilation
 * @throws Failure `bundle_invalid` for links, names and sizes that no bundle may have
 */
export function packBundle(workspace: Workspace, root: string, { members }: Pick<LockFile, 'members'>): Archive {
  const documents = workspace.documentsAt(root)
  const document = documents.find(({ kind }) => kind === 'Bundle') ?? documents[0]
  if (!document) throw fail('no_documents', { where: root })
  const whole = document.kind === 'Bundle'
  const directory = whole ? directoryOf(root) : ''
  const link = whole ? workspace.files.links.find((each) => isUnder(directory, each)) : undefined
  if (link !== undefined)
    throw fail(
      'bundle_invalid',
      { what: `"${link}" is a symbolic link; a bundle has none.` },
      { fix: 'Copy what it leads to, or list it in .svcignore.' },
    )
  const inside = (path: string): string => (directory === '' ? path : path.slice(directory.length + 1))
  const lockPath = joinPath(directoryOf(root), LOCK)
  const paths = new Set([
    root,
    ...(whole ? workspace.neighbours(document).map(({ path }) => path) : []),
    ...members.flatMap(({ path }) => path ?? []),
    ...(workspace.files.paths.includes(lockPath) ? [lockPath] : []),
  ])
  // Guardrails are members too; they belong to the project around the bundle.
  const kept = [...paths].filter((path) => isUnder(directory, path))
  checkContents(kept.map((path) => [inside(path), workspace.files.size(path)]))
  return { root: inside(root), files: new Map(kept.map((path) => [inside(path), workspace.bytes(path)])) }
}
