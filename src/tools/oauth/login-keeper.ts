/** Where logins are kept: a file each, which only its owner may read. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileErrorOf } from '../../base/files/file-error.ts'
import { parseJsonIfAny } from '../../base/json/json.ts'
import { replacePrivateFile } from '../../base/files/private-file.ts'
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
      const login = readMcpLogin(parseJsonIfAny(text) ?? null)
      if (!login) throw new Error(`${placeOf(name)} is no login of svc`)
      return login
    },
    // The last refresh token is worthless once the next one was given, so a crash leaves one of both, whole.
    async write(name, login) {
      replacePrivateFile(placeOf(name), `${JSON.stringify(login, undefined, 2)}\n`)
    },
    async erase(name) {
      await rm(placeOf(name), { force: true })
    },
  }
}
