/** Bundles that come as one file. */
import { readFile } from 'node:fs/promises'
import { fail } from '../base/failure.ts'
import { readArchive, type ReadArchive } from '../compile/archive.ts'
import type { Call } from './command.ts'
import { stdinBytes } from './stdin-bytes.ts'

/** True for a path that means an archive: a name of one, or standard input. */
export const isArchivePath = (path: string): boolean => path === '-' || /\.(?:tgz|tar\.gz)$/.test(path)

/** @param path absolute, or `-` @throws Failure `no_documents`, `bundle_invalid` */
export async function openArchiveAt({ io }: Pick<Call, 'io'>, path: string): Promise<ReadArchive> {
  return await readArchive(path === '-' ? await stdinBytes(io) : await fromFile(path))
}

async function fromFile(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw fail('no_documents', { where: path }, { cause })
  }
}
