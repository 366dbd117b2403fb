/** Restores a backup into a data directory, completely or not at all. Source: docs/design/runs-and-recovery.md#restoring */
import { createWriteStream, existsSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createTarDecoder } from 'modern-tar'
import type { Clock } from '../../../base/clock.ts'
import { fail } from '../../../base/failure.ts'
import type { Log } from '../../../base/log.ts'
import type { ProjectConfig } from '../../../spec/project/config.ts'
import { lockDirectory } from '../../../store/sqlite/database/lock.ts'
import { holdRestoredWork, type HeldCounts } from '../../../store/sqlite/sessions/hold-restored.ts'
import { verifyDatabase } from '../../../store/sqlite/database/verify.ts'
import { DATABASE, BACKUP_MANIFEST, type BackupManifest } from './backup.ts'
import { openStorage, type ObjectStorage } from '../open/storage.ts'

export interface RestoreOptions {
  readonly dataDirectory: string
  readonly config: ProjectConfig
  readonly archive: ReadableStream<Uint8Array>
  /** Replaces the present contents of the directory. */
  readonly force: boolean
  readonly clock: Clock
  readonly log: Log
}

export interface RestoredBackup {
  readonly manifest: BackupManifest
  /** Runs and triggers that are held until they are released. */
  readonly held: HeldCounts
}

/** Entries of a data directory that a backup replaces. */
const BACKED_UP = [DATABASE, `${DATABASE}-wal`, `${DATABASE}-shm`, 'objects']

/**
 * Changes the directory only after the whole archive was read and its database checked. Open runs and triggers are restored
 * as held, because the backup lacks what they did after it was taken.
 * @throws Failure `store_locked` while a server holds the directory, `directory_not_empty`, `backup_invalid`
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoredBackup> {
  const { dataDirectory, force } = options
  const lock = lockDirectory(dataDirectory)
  try {
    if (!force && existsSync(join(dataDirectory, DATABASE)))
      throw fail('directory_not_empty', { directory: dataDirectory }, { fix: '--force replaces what is there.' })
    const staging = await mkdtemp(join(dataDirectory, 'restore-'))
    try {
      const manifest = await unpack(options, staging)
      verifyDatabase(join(staging, DATABASE))
      const held = holdRestoredWork(join(staging, DATABASE), options.clock.now(), Date.parse(manifest.createdAt))
      for (const name of BACKED_UP) await rm(join(dataDirectory, name), { recursive: true, force: true })
      for (const name of [DATABASE, 'objects'])
        if (existsSync(join(staging, name))) await rename(join(staging, name), join(dataDirectory, name))
      await writeFile(join(dataDirectory, 'workspace'), `${manifest.workspace}\n`, { mode: 0o600 })
      return { manifest, held }
    } finally {
      await rm(staging, { recursive: true, force: true })
    }
  } finally {
    lock.release()
  }
}

async function unpack({ archive, config, clock, log }: RestoreOptions, staging: string): Promise<BackupManifest> {
  const entries = archive
    .pipeThrough(new DecompressionStream('gzip') as TransformStream<Uint8Array, Uint8Array>)
    .pipeThrough(createTarDecoder({ strict: true }))
  let manifest: BackupManifest | undefined
  let storage: ObjectStorage | undefined
  let [database, objects] = [false, 0]
  try {
    for await (const { header, body } of entries) {
      if (!manifest) {
        if (header.name !== BACKUP_MANIFEST) throw invalid(`its first entry is ${header.name}`)
        manifest = readManifest(await new Response(body).text())
      } else if (header.name === DATABASE && !database) {
        await pipeline(Readable.fromWeb(body as never), createWriteStream(join(staging, DATABASE), { mode: 0o600 }))
        database = true
      } else {
        const object = manifest.objects[objects]
        if (header.name !== `objects/${objects}` || !object)
          throw invalid(`it holds ${header.name}, which it does not list`)
        storage ??= await openStorage(config, { directory: staging, host: '127.0.0.1', port: 0, hosts: [], clock, log })
        const bytes = new Uint8Array(await new Response(body).arrayBuffer())
        if (bytes.length !== object.sizeBytes) throw invalid(`${object.key} has another size than it should`)
        await storage.blobs.put(object.key, bytes, object.mediaType)
        objects++
      }
    }
  } catch (error) {
    if (error instanceof Error && error.name !== 'Failure') throw invalid(error.message, error)
    throw error
  } finally {
    await storage?.close(0)
  }
  if (!manifest || !database || objects !== manifest.objects.length) throw invalid('it ends before its end')
  return manifest
}

function readManifest(text: string): BackupManifest {
  const value = JSON.parse(text) as BackupManifest
  if (value.v !== 1 || typeof value.workspace !== 'string' || !Array.isArray(value.objects))
    throw invalid(`its ${BACKUP_MANIFEST} is of another version`)
  return value
}

const invalid = (why: string, cause?: unknown) => fail('backup_invalid', { why }, { cause })
