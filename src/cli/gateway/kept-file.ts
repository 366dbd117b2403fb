/**
 * What a client's file was before svc was put before its servers. It may hold secrets, so only its owner reads it.
 * Source: docs/design/gate.md#clients-files
 */
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { makeDirectory } from '../../base/files/make-directory.ts'
import { listNamesIfAny, readTextIfAny } from '../../base/files/sync-files.ts'
import { writeUserFile } from '../../base/files/write-file.ts'

export interface KeptFile {
  /** The client's file, absolute. */
  readonly file: string
  /** Id of the agent that stands for the client. */
  readonly agent: string
  /** Name of the entry that leads to svc. */
  readonly gate: string
  readonly original: Uint8Array
  /** What svc wrote in its place. */
  readonly wrapped: string
}

const FOLDER = 'gateway'

/** Absolute. */
export const keptPathOf = (dataDirectory: string, file: string): string =>
  join(dataDirectory, FOLDER, `${createHash('sha256').update(file).digest('hex').slice(0, 16)}.json`)

export function findKeptFile(dataDirectory: string, file: string): KeptFile | undefined {
  return readKept(keptPathOf(dataDirectory, file))
}

export async function keepFile(dataDirectory: string, kept: KeptFile): Promise<void> {
  makeDirectory(join(dataDirectory, FOLDER), 0o700)
  const { original, ...rest } = kept
  const text = JSON.stringify({ ...rest, original: Buffer.from(original).toString('base64') }, null, 1)
  await writeUserFile(keptPathOf(dataDirectory, kept.file), `${text}\n`, 0o600)
}

export const forgetFile = (dataDirectory: string, file: string): void =>
  rmSync(keptPathOf(dataDirectory, file), { force: true })

/** In the order of their paths. */
export function listKeptFiles(dataDirectory: string): readonly KeptFile[] {
  const folder = join(dataDirectory, FOLDER)
  return listNamesIfAny(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => readKept(join(folder, name)) ?? [])
    .toSorted((a, b) => (a.file < b.file ? -1 : 1))
}

/** Undefined for a file that is not there, or that nobody of us wrote. */
function readKept(path: string): KeptFile | undefined {
  try {
    const value = JSON.parse(readTextIfAny(path)) as JsonValue
    if (!isJsonObject(value)) return undefined
    const { file, agent, gate, original, wrapped } = value
    const texts = [file, agent, gate, original, wrapped]
    if (!texts.every((each) => typeof each === 'string')) return undefined
    const [at, of, name, bytes, written] = texts as [string, string, string, string, string]
    return { file: at, agent: of, gate: name, original: Buffer.from(bytes, 'base64'), wrapped: written }
  } catch {
    return undefined
  }
}
