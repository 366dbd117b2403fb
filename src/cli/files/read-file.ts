import { constants, openAsBlob } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fail } from '../../base/failure.ts'
import { fileFailure } from '../../base/files/file-error.ts'
import { FIFO_POLL_MS, FIFO_WAIT_MS, isNotYetReadable, silentFifo, WITHOUT_WAITING } from '../../base/files/fifo.ts'

/** Larger than any text or bundle that a command takes. The limit also stops endless devices such as `/dev/zero`. */
const MOST_MIB = 64
const CHUNK_BYTES = 64 * 1024

/**
 * The bytes of a file that the command line names.
 * @param path absolute
 * @param named path as the user typed it, for errors
 * @param most MiB that are read
 * @param waitMs for somebody to write to a named pipe
 * @throws Failure `file_missing`, `file_unusable`
 */
export async function readUserFile(
  path: string,
  named = path,
  most = MOST_MIB,
  waitMs = FIFO_WAIT_MS,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  let waited = 0
  try {
    const file = await open(path, constants.O_RDONLY | WITHOUT_WAITING)
    try {
      for (;;) {
        const chunk = await readNow(file)
        if (chunk === undefined || (chunk.length === 0 && length === 0 && (await file.stat()).isFIFO())) {
          if (chunk && (waited += FIFO_POLL_MS) > waitMs) throw silentFifo(path)
          await setTimeout(FIFO_POLL_MS)
          continue
        }
        if (chunk.length === 0) return Buffer.concat(chunks)
        chunks.push(chunk)
        length += chunk.length
        if (length > most * 1024 * 1024)
          throw fail('file_unusable', { path: named, doing: 'read', why: `it has more than ${most} MiB` })
      }
    } finally {
      await file.close()
    }
  } catch (error) {
    throw fileFailure(error, { path: named, doing: 'read' }) ?? error
  }
}

/** Undefined where nothing can be read yet. */
async function readNow(file: FileHandle): Promise<Buffer | undefined> {
  try {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES))
    return buffer.subarray(0, bytesRead)
  } catch (error) {
    if (isNotYetReadable(error)) return undefined
    throw error
  }
}

/**
 * Opens a file for upload; it is read while it is sent.
 * @param path absolute
 * @param named path as the user typed it, for errors
 * @throws Failure `file_missing`, `file_unusable`
 */
export async function openUserFile(path: string, named: string): Promise<File> {
  try {
    if ((await stat(path)).isFile()) {
      // Opened for its precise error: a blob reports only that it cannot be read.
      await (await open(path)).close()
      return new File([await openAsBlob(path)], basename(path))
    }
  } catch (error) {
    throw fileFailure(error, { path: named, doing: 'read' }) ?? error
  }
  throw fail('file_unusable', { path: named, doing: 'read', why: 'it is not a regular file' })
}
