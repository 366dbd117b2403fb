/**
 * The log on disk: `server.log` in `logs/` of the data directory, and its predecessors `server.1.log` and on. Together they
 * stay below a bound, whatever happens. Source: command line, `svc logs`.
 */
import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { toIsoText, type Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import type { Redactor } from '../../base/secret.ts'

export const LOG_DIRECTORY = 'logs'

/** The newest is 0. */
export const logFileName = (age: number): string => (age === 0 ? 'server.log' : `server.${age}.log`)

export interface LogFile extends Log {
  close(): void
}

export interface LogFileOptions {
  /** The data directory. */
  readonly directory: string
  readonly redactor: Redactor
  readonly clock: Clock
  /** Bytes after which a file is set aside. */
  readonly maxBytes?: number
  /** Files that are kept, with the one that is written. */
  readonly files?: number
}

/** Lines wait so long to be written together: what a crash of the whole machine may cost. */
const TOGETHER_MS = 50
/** More than this is written at once. */
const TOGETHER_BYTES = 64 * 1024

/** A disk that takes no log must not stop the server: lines are then dropped. */
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
  const setAside = (): void => {
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
        setAside()
        file = open()
      }
      size += writeSync(file, text)
    } catch {
      // No room, or no right to write: the server goes on.
    }
  }
  return {
    write(level, message, values = {}) {
      // Put together as text: an object with the values in its midst takes V8 longer than all the rest of a line.
      const said = JSON.stringify(redactor.json(values)).slice(1, -1)
      const line = `{"level":"${level}","time":"${toIsoText(clock.now())}",${said}${said && ','}"msg":${JSON.stringify(message)}}\n`
      waiting.push(line)
      bytes += line.length
      if (bytes >= TOGETHER_BYTES) flush()
      else {
        timer ??= setTimeout(flush, TOGETHER_MS)
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

/** Every line to each. */
export const logToAll = (...logs: readonly Log[]): Log => ({
  write: (level, message, values) => logs.forEach((log) => log.write(level, message, values)),
})
