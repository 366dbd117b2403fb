/** `svc.lock` beside the documents. */
import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { LOCK } from '../compile/pack.ts'
import { readLock, type LockFile } from '../compile/lock.ts'

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
