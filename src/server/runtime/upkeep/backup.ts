/**
 * Archives a data directory while a server uses it: a consistent copy of the database, then every file it refers to. Stored
 * files never change, so they match the database whenever they are read.
 * Source: docs/design/command-line.md#serving
 */
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createTarPacker } from 'modern-tar'
import { toIsoText } from '../../../base/clock.ts'
import type { StoredFile } from '../../../spec/file.ts'
import { openBlobs, type ServerServices } from '../services.ts'

export const BACKUP_MANIFEST = 'svc.backup.json'
export const DATABASE = 'data.db'

/** The first entry of a backup. The object with number `n` is the entry `objects/n`. */
export interface BackupManifest {
  readonly v: 1
  readonly workspace: string
  readonly version: string
  readonly createdAt: string
  readonly runs: number
  readonly objects: readonly { readonly key: string; readonly mediaType: string; readonly sizeBytes: number }[]
}

export interface OpenBackup {
  readonly manifest: BackupManifest
  /** `.tar.gz`. */
  readonly stream: ReadableStream<Uint8Array>
}

const PAGE = 500

export async function createBackup(services: ServerServices): Promise<OpenBackup> {
  const { store, workspace, serverState: about, clock } = services
  const directory = await mkdtemp(join(services.directory ?? tmpdir(), 'backup-'))
  const file = join(directory, DATABASE)
  try {
    // The database first: then no file that it refers to can be missing from the archive.
    await store.backup(file)
    const objects = (await allFiles(services)).map(({ objectKey, mediaType, sizeBytes }) => ({
      key: objectKey,
      mediaType,
      sizeBytes: sizeBytes ?? 0,
    }))
    const runs = (await store.runs({ workspaceId: workspace.id }, { skip: 0, take: 1 })).total
    const manifest: BackupManifest = {
      v: 1,
      workspace: workspace.name,
      version: about.version,
      createdAt: toIsoText(clock.now()),
      runs,
      objects,
    }
    return { manifest, stream: pack(services, manifest, file, () => rm(directory, { recursive: true, force: true })) }
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
}

async function allFiles({ store, workspace }: ServerServices): Promise<readonly StoredFile[]> {
  const files: StoredFile[] = []
  for (;;) {
    const { items } = await store.files(workspace.id, { skip: files.length, take: PAGE })
    files.push(...items)
    if (items.length < PAGE) return files
  }
}

function pack(
  services: ServerServices,
  manifest: BackupManifest,
  database: string,
  end: () => Promise<void>,
): ReadableStream<Uint8Array> {
  const { readable, controller } = createTarPacker()
  const add = async (name: string, size: number, body: ReadableStream<Uint8Array>): Promise<void> =>
    await body.pipeTo(controller.add({ name, size, type: 'file', mode: 0o600, mtime: new Date(manifest.createdAt) }))
  const fill = async (): Promise<void> => {
    const text = new TextEncoder().encode(`${JSON.stringify(manifest)}\n`)
    await add(BACKUP_MANIFEST, text.length, new Blob([text]).stream())
    const { size } = await stat(database)
    await add(DATABASE, size, Readable.toWeb(createReadStream(database)) as ReadableStream<Uint8Array>)
    const blobs = manifest.objects.length === 0 ? undefined : await openBlobs(services)
    for (const [at, { key }] of manifest.objects.entries()) {
      const bytes = await blobs?.get(key)
      if (!bytes) throw new Error(`The object ${key} is in the database and not in the storage.`)
      await add(`objects/${at}`, bytes.length, new Blob([new Uint8Array(bytes)]).stream())
    }
  }
  // Cleans up before the archive ends: a reader that read to the end finds no temporary files, one that stops ends the writing.
  const finish = async (): Promise<void> => {
    try {
      await fill()
    } finally {
      await end()
    }
    controller.finalize()
  }
  finish().catch((error: unknown) => controller.error(error))
  return readable.pipeThrough(new CompressionStream('gzip') as TransformStream<Uint8Array, Uint8Array>)
}
