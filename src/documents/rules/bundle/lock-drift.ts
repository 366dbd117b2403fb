import type { Document } from '../../text/document.ts'
import { readRawLock, type RawLock, type RawLockMember } from '../../facts/lock/lock-file.ts'
import {
  fileMember,
  lockMembers,
  lockMembersOf,
  type LocalMember,
  type RegistryMember,
} from '../../facts/lock/lock-members.ts'
import { joinPath } from '../../text/paths.ts'
import { fitsRange } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export const bundleLockDrift: LintRule = {
  severity: 'warning',
  law: 'The lock matches the members of the bundle.',
  fix: 'Run `svc compile` and commit svc.lock.',
  reason: 'The same documents then compile to the same bundle everywhere.',
  crossFile: true,
  kinds: ['Bundle', 'Agent'],
  check(document, report, { workspace }) {
    const root = rootOf(workspace, document)
    const lock = root && readRawLock(workspace, document)
    if (root === undefined || lock === undefined) return
    const stale = lock === null ? [] : drift(workspace, root, lock)
    const at = document.kind === 'Bundle' ? '/spec/root' : '/metadata/name'
    if (lock === null)
      report(at, 'svc.lock is not a lock file of version 1.', { fix: 'Delete it, then run `svc compile`.' })
    else if (stale.length > 0)
      report(at, `svc.lock is not of these documents: ${stale.join('; ')}.`, {
        fix: 'Run `svc compile` and commit svc.lock.',
      })
  },
}

/** The root agent of the closure: that of a Bundle, or an agent compiled without one. */
function rootOf(workspace: Workspace, document: Document): Document | undefined {
  const alone = workspace.bundleOf(document) === undefined
  if (document.kind === 'Agent') return alone && document.hasValidShape ? document : undefined
  const [root] = document.texts('spec.root')
  const found = root && workspace.resolve(document, root.value)
  return found && 'path' in found
    ? workspace.documentsAt(found.path).find((each) => each.kind === 'Agent' && each.hasValidShape)
    : undefined
}

/** The differences between the lock and the documents, one clause each. */
function drift(workspace: Workspace, root: Document, lock: RawLock): string[] {
  const { local, registry } = lockMembers(workspace, root)
  const placed = lock.members.map((member) => ({ member, path: pathOf(workspace, root, member) }))
  const isLocked = ({ kind, id }: LocalMember): boolean =>
    placed.some(({ member, path }) => (kind === 'file' ? path === id : member.kind === kind && member.id === id))
  return [
    ...placed.flatMap(({ member, path }) => {
      const why = member.origin === 'local' ? whyStale(workspace, local, member, path) : undefined
      return why === undefined ? [] : [`${member.id} ${why}`]
    }),
    ...local.filter((each) => !isLocked(each)).map(({ id }) => `${id} is not in it`),
    ...new Set(registry.flatMap((each) => whyUnlocked(each, lock) ?? [])),
  ]
}

/** Path of a locked file: the lock may have been written, or is read, from a parent directory. */
function pathOf(workspace: Workspace, root: Document, { path }: RawLockMember): string | undefined {
  const { paths } = workspace.files
  if (path === undefined) return undefined
  const inside = joinPath(workspace.bundleDirectory(root), path)
  return [path, inside].find((each) => paths.includes(each)) ?? paths.find((each) => path.endsWith(`/${each}`))
}

function whyStale(
  workspace: Workspace,
  local: readonly LocalMember[],
  { kind, id, version, integrity, path: written }: RawLockMember,
  path: string | undefined,
): string | undefined {
  if (written === undefined) return undefined
  if (path === undefined) return `is locked from ${written}, which is gone`
  const part = local.find((each) => each.kind === kind && each.id === id)
  if (part === undefined && (kind === 'agent' || kind === 'tool')) return 'is no longer part of the bundle'
  const now = part ?? memberAt(workspace, path, kind, id)
  if (now === undefined) return `is locked from ${written}, where it no longer is`
  if (version !== undefined && now.version !== undefined && now.version !== version)
    return `is locked in ${version}, but is ${now.version}`
  const differs = integrity !== undefined && now.integrity !== undefined && now.integrity !== integrity
  return differs ? 'has changed since' : undefined
}

/** A file, or a policy that is not referenced by the documents of the bundle itself. */
function memberAt(workspace: Workspace, path: string, kind?: string, id?: string): LocalMember | undefined {
  if (kind !== 'policy') return fileMember(workspace, path)
  return workspace
    .documentsAt(path)
    .flatMap((document) => lockMembersOf(workspace, document))
    .find((each) => each.kind === kind && each.id === id)
}

function whyUnlocked({ kind, id, range }: RegistryMember, { members }: RawLock): string | undefined {
  const versions = members.flatMap((each) =>
    each.kind === kind && each.id === id && each.version !== undefined ? [each.version] : [],
  )
  const wanted = range === undefined ? id : `${id}@${range}`
  if (versions.length === 0) return `${wanted} is not in it`
  return versions.some((version) => fitsRange(version, range))
    ? undefined
    : `${id} is locked in ${versions.join(', ')}, but ${wanted} is bound`
}
