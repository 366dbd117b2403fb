/** Where logins are kept: a file each, which only its owner may read. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileErrorOf } from '../../base/file-error.ts'
import { parseJson } from '../../base/json/json.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { readMcpLogin, type McpLogin } from './login.ts'

export interface LoginKeeper {
  /** Reading is cheap enough to do before each request, so that a logout ends all use at once. */
  readonly isLocal: boolean
  /** Where a login is, for people. */
  placeOf(name: string): string
  /** @throws an error where it cannot be read, which is not to be taken for a login that is missing */
  read(name: string): Promise<McpLogin | undefined>
  /** Durable when it resolves. */
  write(name: string, login: McpLogin): Promise<void>
  erase(name: string): Promise<void>
}

/** Below the data directory. */
export const LOGIN_DIRECTORY = 'mcp-logins'

let drafts = 0

export function createLoginFiles(dataDirectory: string): LoginKeeper {
  const directory = join(dataDirectory, LOGIN_DIRECTORY)
  const placeOf = (name: string): string => join(directory, `${name}.json`)
  return {
    isLocal: true,
    placeOf,
    async read(name) {
      const text = await readFile(placeOf(name), 'utf8').catch((error: unknown) => {
        if (fileErrorOf(error)?.isMissing) return undefined
        throw error
      })
      if (text === undefined) return undefined
      const login = readMcpLogin(parseLogin(text))
      if (!login) throw new Error(`${placeOf(name)} is no login of svc`)
      return login
    },
    // The last refresh token is worthless once the next one was given, so a crash leaves one of both, whole.
    write(name, login) {
      makeDirectory(directory, 0o700)
      const draft = `${placeOf(name)}.${process.pid}-${drafts++}`
      try {
        writeDurably(draft, `${JSON.stringify(login, undefined, 2)}\n`)
        renameSync(draft, placeOf(name))
        syncDirectory(directory)
      } catch (error) {
        rmSync(draft, { force: true })
        return Promise.reject(error as Error)
      }
      return Promise.resolve()
    },
    async erase(name) {
      await rm(placeOf(name), { force: true })
    },
  }
}

function parseLogin(text: string) {
  try {
    return parseJson(text)
  } catch {
    return null
  }
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Windows syncs no directories. */
function syncDirectory(path: string): void {
  if (process.platform === 'win32') return
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
