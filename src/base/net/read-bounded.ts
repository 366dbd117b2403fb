import { closeSync, openSync, readSync } from 'node:fs'

const MAX_BYTES = 64 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024

/**
 * The text of a file that a user named, at most 64 MiB: a device without an end would fill the memory.
 * @throws the error of the file system; `EFBIG` for a longer file
 */
export function readBoundedText(path: string): string {
  const file = openSync(path, 'r')
  try {
    const chunks: Buffer[] = []
    for (let length = 0; ;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      const count = readSync(file, chunk, 0, CHUNK_BYTES, null)
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
