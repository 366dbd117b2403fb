/** `svc.lock` beside the documents. */
import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fail } from '../base/failure.ts'
import { LOCK } from '../compile/pack.ts'
import { lockDrift, readLock, type LockFile } from '../compile/lock.ts'

/** Where the lock of a document or a directory lies. @param path absolute */
export async function lockPathOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  return join(found?.isDirectory() ? path : dirname(path), LOCK)
}

/** Undefined where there is none. @throws Failure `lock_drift` for a file that is no lock */
export async function readLockFile(lockPath: string): Promise<LockFile | undefined> {
  const text = await readFile(lockPath, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : readLock(text)
}

/**
 * The lock is what the documents compile to.
 * @param path as people see it
 * @throws Failure `lock_drift`, with each member that differs
 */
export function checkDrift(locked: LockFile | undefined, compiled: LockFile, path: string): void {
  if (!locked) throw fail('lock_drift', { what: `There is no ${path}.` })
  const drift = lockDrift(locked, compiled)
  if (drift.length > 0)
    throw fail(
      'lock_drift',
      { what: `${path} is not what the documents compile to.` },
      { details: drift.map((message) => ({ path, message })) },
    )
}
