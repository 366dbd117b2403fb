/**
 * Objects on disk. The bytes of an object are a file that never changes; beside it lies a small record with its key, its
 * media type and the name of that file. Renaming the record into place is the one moment at which an object changes, so a
 * crash leaves the old object or the new one. Keys are hashed into file names and are never paths.
 */
import { createHash, randomUUID } from 'node:crypto'
import { copyFile, link, open, readdir, readFile, rename, rm, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Clock, Instant } from '../../base/clock.ts'
import { makeDirectory } from '../../base/make-directory.ts'

export interface ObjectInfo {
  readonly key: string
  readonly sizeBytes: number
  /** In quotation marks, as it stands in the header: MD5, of an upload in parts that of the parts' with their number. */
  readonly etag: string
  readonly modifiedAt: Instant
  readonly mediaType: string | undefined
  /** `x-amz-meta-` headers, without that beginning. */
  readonly metadata: Readonly<Record<string, string>>
}

export type ObjectDescription = Pick<ObjectInfo, 'mediaType' | 'metadata'>

export interface ObjectDisk {
  /**
   * Writes what `source` yields; where it throws, nothing has changed and nothing is left.
   * @param etag in quotation marks, where it is not the MD5 of the bytes
   */
  write(key: string, source: AsyncIterable<Uint8Array>, about: ObjectDescription, etag?: string): Promise<ObjectInfo>
  stat(key: string): Promise<ObjectInfo | undefined>
  /** @param range first and last byte, both included */
  read(key: string, range?: readonly [number, number]): Promise<{ info: ObjectInfo; bytes: Readable } | undefined>
  /** @param about replaces what describes the object */
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

/** Directory with private rights; files that no record names were left by a crash and are removed. */
export async function openDisk(directory: string, clock: Clock): Promise<ObjectDisk> {
  const bytesIn = join(directory, 'bytes')
  const recordsIn = join(directory, 'records')
  for (const each of [directory, bytesIn, recordsIn]) makeDirectory(each, 0o700)
  const fileOf = (name: string): string => join(bytesIn, name)
  const recordOf = (key: string): string => join(recordsIn, `${createHash('sha256').update(key).digest('hex')}.json`)

  const load = async (path: string): Promise<ObjectEntry | undefined> => {
    const text = await readFile(path, 'utf8').catch(absent)
    return text === undefined ? undefined : (JSON.parse(text) as ObjectEntry)
  }
  const all = async (): Promise<ObjectEntry[]> => {
    const names = (await readdir(recordsIn)).filter((name) => name.endsWith('.json'))
    const records: ObjectEntry[] = []
    for (const name of names) {
      const record = await load(join(recordsIn, name))
      if (record) records.push(record)
    }
    return records
  }
  await sweep(bytesIn, recordsIn, new Set((await all()).map(({ file }) => file)))

  // Writers of one key take turns, so that the file of a record that is replaced can be removed.
  const turns = new Map<string, Promise<unknown>>()
  const inTurn = <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const turn = (turns.get(key) ?? Promise.resolve()).then(work, work)
    const settled = turn.then(nothing, nothing).finally(() => turns.get(key) === settled && turns.delete(key))
    turns.set(key, settled)
    return turn
  }
  const commit = (record: ObjectEntry): Promise<ObjectInfo> =>
    inTurn(record.key, async () => {
      const path = recordOf(record.key)
      const replaced = await load(path)
      const draft = `${path}.${randomUUID()}`
      await writeDurably(draft, [Buffer.from(JSON.stringify(record))])
      await rename(draft, path)
      await syncDirectory(recordsIn)
      if (replaced) await unlink(fileOf(replaced.file)).catch(absent)
      return infoOf(record)
    })

  return {
    async write(key, source, about, stated) {
      const file = randomUUID()
      const md5 = createHash('md5')
      let sizeBytes = 0
      try {
        await writeDurably(fileOf(file), source, (chunk) => {
          md5.update(chunk)
          sizeBytes += chunk.byteLength
        })
        await syncDirectory(bytesIn)
        const etag = stated ?? `"${md5.digest('hex')}"`
        return await commit({ v: 1, file, key, sizeBytes, etag, modifiedAt: clock.now(), ...about })
      } catch (error) {
        await unlink(fileOf(file)).catch(absent)
        throw error
      }
    },
    async stat(key) {
      const record = await load(recordOf(key))
      return record && infoOf(record)
    },
    async read(key, range) {
      // The file may be replaced between the record and its opening; then there is a new record.
      for (;;) {
        const record = await load(recordOf(key))
        if (!record) return undefined
        const handle = await open(fileOf(record.file)).catch(absent)
        if (!handle) continue
        const span = range ? { start: range[0], end: range[1] } : {}
        return { info: infoOf(record), bytes: handle.createReadStream(span) }
      }
    },
    async copy(from, to, about) {
      const record = await load(recordOf(from))
      if (!record) return undefined
      const file = randomUUID()
      // Bytes never change, so two names for them are as good as two copies.
      await link(fileOf(record.file), fileOf(file)).catch(() => copyFile(fileOf(record.file), fileOf(file)))
      await syncDirectory(bytesIn)
      return commit({ ...record, ...about, key: to, file, modifiedAt: clock.now() })
    },
    remove: (key) =>
      inTurn(key, async () => {
        const record = await load(recordOf(key))
        if (!record) return
        await unlink(recordOf(key)).catch(absent)
        await syncDirectory(recordsIn)
        await unlink(fileOf(record.file)).catch(absent)
      }),
    async list() {
      return (await all()).map(infoOf).sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
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

async function sweep(bytesIn: string, recordsIn: string, named: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(bytesIn)) if (!named.has(name)) await rm(join(bytesIn, name), { force: true })
  for (const name of await readdir(recordsIn))
    if (!name.endsWith('.json')) await rm(join(recordsIn, name), { force: true })
}

/** The file is on the disk, not in a cache, when this resolves. */
async function writeDurably(
  path: string,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  seen: (chunk: Uint8Array) => void = nothing,
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

function nothing(): void {}

function absent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}
