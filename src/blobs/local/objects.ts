/** The S3 operations on objects and on the one bucket, after the signature was verified. */
import { Readable } from 'node:stream'
import { MAX_LENGTH_PARAMETER } from '../max-length.ts'
import type { ObjectDescription, ObjectDisk, ObjectInfo } from './disk.ts'
import { readPayload } from './payload.ts'
import { S3Error } from './s3-error.ts'
import { bucketsXml, copyXml, listXml, locationXml } from './xml.ts'

/** Limits of AWS: bytes of one PUT, bytes of a key. */
const MAX_PUT_BYTES = 5 * 1024 ** 3
const MAX_KEY_BYTES = 1024

export interface ObjectStore {
  readonly disk: ObjectDisk
  /** Name of the only bucket. */
  readonly bucket: string
  readonly region: string
}

export interface S3Request {
  readonly method: string
  readonly bucket: string
  /** Empty for the bucket itself. */
  readonly key: string
  readonly query: ReadonlyMap<string, string>
  readonly headers: Readonly<Record<string, string>>
  /** The signed `x-amz-content-sha256`. */
  readonly payload: string
  /** Returns the body; sends `100 Continue` first if the client waits for it. */
  body(): AsyncIterable<Uint8Array>
}

export interface S3Response {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Readable
}

/** @throws S3Error */
export async function performS3Request(store: ObjectStore, call: S3Request): Promise<S3Response> {
  const { disk, bucket } = store
  if (call.bucket === '' && call.method === 'GET') return xml(bucketsXml(bucket))
  if (call.bucket !== bucket) throw new S3Error('NoSuchBucket', 404, `There is no bucket ${call.bucket}.`)
  refuseUnknown(call)
  if (call.key === '') return performBucketRequest(store, call)
  if (Buffer.byteLength(call.key) > MAX_KEY_BYTES) throw new S3Error('KeyTooLongError', 400, 'The key is too long.')
  switch (call.method) {
    case 'PUT':
      return call.headers['x-amz-copy-source'] === undefined ? putObject(disk, call) : copyObject(disk, call)
    case 'GET':
    case 'HEAD':
      return getObject(disk, call)
    case 'DELETE':
      await disk.remove(call.key)
      return { status: 204 }
    default:
      throw notAllowed(call.method)
  }
}

/** Parameters of requests for the bucket. */
const OF_BUCKET: ReadonlySet<string> = new Set([
  'list-type',
  'prefix',
  'delimiter',
  'max-keys',
  'start-after',
  'continuation-token',
  'encoding-type',
  'fetch-owner',
  'location',
])

/** Refuses unknown parameters and conditions, because ignoring one could change the meaning of a request. */
function refuseUnknown({ query, headers, method, key }: S3Request): void {
  for (const name of query.keys())
    if (!(key === '' && OF_BUCKET.has(name)) && !/^x-(?:id$|amz-|svc-)/i.test(name))
      throw new S3Error('NotImplemented', 501, `${name} is not offered.`)
  for (const name of ['if-match', 'if-none-match'])
    if (!['GET', 'HEAD'].includes(method) && headers[name] !== undefined)
      throw new S3Error('NotImplemented', 501, `${name} is not offered.`)
}

async function putObject(disk: ObjectDisk, call: S3Request): Promise<S3Response> {
  const bound = call.query.get(MAX_LENGTH_PARAMETER)
  const maxBytes = bound === undefined ? MAX_PUT_BYTES : Number(bound)
  const bytes = readPayload(call.body(), call.headers, call.payload, maxBytes)
  const info = await disk.write(call.key, bytes, descriptionOf(call.headers))
  return { status: 200, headers: { ETag: info.etag } }
}

async function copyObject(disk: ObjectDisk, call: S3Request): Promise<S3Response> {
  const source = sourceKey(call)
  const replaces = call.headers['x-amz-metadata-directive']?.toUpperCase() === 'REPLACE'
  await statSource(disk, call, source)
  const info = await disk.copy(source, call.key, replaces ? descriptionOf(call.headers) : undefined)
  if (!info) throw noSuchKey()
  return xml(copyXml(info.etag, info.modifiedAt))
}

/** The key in `/bucket/key`. @throws S3Error `NoSuchBucket` */
function sourceKey(call: S3Request): string {
  const source = decode(call.headers['x-amz-copy-source'] ?? '').replace(/^\//, '')
  const slash = source.indexOf('/')
  if (slash < 0 || source.includes('?versionId='))
    throw new S3Error('InvalidArgument', 400, 'The copy source cannot be read.')
  if (source.slice(0, slash) !== call.bucket) throw new S3Error('NoSuchBucket', 404, 'There is no such source bucket.')
  return source.slice(slash + 1)
}

/** The source of a copy, if it satisfies the request's conditions. @throws S3Error `NoSuchKey`, `PreconditionFailed` */
async function statSource(disk: ObjectDisk, call: S3Request, key: string): Promise<ObjectInfo> {
  const stat = await disk.stat(key)
  if (!stat) throw noSuchKey()
  if (clientHasCurrent(stat, call.headers, 'x-amz-copy-source-'))
    throw new S3Error('PreconditionFailed', 412, 'The source is the one that the request excludes.')
  return stat
}

async function getObject(disk: ObjectDisk, call: S3Request): Promise<S3Response> {
  const stat = await disk.stat(call.key)
  if (!stat) throw noSuchKey()
  if (clientHasCurrent(stat, call.headers)) return { status: 304, headers: { ETag: stat.etag } }
  if (call.method === 'HEAD')
    return { status: 200, headers: { ...headersOf(stat), 'Content-Length': String(stat.sizeBytes) } }
  const range = rangeOf(call.headers['range'], stat.sizeBytes)
  const found = await disk.read(call.key, range)
  if (!found) throw noSuchKey()
  const { info, bytes } = found
  // The object was replaced meanwhile, so conditions and range must be evaluated again.
  if (info.etag !== stat.etag) {
    bytes.destroy()
    return getObject(disk, call)
  }
  if (!range)
    return { status: 200, headers: { ...headersOf(info), 'Content-Length': String(info.sizeBytes) }, body: bytes }
  const [first, last] = range
  return {
    status: 206,
    headers: {
      ...headersOf(info),
      'Content-Length': String(last - first + 1),
      'Content-Range': `bytes ${first}-${last}/${info.sizeBytes}`,
    },
    body: bytes,
  }
}

async function performBucketRequest({ disk, region }: ObjectStore, call: S3Request): Promise<S3Response> {
  if (call.method === 'GET' && call.query.has('location')) return xml(locationXml(region))
  if (call.method === 'HEAD' || call.method === 'PUT') return { status: 200 }
  if (call.method !== 'GET') throw notAllowed(call.method)
  if (call.query.get('list-type') !== '2')
    throw new S3Error('NotImplemented', 501, 'This way of listing is not offered.')
  return xml(await listObjects(disk, call))
}

const xml = (body: string): S3Response => ({ status: 200, headers: { 'Content-Type': 'application/xml' }, body })

async function listObjects(disk: ObjectDisk, { bucket, query }: S3Request): Promise<string> {
  const prefix = query.get('prefix') ?? ''
  const delimiter = query.get('delimiter') ?? ''
  const startAfter = query.get('start-after') ?? ''
  const token = query.get('continuation-token')
  const asked = Number(query.get('max-keys') ?? 1000)
  if (!Number.isInteger(asked) || asked < 0)
    throw new S3Error('InvalidArgument', 400, 'max-keys must be a whole number of at least 0.')
  const maxKeys = Math.min(asked, 1000)
  const after = token === undefined ? startAfter : Buffer.from(token, 'base64url').toString()

  const objects: ObjectInfo[] = []
  const prefixes: string[] = []
  let last = ''
  let next: string | undefined
  for (const info of await disk.list()) {
    if (!info.key.startsWith(prefix) || compare(info.key, after) <= 0) continue
    const end = delimiter === '' ? -1 : info.key.indexOf(delimiter, prefix.length)
    const folder = end < 0 ? undefined : info.key.slice(0, end + delimiter.length)
    // All keys of a folder count once, and not again when the previous page ended with the folder.
    if (folder !== undefined && (folder === prefixes.at(-1) || after.startsWith(folder))) {
      last = info.key
      continue
    }
    if (objects.length + prefixes.length >= maxKeys) {
      next = maxKeys === 0 ? undefined : last
      break
    }
    if (folder === undefined) objects.push(info)
    else prefixes.push(folder)
    last = info.key
  }
  return listXml({
    bucket,
    prefix,
    delimiter,
    maxKeys,
    startAfter,
    token,
    next,
    encoded: query.get('encoding-type') === 'url',
    objects,
    prefixes,
  })
}

const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

const descriptionOf = (headers: Readonly<Record<string, string>>): ObjectDescription => ({
  mediaType: headers['content-type'],
  metadata: Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.startsWith('x-amz-meta-'))
      .map(([name, value]) => [name.slice('x-amz-meta-'.length), value]),
  ),
})

/** Browsers must download objects and never display or run them, because their content is untrusted. */
const headersOf = (info: ObjectInfo): Record<string, string> => ({
  'Accept-Ranges': 'bytes',
  'Content-Type': info.mediaType ?? 'application/octet-stream',
  'Content-Disposition': 'attachment',
  'X-Content-Type-Options': 'nosniff',
  ETag: info.etag,
  'Last-Modified': new Date(info.modifiedAt).toUTCString(),
  ...Object.fromEntries(Object.entries(info.metadata).map(([name, value]) => [`x-amz-meta-${name}`, value])),
})

/** Parses a single range. Multiple and invalid ranges are ignored, as HTTP allows. */
function rangeOf(header: string | undefined, sizeBytes: number): readonly [number, number] | undefined {
  const parts = /^bytes=(\d*)-(\d*)$/.exec(header ?? '')
  if (!parts || (parts[1] === '' && parts[2] === '')) return undefined
  const first = parts[1] === '' ? Math.max(0, sizeBytes - Number(parts[2])) : Number(parts[1])
  const last = parts[1] === '' || parts[2] === '' ? sizeBytes - 1 : Math.min(Number(parts[2]), sizeBytes - 1)
  if (first >= sizeBytes || last < first)
    throw new S3Error('InvalidRange', 416, 'The object ends before the range begins.')
  return [first, last]
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new S3Error('InvalidArgument', 400, 'The copy source cannot be read.')
  }
}

const noSuchKey = (): S3Error => new S3Error('NoSuchKey', 404, 'The specified key does not exist.')
const notAllowed = (method: string): S3Error => new S3Error('MethodNotAllowed', 405, `${method} is not offered here.`)

/**
 * @param prefix of the headers: `x-amz-copy-source-` for the source of a copy
 * @returns true when the client already has this version of the object
 * @throws S3Error `PreconditionFailed` when the request requires a different version
 */
function clientHasCurrent(
  info: ObjectInfo,
  headers: Readonly<Record<string, string>>,
  prefix: '' | 'x-amz-copy-source-' = '',
): boolean {
  const [match, noneMatch] = [headers[`${prefix}if-match`], headers[`${prefix}if-none-match`]]
  const modifiedSince = parseDate(headers[`${prefix}if-modified-since`])
  const unmodifiedSince = parseDate(headers[`${prefix}if-unmodified-since`])
  // HTTP dates have whole seconds.
  const modified = Math.floor(info.modifiedAt / 1000) * 1000
  if (
    match !== undefined ? !matchesEtag(match, info.etag) : unmodifiedSince !== undefined && modified > unmodifiedSince
  )
    throw new S3Error('PreconditionFailed', 412, 'The object is not the one that the request names.')
  if (noneMatch !== undefined) return matchesEtag(noneMatch, info.etag)
  return modifiedSince !== undefined && modified <= modifiedSince
}

/** Whether a list of ETags contains one, with or without quotation marks; `*` matches any. Weak ETags match no object. */
const matchesEtag = (list: string, etag: string): boolean =>
  list.split(',').some((each) => ['*', etag, etag.replaceAll('"', '')].includes(each.trim()))

/** Parses an HTTP date. An invalid date is ignored, as the RFC requires. */
function parseDate(text: string | undefined): number | undefined {
  const at = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}
