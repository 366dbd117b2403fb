/** Writes and checks `svc.lock` of a build. Source: docs/design/bundles-and-authority.md#lock */
import { join, relative } from 'node:path'
import { fail } from '../../base/failure.ts'
import { lockDrift, writeLock, type LockFile } from '../../compile/state/lock-file.ts'
import type { BundleBuild } from './build.ts'
import { readTextIfAny } from '../../base/files/sync-files.ts'
import { writeUserFile } from '../../base/files/write-file.ts'

/** Absolute. */
export const lockFileOf = ({ workspace, compiled }: BundleBuild): string =>
  join(workspace.root, compiled?.lockPath ?? 'svc.lock')

/** An unchanged lock is not written again. */
export async function saveLock(built: BundleBuild, lock: LockFile): Promise<void> {
  const [path, text] = [lockFileOf(built), writeLock(lock)]
  if (readTextIfAny(path) === text) return
  await writeUserFile(path, text)
}

/**
 * Checks that the lock matches the compiled documents.
 * @param built without errors
 * @param cwd directory that the printed path is relative to
 * @throws Failure `compile/drift`, with each member that differs
 */
export function checkDrift(built: BundleBuild, cwd: string): void {
  const { locked, lock } = built.compiled ?? {}
  const path = relative(cwd, lockFileOf(built))
  if (!locked) throw fail('compile/drift', { what: `There is no ${path}.` })
  const drift = lock ? lockDrift(locked, lock) : []
  if (!lock || drift.length === 0) return
  const [was, is] = [locked, lock].map((each) => `${each.closure_digest.slice(0, 15)}…`)
  const what = was === is ? 'is not what the documents compile to.' : `says ${was}, the documents compile to ${is}`
  throw fail('compile/drift', { what: `${path} ${what}` }, { details: drift.map((message) => ({ path, message })) })
}

/** Rules whose findings are fixed by writing the lock again. */
export const ABOUT_LOCK = new Set(['bundle/lock-missing', 'bundle/lock-drift'])
