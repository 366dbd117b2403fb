/** A bundle as one file: a `.tar.gz` that is the same bytes on every machine. Source: bundles, section 4. */
import { crc32, gunzipSync } from 'node:zlib'
import { packTar, unpackTar } from 'modern-tar'
import { digestOf, digestOfJson, type Digest } from '../../base/digest.ts'
import { fail, type Failure } from '../../base/failure.ts'
import { canonicalJson, isJsonObject } from '../../base/json.ts'
import { faultOf, MAX_BUNDLE_BYTES, MAX_FILES, refuseFault, type BundleContents } from './contents.ts'

export interface UnpackedArchive {
  /** Path of the document that is published. */
  readonly root: string
  readonly files: BundleContents
}

export interface PackedArchive {
  readonly bytes: Uint8Array
  /** Over the manifest: the identity of what is packed. */
  readonly digest: Digest
}

export interface ReadArchive extends UnpackedArchive {
  readonly digest: Digest
}

/** Lists every other entry; no file of a bundle may have its name. */
export const MANIFEST = 'svc.manifest.json'

interface Manifest {
  readonly v: 1
  readonly root: string
  readonly files: readonly { readonly path: string; readonly size: number; readonly sha256: Digest }[]
}

/** @throws Failure `bundle_invalid` */
export async function writeArchive({ root, files }: UnpackedArchive): Promise<PackedArchive> {
  checkNames(files)
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1))
  const manifest: Manifest = {
    v: 1,
    root,
    files: sorted.map(([path, bytes]) => ({ path, size: bytes.length, sha256: digestOf(bytes) })),
  }
  const entries = [...sorted, [MANIFEST, Buffer.from(`${canonicalJson(manifest)}\n`)] as const].sort(([a], [b]) =>
    a < b ? -1 : 1,
  )
  const tar = await packTar(
    entries.map(([name, body]) => ({
      header: {
        name,
        size: body.length,
        type: 'file',
        mode: 0o644,
        mtime: new Date(0),
        uid: 0,
        gid: 0,
        uname: '',
        gname: '',
      },
      body,
    })),
  )
  return { bytes: store(tar), digest: digestOfJson(manifest) }
}

/**
 * Reads an archive in memory. Everything in it is a regular file that the manifest lists with its size and digest, and
 * everything that the manifest lists is there.
 * @throws Failure `bundle_invalid`
 */
export async function readArchive(bytes: Uint8Array): Promise<ReadArchive> {
  const files = new Map<string, Uint8Array>()
  for (const { header, data } of await unpack(bytes)) {
    const { name, type = 'file' } = header
    if (type !== 'file' || data === undefined)
      throw invalid(`"${name}" is a ${type}; a bundle holds regular files only`)
    if (files.has(name)) throw invalid(`"${name}" is there twice`)
    if (files.size > MAX_FILES) throw invalid(`it has more than ${MAX_FILES} files`)
    files.set(name, data)
  }
  const manifest = readManifest(files.get(MANIFEST))
  files.delete(MANIFEST)
  checkNames(files)
  const listed = new Map(manifest.files.map((each) => [each.path, each]))
  if (listed.size !== manifest.files.length) throw invalid('its manifest lists a file twice')
  for (const [path, content] of files) {
    const { size, sha256 } = listed.get(path) ?? {}
    if (sha256 === undefined) throw invalid(`"${path}" is not in its manifest`)
    if (size !== content.length || sha256 !== digestOf(content))
      throw invalid(`"${path}" is not what its manifest says`)
  }
  const missing = [...listed.keys()].find((path) => !files.has(path))
  if (missing !== undefined) throw invalid(`"${missing}" is in its manifest and not in the archive`)
  if (!files.has(manifest.root)) throw invalid(`its root "${manifest.root}" is not in the archive`)
  return { root: manifest.root, files, digest: digestOfJson(manifest) }
}

function checkNames(files: BundleContents): void {
  if (files.has(MANIFEST)) throw fail('bundle_invalid', { what: `${MANIFEST} is the name of the archive's own list.` })
  refuseFault(faultOf([...files].map(([path, { length }]) => [path, length])))
}

/** Headers and padding of every file, and room for its long name. */
const TAR_OVERHEAD = (MAX_FILES + 1) * 3 * 1024 + 1024 * 1024

async function unpack(bytes: Uint8Array) {
  try {
    // A few bytes may unpack to any size: the bound holds while they are read.
    const tar = gunzipSync(bytes, { maxOutputLength: MAX_BUNDLE_BYTES + TAR_OVERHEAD })
    return await unpackTar(tar, { strict: true })
  } catch (error) {
    const tooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    throw invalid(
      tooLarge ? `it unpacks to more than ${MAX_BUNDLE_BYTES} bytes` : 'it is no .tar.gz, or it is damaged',
      error,
    )
  }
}

function readManifest(bytes: Uint8Array | undefined): Manifest {
  if (!bytes) throw invalid(`it has no ${MANIFEST}`)
  const value = parse(bytes)
  if (!isJsonObject(value) || value['v'] !== 1 || typeof value['root'] !== 'string' || !Array.isArray(value['files']))
    throw invalid(`its ${MANIFEST} cannot be read`)
  for (const each of value['files'])
    if (
      !isJsonObject(each) ||
      typeof each['path'] !== 'string' ||
      typeof each['size'] !== 'number' ||
      typeof each['sha256'] !== 'string'
    )
      throw invalid(`its ${MANIFEST} cannot be read`)
  return value as unknown as Manifest
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

const invalid = (why: string, cause?: unknown): Failure =>
  fail('bundle_invalid', { what: `The archive cannot be read: ${why}.` }, cause === undefined ? {} : { cause })

/** Largest block that deflate stores as it is. */
const BLOCK = 0xffff

/**
 * Gzip without compression. What a compressor writes depends on its version and on the processor, so the same files would be
 * other bytes on another machine; bundles are small texts.
 */
function store(bytes: Uint8Array): Uint8Array {
  // Deflate, no name, no time, unknown system.
  const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
  const blocks: Uint8Array[] = []
  for (let at = 0; at === 0 || at < bytes.length; at += BLOCK) {
    const block = bytes.subarray(at, at + BLOCK)
    const head = Buffer.alloc(5)
    head.writeUInt8(at + BLOCK >= bytes.length ? 1 : 0, 0)
    head.writeUInt16LE(block.length, 1)
    head.writeUInt16LE(block.length ^ BLOCK, 3)
    blocks.push(head, block)
  }
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc32(bytes), 0)
  trailer.writeUInt32LE(bytes.length % 2 ** 32, 4)
  return Buffer.concat([header, ...blocks, trailer])
}
