/** Reads the log on disk, oldest line first, and can follow new lines. */
import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { LOG_DIRECTORY, logFileName } from './log-file.ts'

/** Files to search for; more than are ever kept. */
const OLDEST = 20
const POLL_MS = 200
const CHUNK = 64 * 1024

/**
 * Yields complete, valid lines.
 * @param goesOn called before each read of new lines: true = continue; absent = read only the present lines
 */
export async function* readLog(directory: string, goesOn: () => boolean = () => false): AsyncGenerator<JsonObject> {
  const path = (age: number): string => join(directory, LOG_DIRECTORY, logFileName(age))
  for (let age = OLDEST; age > 0; age--) yield* linesOf(path(age), 0)
  let at = yield* linesOf(path(0), 0)
  let inode = await inodeOf(path(0))
  while (goesOn()) {
    await after(POLL_MS)
    const now = await inodeOf(path(0))
    if (now !== inode) {
      // The file was rotated: read its rest, then the new one from its beginning.
      if (inode !== undefined) yield* linesOf(path(1), at)
      inode = now
      at = 0
    }
    at = yield* linesOf(path(0), at)
  }
}

const inodeOf = async (path: string): Promise<number | undefined> => (await stat(path).catch(() => undefined))?.ino

/** Yields lines from a position and returns where the last complete line ends. */
async function* linesOf(path: string, from: number): AsyncGenerator<JsonObject, number> {
  const file = await open(path, 'r').catch(() => undefined)
  if (!file) return from
  try {
    const buffer = Buffer.alloc(CHUNK)
    let rest = Buffer.alloc(0)
    let at = from
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, CHUNK, at + rest.length)
      if (bytesRead === 0) return at
      const text = Buffer.concat([rest, buffer.subarray(0, bytesRead)])
      let start = 0
      for (let end = text.indexOf(10); end >= 0; end = text.indexOf(10, start)) {
        const line = readable(text.subarray(start, end).toString('utf8'))
        start = end + 1
        if (line) yield line
      }
      at += start
      rest = text.subarray(start)
    }
  } finally {
    await file.close()
  }
}

function readable(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as JsonValue
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
