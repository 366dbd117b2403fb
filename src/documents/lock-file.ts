/** What `svc.lock` says, as far as lint reads it. Source: bundles, section 3. */
import { isJsonObject, type JsonValue } from '../base/json.ts'
import type { Document } from './document.ts'
import { directoryOf, joinPath } from './paths.ts'
import type { Workspace } from './workspace.ts'

const LOCK_FILE = 'svc.lock'

export type LockMember = Readonly<Record<string, string>>

export interface Lock {
  readonly members: readonly LockMember[]
  readonly mcp: readonly LockMember[]
}

/**
 * Where the lock of what is compiled lies: beside it. Agents that stand alone in one directory would take each other's pins away,
 * so there each has its own, with its id in the name; an archive of one of them keeps that name.
 * @param document the Bundle, or what is compiled alone
 */
export function lockPathOf(workspace: Workspace, { kind, path, identity }: Document): string {
  const directory = directoryOf(path)
  const shared = joinPath(directory, LOCK_FILE)
  if (kind !== 'Agent' || identity === undefined) return shared
  const own = joinPath(directory, `${identity.id}.${LOCK_FILE}`)
  const roots = pathsOfRoots(workspace)
  const isOther = (each: Document): boolean =>
    each.kind === 'Agent' &&
    directoryOf(each.path) === directory &&
    each.identity?.id !== identity.id &&
    !roots.includes(each.path)
  return workspace.files.paths.includes(own) || workspace.documents.some(isOther) ? own : shared
}

/** The lock of the bundle to which a document belongs; undefined where there is none, null for a file that is no lock. */
export function readLock(workspace: Workspace, document: Document): Lock | null | undefined {
  const isBundled = workspace.neighbours(document).some(({ kind }) => kind === 'Bundle')
  const path = isBundled ? joinPath(workspace.bundleDirectory(document), LOCK_FILE) : lockPathOf(workspace, document)
  if (!workspace.files.paths.includes(path)) return undefined
  try {
    const value = JSON.parse(workspace.text(path)) as JsonValue
    if (!isJsonObject(value) || value['lockfile_version'] !== 1 || !Array.isArray(value['members'])) return null
    return { members: entries(value['members']), mcp: entries(value['mcp']) }
  } catch {
    return null
  }
}

/** The same, where it can be read. */
export const lockOf = (workspace: Workspace, document: Document): Lock | undefined =>
  readLock(workspace, document) ?? undefined

const pathsOfRoots = (workspace: Workspace): readonly string[] =>
  workspace.documents
    .filter(({ kind }) => kind === 'Bundle')
    .flatMap((bundle) =>
      bundle.texts('spec.root').flatMap(({ value }) => {
        const resolved = workspace.resolve(bundle, value)
        return 'path' in resolved ? [resolved.path] : []
      }),
    )

const entries = (list: JsonValue | undefined): Readonly<Record<string, string>>[] =>
  (Array.isArray(list) ? list : [])
    .filter(isJsonObject)
    .map((each) =>
      Object.fromEntries(Object.entries(each).filter((pair): pair is [string, string] => typeof pair[1] === 'string')),
    )
