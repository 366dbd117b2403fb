/** Which files of a directory make up its bundle. Source: docs/design/bundles-and-authority.md#members */
import { fail } from '../../base/failure.ts'
import { lockPathOf } from '../../documents/facts/lock/lock-file.ts'
import { withUnixLineEnds } from '../../documents/text/line-ends.ts'
import { directoryOf, isUnder } from '../../documents/text/paths.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type { UnpackedArchive } from './archive.ts'
import { findContentsFault, refuseFault, type ContentsFault } from './contents.ts'
import type { LockFile } from '../state/lock-file.ts'

type Members = Pick<LockFile, 'members'>

/**
 * The files that a compilation read. For a Bundle also every other document in its directory, because a policy that
 * nothing attaches may implement a boundary; paths become relative to that directory. Files that no document names are
 * left out.
 * @param root path of the compiled document
 * @param lock of that compilation
 * @throws Failure `bundle_invalid` for links, names and sizes that no bundle may have
 */
export function packBundle(workspace: Workspace, root: string, lock: Members): UnpackedArchive {
  refuseFault(faultOfBundle(workspace, root, lock))
  const { packed, inside } = filesOf(workspace, root, lock)
  const files = packed.map((path) => [inside(path), withUnixLineEnds(workspace.bytes(path))] as const)
  return { root: inside(root), files: new Map(files) }
}

/** Why a bundle can be neither compiled nor packed; undefined if it can. For the parameters see `packBundle`. */
export function faultOfBundle(workspace: Workspace, root: string, lock: Members): ContentsFault | undefined {
  const { packed, inside, links } = filesOf(workspace, root, lock)
  const [link] = links
  if (link !== undefined)
    return {
      rule: 'bundle/symlink',
      what: `"${link}" is a symbolic link; a bundle must not contain any.`,
      fix: 'Copy what it leads to, or list it in .svcignore.',
    }
  return findContentsFault(packed.map((path) => [inside(path), workspace.files.size(path)]))
}

function filesOf(workspace: Workspace, root: string, { members }: Members) {
  const documents = workspace.documentsAt(root)
  const document = documents.find(({ kind }) => kind === 'Bundle') ?? documents[0]
  if (!document) throw fail('no_documents', { where: root })
  const whole = document.kind === 'Bundle'
  const directory = whole ? directoryOf(root) : ''
  const lockPath = lockPathOf(workspace, document)
  const paths = new Set([
    root,
    ...(whole ? workspace.publishedTogether(document).map(({ path }) => path) : []),
    ...members.flatMap(({ path }) => path ?? []),
    ...(workspace.files.paths.includes(lockPath) ? [lockPath] : []),
  ])
  return {
    // Guardrails are members too, but belong to the project and not to the bundle.
    packed: [...paths].filter((path) => isUnder(directory, path)),
    inside: (path: string): string => (directory === '' ? path : path.slice(directory.length + 1)),
    links: whole ? workspace.files.links.filter((each) => isUnder(directory, each)) : [],
  }
}
