/** A bundle as one file: a `.tar.gz` with the same bytes on every machine. Source: docs/design/bundles-and-authority.md#paths-and-files */
import { gunzipSync, crc32 } from 'node:zlib'
import { packTar, unpackTar } from 'modern-tar'
import { compareText } from '../../base/values/compare-text.ts'
import { digestOf, digestOfJson, type Digest } from '../../base/digest.ts'
import { fail, type Failure } from '../../base/failure.ts'
import { canonicalJson, isJsonObject } from '../../base/json/json.ts'
import { fromJson } from '../../base/json/typed-json.ts'
import { MAX_ENVELOPE_BYTES, MAX_ENVELOPES } from '../../spec/trust/dsse.ts'
import { findContentsFault, MAX_BUNDLE_BYTES, MAX_FILES, refuseFault, type BundleContents } from './contents.ts'

export interface UnpackedArchive {
  /** Path of the published document. */
  readonly root: string
  readonly files: BundleContents
  /** Envelopes of signed statements about the files. They lie beside the manifest, so that who signs changes nothing of what was signed. */
  readonly attestations?: readonly string[]
}

export interface PackedArchive {
  readonly bytes: Uint8Array
  /** Digest of the manifest, which identifies the content. */
  readonly digest: Digest
}

export interface ReadArchive extends UnpackedArchive {
  readonly digest: Digest
  readonly attestations: readonly string[]
}

/** Lists every other entry; no file of a bundle may have this name. */
export const ARCHIVE_MANIFEST = 'svc.manifest.json'

/** Its name begins as the digest of its content. */
const ATTESTATION = /^attestations\/([0-9a-f]{16})\.dsse\.json$/
const attestationName = (text: string): string =>
  `attestations/${digestOf(text).slice('sha256:'.length, 'sha256:'.length + 16)}.dsse.json`

interface Manifest {
  readonly v: 1
  readonly root: string
  readonly files: readonly { readonly path: string; readonly size: number; readonly sha256: Digest }[]
}

/** A tar of files, with the same bytes for the same files on every machine. */
export const packFiles = (files: readonly (readonly [name: string, body: Uint8Array])[]): Promise<Uint8Array> =>
  packTar(
    files.map(([name, body]) => ({
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

/** @throws Failure `bundle_invalid` */
export async function writeArchive({ root, files, attestations = [] }: UnpackedArchive): Promise<PackedArchive> {
  checkNames(files)
  checkNumber(attestations)
  const sorted = [...files].sort(([a], [b]) => compareText(a, b))
  const manifest: Manifest = {
    v: 1,
    root,
    files: sorted.map(([path, bytes]) => ({ path, size: bytes.length, sha256: digestOf(bytes) })),
  }
  const signed = attestations.map((text) => [attestationName(text), Buffer.from(text)] as const)
  const listed = [ARCHIVE_MANIFEST, Buffer.from(`${canonicalJson(manifest)}\n`)] as const
  const entries = [...sorted, ...new Map(signed), listed].sort(([a], [b]) => compareText(a, b))
  const tar = await packFiles(entries)
  return { bytes: gzipUncompressed(tar), digest: digestOfJson(manifest) }
}

/**
 * Reads an archive in memory. Every entry must be a regular file that the manifest lists with its size and digest, and
 * every listed file must be present. Envelopes are not listed; their names are their digests.
 * @throws Failure `bundle_invalid`
 */
export async function readArchive(bytes: Uint8Array): Promise<ReadArchive> {
  const files = new Map<string, Uint8Array>()
  for (const { header, data } of await unpackEntries(bytes)) {
    const { name, type = 'file' } = header
    if (type !== 'file' || data === undefined)
      throw invalidArchive(`"${name}" is a ${type}; a bundle holds regular files only`)
    if (files.has(name)) throw invalidArchive(`"${name}" is there twice`)
    if (files.size > MAX_FILES + MAX_ENVELOPES) throw invalidArchive(`it has more than ${MAX_FILES} files`)
    files.set(name, data)
  }
  const manifest = readManifest(files.get(ARCHIVE_MANIFEST))
  files.delete(ARCHIVE_MANIFEST)
  const attestations = takeAttestations(files)
  checkNames(files)
  const listed = new Map(manifest.files.map((each) => [each.path, each]))
  if (listed.size !== manifest.files.length) throw invalidArchive('its manifest lists a file twice')
  for (const [path, content] of files) {
    const { size, sha256 } = listed.get(path) ?? {}
    if (sha256 === undefined) throw invalidArchive(`"${path}" is not in its manifest`)
    if (size !== content.length || sha256 !== digestOf(content))
      throw invalidArchive(`"${path}" is not what its manifest says`)
  }
  const missing = [...listed.keys()].find((path) => !files.has(path))
  if (missing !== undefined) throw invalidArchive(`"${missing}" is in its manifest and not in the archive`)
  if (!files.has(manifest.root)) throw invalidArchive(`its root "${manifest.root}" is not in the archive`)
  return { root: manifest.root, files, digest: digestOfJson(manifest), attestations }
}

function takeAttestations(files: Map<string, Uint8Array>): readonly string[] {
  const names = [...files.keys()].filter((name) => ATTESTATION.test(name))
  const texts = names.map((name) => {
    const text = Buffer.from(files.get(name) ?? []).toString('utf8')
    files.delete(name)
    if (attestationName(text) !== name) throw invalidArchive(`"${name}" is not what its name says`)
    return text
  })
  checkNumber(texts)
  return texts
}

function checkNumber(attestations: readonly string[]): void {
  if (attestations.length > MAX_ENVELOPES) throw invalidArchive(`it has more than ${MAX_ENVELOPES} attestations`)
  if (attestations.some((text) => Buffer.byteLength(text) > MAX_ENVELOPE_BYTES))
    throw invalidArchive(`an attestation has more than ${MAX_ENVELOPE_BYTES} bytes`)
}

function checkNames(files: BundleContents): void {
  const reserved = [...files.keys()].find((name) => ATTESTATION.test(name))
  if (reserved !== undefined)
    throw fail('bundle_invalid', { what: `${reserved} is the name of an attestation, and no member of a bundle.` })
  if (files.has(ARCHIVE_MANIFEST))
    throw fail('bundle_invalid', { what: `${ARCHIVE_MANIFEST} is reserved for the manifest of the archive.` })
  refuseFault(findContentsFault([...files].map(([path, { length }]) => [path, length])))
}

/** Headers and padding of each file, with room for a long name. */
const TAR_OVERHEAD = (MAX_FILES + MAX_ENVELOPES + 1) * 3 * 1024 + MAX_ENVELOPES * MAX_ENVELOPE_BYTES

async function unpackEntries(bytes: Uint8Array) {
  try {
    // A few bytes may unpack to any size, so the limit applies while reading.
    const tar = gunzipSync(bytes, { maxOutputLength: MAX_BUNDLE_BYTES + TAR_OVERHEAD })
    return await unpackTar(tar, { strict: true })
  } catch (error) {
    const tooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    throw invalidArchive(
      tooLarge ? `it unpacks to more than ${MAX_BUNDLE_BYTES} bytes` : 'it is no .tar.gz, or it is damaged',
      error,
    )
  }
}

function readManifest(bytes: Uint8Array | undefined): Manifest {
  if (!bytes) throw invalidArchive(`it has no ${ARCHIVE_MANIFEST}`)
  const value = parseManifestJson(bytes)
  if (!isJsonObject(value) || value['v'] !== 1 || typeof value['root'] !== 'string' || !Array.isArray(value['files']))
    throw invalidArchive(`its ${ARCHIVE_MANIFEST} cannot be read`)
  for (const each of value['files'])
    if (
      !isJsonObject(each) ||
      typeof each['path'] !== 'string' ||
      typeof each['size'] !== 'number' ||
      typeof each['sha256'] !== 'string'
    )
      throw invalidArchive(`its ${ARCHIVE_MANIFEST} cannot be read`)
  return fromJson<Manifest>(value)
}

function parseManifestJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

const invalidArchive = (why: string, cause?: unknown): Failure =>
  fail('bundle_invalid', { what: `The archive cannot be read: ${why}.` }, cause === undefined ? {} : { cause })

/** Largest block that deflate stores uncompressed. */
const BLOCK = 0xffff

/**
 * Gzip without compression. The output of a compressor depends on its version and the processor, so the same files would
 * give different bytes on another machine. Bundles are small texts.
 */
function gzipUncompressed(bytes: Uint8Array): Uint8Array {
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
