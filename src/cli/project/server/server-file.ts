/** `server.json` in the data directory: where the server that holds the directory listens. Written by the server, 0600. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory } from '../../../base/make-directory.ts'
import { writeUserFile } from '../../files/write-file.ts'

export interface FoundServerFile {
  readonly pid: number
  readonly url: string
  readonly uploadUrl: string
  /** Null where the console is off. */
  readonly consoleUrl: string | null
  readonly adminSocket: string | null
  /** The key that `svc dev` made; with it the client commands need no other. */
  readonly key?: { readonly secret: string; readonly agent: string }
}

/** Undefined where no server has written one. */
export async function readServerFile(dataDirectory: string): Promise<FoundServerFile | undefined> {
  try {
    return JSON.parse(await readFile(join(dataDirectory, 'server.json'), 'utf8')) as FoundServerFile
  } catch {
    return undefined
  }
}

/** Readers never see half of it. */
export async function replaceServerFile(dataDirectory: string, file: FoundServerFile): Promise<void> {
  const path = join(dataDirectory, 'server.json')
  makeDirectory(dataDirectory, 0o700)
  await writeUserFile(path, `${JSON.stringify(file, null, 2)}\n`, 0o600)
}

export const deleteServerFile = (dataDirectory: string): Promise<void> =>
  rm(join(dataDirectory, 'server.json'), { force: true })
