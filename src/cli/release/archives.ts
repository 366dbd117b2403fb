/** Bundles in one file. */
import { fail, isFailure } from '../../base/failure.ts'
import { readArchive, type ReadArchive } from '../../compile/package/archive.ts'
import type { CommandContext } from '../shell/command.ts'
import { readUserFile } from '../files/read-file.ts'
import { stdinBytes } from '../files/stdin-bytes.ts'

/** True for the name of an archive, and for standard input. */
export const isArchivePath = (path: string): boolean => path === '-' || /\.(?:tgz|tar\.gz)$/.test(path)

/** @param path absolute, or `-` @throws Failure `no_documents`, `file_unusable`, `bundle_invalid` */
export async function openArchiveAt({ io }: Pick<CommandContext, 'io'>, path: string): Promise<ReadArchive> {
  return await readArchive(path === '-' ? await stdinBytes(io) : await fromFile(path))
}

async function fromFile(path: string): Promise<Uint8Array> {
  try {
    return await readUserFile(path)
  } catch (cause) {
    throw isFailure(cause, 'file_missing') ? fail('no_documents', { where: path }, { cause }) : cause
  }
}
