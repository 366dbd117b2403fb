/** Bundles that come as one file. */
import { readFile } from 'node:fs/promises'
import { fail } from '../base/failure.ts'
import { readArchive, type ReadArchive } from '../compile/archive.ts'
import { readLock, type LockFile } from '../compile/lock.ts'
import { LOCK } from '../compile/pack.ts'
import { directoryOf, joinPath } from '../documents/paths.ts'
import type { Call } from './command.ts'

/** True for a path that means an archive: a name of one, or standard input. */
export const isArchivePath = (path: string): boolean => path === '-' || /\.(?:tgz|tar\.gz)$/.test(path)

/** @param path absolute, or `-` @throws Failure `no_documents`, `bundle_invalid` */
export async function openArchiveAt({ io }: Pick<Call, 'io'>, path: string): Promise<ReadArchive> {
  return await readArchive(path === '-' ? await fromStdin(io) : await fromFile(path))
}

/** The lock that was packed beside the root. */
export function lockIn({ root, files }: ReadArchive): LockFile | undefined {
  const bytes = files.get(joinPath(directoryOf(root), LOCK))
  return bytes && readLock(new TextDecoder().decode(bytes))
}

const fromStdin = async ({ stdin }: Call['io']): Promise<Uint8Array> =>
  stdin.bytes ? await stdin.bytes() : Buffer.from(await stdin.text())

async function fromFile(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw fail('no_documents', { where: path }, { cause })
  }
}
