import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { FIFO_POLL_MS, FIFO_WAIT_MS, isNotYetReadable, silentFifo, WITHOUT_WAITING } from './fifo.ts'

const MAX_BYTES = 64 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024

/**
 * The text of a file that a user named, at most 64 MiB: a device without an end would fill the memory.
 * @param waitMs for somebody to write to a named pipe
 * @throws the error of the file system; `EFBIG` for a longer file, `ERR_FIFO_SILENT` for a pipe to which nobody writes
 */
export function readBoundedText(path: string, waitMs = FIFO_WAIT_MS): string {
  const file = openSync(path, constants.O_RDONLY | WITHOUT_WAITING)
  try {
    const chunks: Buffer[] = []
    for (let [length, waited] = [0, 0]; ;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      const count = readNow(file, chunk)
      if (count === undefined || (count === 0 && length === 0 && fstatSync(file).isFIFO())) {
        if (count === 0 && (waited += FIFO_POLL_MS) > waitMs) throw silentFifo(path)
        sleep(FIFO_POLL_MS)
        continue
      }
      if (count === 0) return Buffer.concat(chunks).toString('utf8')
      chunks.push(chunk.subarray(0, count))
      length += count
      if (length > MAX_BYTES)
        throw Object.assign(new Error(`EFBIG: file too large, read '${path}'`), {
          code: 'EFBIG',
          syscall: 'read',
          path,
        })
    }
  } finally {
    closeSync(file)
  }
}

/** Undefined where nothing can be read yet. */
function readNow(file: number, chunk: Buffer): number | undefined {
  try {
    return readSync(file, chunk, 0, CHUNK_BYTES, null)
  } catch (error) {
    if (isNotYetReadable(error)) return undefined
    throw error
  }
}

const sleep = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
