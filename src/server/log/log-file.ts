/**
 * The log on disk: `server.log` in `logs/` of the data directory, rotated to `server.1.log` and so on. The total size is
 * bounded. Source: docs/design/command-line.md#serving
 */
import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { toIsoText, type Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { makeDirectory } from '../../base/files/make-directory.ts'
import type { Redactor } from '../../base/secret.ts'

export const LOG_DIRECTORY = 'logs'

/** @param age 0 is the newest */
export const logFileName = (age: number): string => (age === 0 ? 'server.log' : `server.${age}.log`)

export interface LogFile extends Log {
  close(): void
}

export interface LogFileOptions {
  /** The data directory. */
  readonly directory: string
  readonly redactor: Redactor
  readonly clock: Clock
  /** Size at which a file is rotated. */
  readonly maxBytes?: number
  /** Files kept, including the current one. */
  readonly files?: number
}

/** Lines are buffered this long, so a crash of the machine may lose as much. */
const FLUSH_MS = 50
/** A larger buffer is written immediately. */
const FLUSH_BYTES = 64 * 1024

/** Drops lines that cannot be written: a full disk must not stop the server. */
export function openLogFile(options: LogFileOptions): LogFile {
  const { redactor, clock, maxBytes = 8 * 1024 * 1024, files = 5 } = options
  const directory = join(options.directory, LOG_DIRECTORY)
  const path = (age: number): string => join(directory, logFileName(age))
  let file: number | undefined
  let size = 0
  let waiting: string[] = []
  let bytes = 0
  let timer: NodeJS.Timeout | undefined

  const open = (): number => {
    makeDirectory(directory, 0o700)
    const opened = openSync(path(0), 'a', 0o600)
    size = fstatSync(opened).size
    return opened
  }
  const rotate = (): void => {
    if (file !== undefined) closeSync(file)
    file = undefined
    for (let age = files - 2; age >= 0; age--) {
      try {
        renameSync(path(age), path(age + 1))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
  }
  const flush = (): void => {
    if (timer) clearTimeout(timer)
    timer = undefined
    const text = waiting.join('')
    waiting = []
    bytes = 0
    if (text === '') return
    try {
      file ??= open()
      if (size > 0 && size + text.length > maxBytes) {
        rotate()
        file = open()
      }
      size += writeSync(file, text)
    } catch {
      // Disk full or no permission: the server continues.
    }
  }
  return {
    write(level, message, values = {}) {
      // Joined as text: building one object with the values in the middle takes longer than the rest of the line.
      const fields = redactor.jsonText(values).slice(1, -1)
      const line = `{"level":"${level}","time":"${toIsoText(clock.now())}",${fields}${fields && ','}"msg":${JSON.stringify(message)}}\n`
      waiting.push(line)
      bytes += line.length
      if (bytes >= FLUSH_BYTES) flush()
      else {
        timer ??= setTimeout(flush, FLUSH_MS)
        timer.unref()
      }
    },
    close() {
      flush()
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}

/** Writes every line to each of the logs. */
export const logToAll = (...logs: readonly Log[]): Log => ({
  write: (level, message, values) => logs.forEach((log) => log.write(level, message, values)),
})
