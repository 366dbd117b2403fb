/** The part of `svc.lock` that lint reads. Source: docs/design/bundles-and-authority.md#lock */
import { isJsonObject, type JsonValue } from '../../../base/json/json.ts'
import type { Document } from '../../text/document.ts'
import { directoryOf, joinPath } from '../../text/paths.ts'
import type { Workspace } from '../../workspace/workspace.ts'

const LOCK_FILE = 'svc.lock'

export type RawLockMember = Readonly<Record<string, string>>

export interface RawLock {
  readonly members: readonly RawLockMember[]
  readonly mcp: readonly RawLockMember[]
}

/**
 * Path of the lock file, beside what is compiled. Several agents without a bundle in one directory would overwrite each other's
 * pins, so each has its own lock with its id in the name; an archive of one of them keeps that name.
 * @param document the Bundle, or what is compiled alone
 */
export function lockPathOf(workspace: Workspace, document: Document): string {
  const { shared, own } = pathsOf(document)
  if (own === undefined || workspace.files.has(own)) return own ?? shared
  const directory = directoryOf(document.path)
  const roots = pathsOfRoots(workspace)
  const isOther = ({ kind, path, identity }: Document): boolean =>
    kind === 'Agent' &&
    directoryOf(path) === directory &&
    identity?.id !== document.identity?.id &&
    !roots.includes(path)
  return workspace.publishedTogether(document).some(isOther) ? own : shared
}

/** The lock shared by a directory, and the own lock of an agent. */
function pathsOf({ kind, path, identity }: Document): { readonly shared: string; readonly own?: string } {
  const at = (name: string): string => joinPath(directoryOf(path), name)
  return {
    shared: at(LOCK_FILE),
    ...(kind === 'Agent' && identity !== undefined && { own: at(`${identity.id}.${LOCK_FILE}`) }),
  }
}

/** The lock of the bundle to which a document belongs; undefined where there is none, null for a file that is no lock. */
export function readRawLock(workspace: Workspace, document: Document): RawLock | null | undefined {
  const path = pathOf(workspace, document)
  if (path === undefined || !workspace.files.has(path)) return undefined
  try {
    const value = JSON.parse(workspace.text(path)) as JsonValue
    if (!isJsonObject(value) || value['lockfile_version'] !== 1 || !Array.isArray(value['members'])) return null
    return { members: entries(value['members']), mcp: entries(value['mcp']) }
  } catch {
    return null
  }
}

function pathOf(workspace: Workspace, document: Document): string | undefined {
  const bundle = workspace.bundleOf(document)
  if (bundle !== undefined) return joinPath(bundle, LOCK_FILE)
  // Most agents without a bundle have no lock; then their neighbours need not be searched.
  const { shared, own = shared } = pathsOf(document)
  return workspace.files.has(shared) || workspace.files.has(own) ? lockPathOf(workspace, document) : undefined
}

const REGISTRY_KINDS = { tool: 'Tool', policy: 'Policy', agent: 'Agent' } as const

/** The registry's word for the kind of a locked member; undefined for a file. */
export const registryKindOf = (kind: string | undefined): 'Tool' | 'Policy' | 'Agent' | undefined =>
  kind === 'tool' || kind === 'policy' || kind === 'agent' ? REGISTRY_KINDS[kind] : undefined

/** The lock, as `readLock`; undefined also for an unreadable one. */
export const lockOf = (workspace: Workspace, document: Document): RawLock | undefined =>
  readRawLock(workspace, document) ?? undefined

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
