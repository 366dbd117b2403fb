/**
 * Stores objects on disk. The bytes of an object are a file that never changes; a small record has its key, its media type and
 * the name of that file. An object changes only when its record is renamed into place, so a crash leaves either the old or
 * the new object. File names are hashes of keys; a key is never used as a path.
 */
import { createHash, randomUUID } from 'node:crypto'
import { copyFile, link, open, readdir, readFile, rename, rm, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Clock, Instant } from '../../base/clock.ts'
import { makeDirectory } from '../../base/files/make-directory.ts'

export interface ObjectInfo {
  readonly key: string
  readonly sizeBytes: number
  /** The MD5 of the bytes, in quotation marks as in the header. */
  readonly etag: string
  readonly modifiedAt: Instant
  readonly mediaType: string | undefined
  /** `x-amz-meta-` headers, without the prefix. */
  readonly metadata: Readonly<Record<string, string>>
}

export type ObjectDescription = Pick<ObjectInfo, 'mediaType' | 'metadata'>

export interface ObjectDisk {
  /** Writes the bytes of `source`. When `source` throws, the object does not change and no file is left. */
  write(key: string, source: AsyncIterable<Uint8Array>, about: ObjectDescription): Promise<ObjectInfo>
  stat(key: string): Promise<ObjectInfo | undefined>
  /** @param range first and last byte, both included */
  read(key: string, range?: readonly [number, number]): Promise<{ info: ObjectInfo; bytes: Readable } | undefined>
  /** @param about replaces the description of the object */
  copy(from: string, to: string, about?: ObjectDescription): Promise<ObjectInfo | undefined>
  remove(key: string): Promise<void>
  /** Every object, ordered by key. */
  list(): Promise<readonly ObjectInfo[]>
}

interface ObjectEntry extends ObjectInfo {
  readonly v: 1
  /** Name of the file with the bytes. */
  readonly file: string
}

/** Opens the directory, readable by its owner only, and removes files of no record, which a crash left behind. */
export async function openObjectDisk(directory: string, clock: Clock): Promise<ObjectDisk> {
  const bytesIn = join(directory, 'bytes')
  const recordsIn = join(directory, 'records')
  for (const each of [directory, bytesIn, recordsIn]) makeDirectory(each, 0o700)
  const fileOf = (name: string): string => join(bytesIn, name)
  const recordOf = (key: string): string => join(recordsIn, `${createHash('sha256').update(key).digest('hex')}.json`)

  const load = async (path: string): Promise<ObjectEntry | undefined> => {
    const text = await readFile(path, 'utf8').catch(ignoreMissing)
    return text === undefined ? undefined : (JSON.parse(text) as ObjectEntry)
  }
  const loadAll = async (): Promise<ObjectEntry[]> => {
    const names = (await readdir(recordsIn)).filter((name) => name.endsWith('.json'))
    const records: ObjectEntry[] = []
    for (const name of names) {
      const record = await load(join(recordsIn, name))
      if (record) records.push(record)
    }
    return records
  }
  await removeUnused(bytesIn, recordsIn, new Set((await loadAll()).map(({ file }) => file)))

  // Writes of one key run one after the other, so that each can remove the file of the record that it replaces.
  const lastWrites = new Map<string, Promise<unknown>>()
  const serialize = <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const write = (lastWrites.get(key) ?? Promise.resolve()).then(work, work)
    const settled = write
      .then(doNothing, doNothing)
      .finally(() => lastWrites.get(key) === settled && lastWrites.delete(key))
    lastWrites.set(key, settled)
    return write
  }
  const commit = (record: ObjectEntry): Promise<ObjectInfo> =>
    serialize(record.key, async () => {
      const path = recordOf(record.key)
      const replaced = await load(path)
      const draft = `${path}.${randomUUID()}`
      await writeDurably(draft, [Buffer.from(JSON.stringify(record))])
      await rename(draft, path)
      await syncDirectory(recordsIn)
      if (replaced) await unlink(fileOf(replaced.file)).catch(ignoreMissing)
      return infoOf(record)
    })

  return {
    async write(key, source, about) {
      const file = randomUUID()
      const md5 = createHash('md5')
      let sizeBytes = 0
      try {
        await writeDurably(fileOf(file), source, (chunk) => {
          md5.update(chunk)
          sizeBytes += chunk.byteLength
        })
        await syncDirectory(bytesIn)
        const etag = `"${md5.digest('hex')}"`
        return await commit({ v: 1, file, key, sizeBytes, etag, modifiedAt: clock.now(), ...about })
      } catch (error) {
        await unlink(fileOf(file)).catch(ignoreMissing)
        throw error
      }
    },
    async stat(key) {
      const record = await load(recordOf(key))
      return record && infoOf(record)
    },
    async read(key, range) {
      // Another write may remove the file before it is opened; then there is a new record to read.
      for (;;) {
        const record = await load(recordOf(key))
        if (!record) return undefined
        const handle = await open(fileOf(record.file)).catch(ignoreMissing)
        if (!handle) continue
        const span = range ? { start: range[0], end: range[1] } : {}
        return { info: infoOf(record), bytes: handle.createReadStream(span) }
      }
    },
    async copy(from, to, about) {
      const record = await load(recordOf(from))
      if (!record) return undefined
      const file = randomUUID()
      // The bytes never change, so a hard link is as good as a copy.
      await link(fileOf(record.file), fileOf(file)).catch(() => copyFile(fileOf(record.file), fileOf(file)))
      await syncDirectory(bytesIn)
      return commit({ ...record, ...about, key: to, file, modifiedAt: clock.now() })
    },
    remove: (key) =>
      serialize(key, async () => {
        const record = await load(recordOf(key))
        if (!record) return
        await unlink(recordOf(key)).catch(ignoreMissing)
        await syncDirectory(recordsIn)
        await unlink(fileOf(record.file)).catch(ignoreMissing)
      }),
    async list() {
      return (await loadAll()).map(infoOf).sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
    },
  }
}

const infoOf = ({ key, sizeBytes, etag, modifiedAt, mediaType, metadata }: ObjectEntry): ObjectInfo => ({
  key,
  sizeBytes,
  etag,
  modifiedAt,
  mediaType,
  metadata,
})

async function removeUnused(bytesIn: string, recordsIn: string, named: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(bytesIn)) if (!named.has(name)) await rm(join(bytesIn, name), { force: true })
  for (const name of await readdir(recordsIn))
    if (!name.endsWith('.json')) await rm(join(recordsIn, name), { force: true })
}

/** Resolves when the file is on the disk and not only in a cache. */
async function writeDurably(
  path: string,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  seen: (chunk: Uint8Array) => void = doNothing,
): Promise<void> {
  const handle = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of source) {
      seen(chunk)
      await handle.writeFile(chunk)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function doNothing(): void {}

function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}
