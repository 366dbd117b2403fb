/**
 * Multipart uploads in progress. Parts are on the disk, their list is in memory: a restart forgets the uploads, and clients get
 * `NoSuchUpload` and start again.
 */
import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Clock, Instant } from '../../base/clock.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import type { ObjectDescription } from './disk.ts'
import { S3Error } from './s3-error.ts'

export interface UploadPart {
  readonly number: number
  readonly sizeBytes: number
  /** MD5 in quotation marks. */
  readonly etag: string
  readonly modifiedAt: Instant
}

/** The joined parts: the bytes in order, and the ETag that S3 gives to an object made of parts. */
interface JoinedParts {
  readonly about: ObjectDescription
  readonly sizeBytes: number
  readonly etag: string
  readonly bytes: AsyncIterable<Uint8Array>
}

export interface PartUploads {
  start(key: string, about: ObjectDescription): Promise<string>
  /** @throws S3Error `NoSuchUpload` */
  writePart(id: string, key: string, number: number, source: AsyncIterable<Uint8Array>): Promise<UploadPart>
  /** Ordered by number. @throws S3Error `NoSuchUpload` */
  parts(id: string, key: string): readonly UploadPart[]
  /** @throws S3Error `NoSuchUpload`, `InvalidPart`, `InvalidPartOrder` */
  join(id: string, key: string, named: readonly Pick<UploadPart, 'number' | 'etag'>[]): JoinedParts
  /** Deletes the upload and its parts. Idempotent. */
  remove(id: string): Promise<void>
  /** Ordered by key. */
  list(): readonly { readonly id: string; readonly key: string; readonly startedAt: Instant }[]
}

interface StoredPart extends UploadPart {
  readonly file: string
}

interface PartUpload {
  readonly key: string
  readonly about: ObjectDescription
  readonly startedAt: Instant
  readonly parts: Map<number, StoredPart>
}

/** More or older uploads are taken as abandoned by their clients. */
const MAX_UPLOADS = 1000
const MAX_AGE_MS = 24 * 3_600_000

/** @param directory used only for uploads; its content is removed */
export async function openPartUploads(directory: string, clock: Clock): Promise<PartUploads> {
  await rm(directory, { recursive: true, force: true })
  makeDirectory(directory, 0o700)
  const uploads = new Map<string, PartUpload>()
  const fileOf = (name: string): string => join(directory, name)
  const find = (id: string, key: string): PartUpload => {
    const upload = uploads.get(id)
    if (upload?.key !== key) throw new S3Error('NoSuchUpload', 404, 'The upload does not exist, or has ended.')
    return upload
  }
  const remove = async (id: string): Promise<void> => {
    const upload = uploads.get(id)
    uploads.delete(id)
    for (const { file } of upload?.parts.values() ?? []) await rm(fileOf(file), { force: true })
  }
  const parts = (id: string, key: string): readonly StoredPart[] =>
    [...find(id, key).parts.values()].sort((a, b) => a.number - b.number)

  return {
    parts,
    remove,
    async start(key, about) {
      const now = clock.now()
      for (const [id, { startedAt }] of uploads) if (now - startedAt > MAX_AGE_MS) await remove(id)
      if (uploads.size >= MAX_UPLOADS) throw new S3Error('SlowDown', 503, 'Too many uploads are under way.')
      const id = randomUUID()
      uploads.set(id, { key, about, startedAt: now, parts: new Map() })
      return id
    },
    async writePart(id, key, number, source) {
      find(id, key)
      const file = randomUUID()
      const md5 = createHash('md5')
      let sizeBytes = 0
      const counted = async function* (chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of chunks) {
          md5.update(chunk)
          sizeBytes += chunk.byteLength
          yield chunk
        }
      }
      try {
        await pipeline(source, counted, createWriteStream(fileOf(file), { mode: 0o600, flags: 'wx' }))
        // Looked up again, because the upload may have ended meanwhile.
        const { parts: all } = find(id, key)
        const before = all.get(number)
        const part = { number, sizeBytes, etag: `"${md5.digest('hex')}"`, modifiedAt: clock.now(), file }
        all.set(number, part)
        if (before) await rm(fileOf(before.file), { force: true })
        return part
      } catch (error) {
        await rm(fileOf(file), { force: true })
        throw error
      }
    },
    join(id, key, named) {
      const upload = find(id, key)
      if (named.some(({ number }, at) => at > 0 && number <= named[at - 1]!.number))
        throw new S3Error('InvalidPartOrder', 400, 'The parts are not in ascending order.')
      const chosen = named.map(({ number, etag }) => {
        const part = upload.parts.get(number)
        if (part && part.etag.replaceAll('"', '') === etag.replaceAll('"', '')) return part
        throw new S3Error('InvalidPart', 400, `Part ${number} was not uploaded, or has another ETag.`)
      })
      const md5 = createHash('md5')
      for (const { etag } of chosen) md5.update(Buffer.from(etag.slice(1, -1), 'hex'))
      return {
        about: upload.about,
        sizeBytes: chosen.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
        etag: `"${md5.digest('hex')}-${chosen.length}"`,
        bytes: (async function* () {
          for (const { file } of chosen) yield* createReadStream(fileOf(file)) as AsyncIterable<Uint8Array>
        })(),
      }
    },
    list: () =>
      [...uploads]
        .map(([id, { key, startedAt }]) => ({ id, key, startedAt }))
        .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)),
  }
}
