/** The operations on objects and on the one bucket, after the signature was found good. */
import { Readable } from 'node:stream'
import { MAX_LENGTH } from '../max-length.ts'
import type { Described, Disk, ObjectInfo } from './disk.ts'
import { readPayload } from './payload.ts'
import { S3Error } from './s3-error.ts'
import { copyXml, listXml } from './xml.ts'

/** What AWS allows for one PUT. */
const LARGEST = 5 * 1024 ** 3
const LONGEST_KEY = 1024

export interface Call {
  readonly method: string
  readonly bucket: string
  /** Empty for the bucket itself. */
  readonly key: string
  readonly query: ReadonlyMap<string, string>
  readonly headers: Readonly<Record<string, string>>
  /** What was signed for the body. */
  readonly payload: string
  /** Asks the client for the body, where it waits to be asked, and gives it. */
  body(): AsyncIterable<Uint8Array>
}

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Readable
}

/** @throws S3Error */
export async function perform(disk: Disk, bucket: string, call: Call): Promise<Answer> {
  if (call.bucket !== bucket) throw new S3Error('NoSuchBucket', 404, `There is no bucket ${call.bucket}.`)
  refuseUnknown(call)
  if (call.key === '') return onBucket(disk, call)
  if (Buffer.byteLength(call.key) > LONGEST_KEY) throw new S3Error('KeyTooLongError', 400, 'The key is too long.')
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

/** What we do not know could change what is asked for: it is refused rather than overlooked. */
function refuseUnknown({ query, headers, method, key }: Call): void {
  const known =
    key === ''
      ? /^(?:list-type|marker|prefix|delimiter|max-keys|start-after|continuation-token|encoding-type|fetch-owner)$/
      : /^$/
  for (const name of query.keys())
    if (!known.test(name) && !/^x-(?:id$|amz-|svc-)/i.test(name))
      throw new S3Error('NotImplemented', 501, `${name} is not offered.`)
  for (const name of ['if-match', 'if-none-match'])
    if (method === 'PUT' && headers[name] !== undefined)
      throw new S3Error('NotImplemented', 501, `${name} is not offered.`)
}

async function putObject(disk: Disk, call: Call): Promise<Answer> {
  const bound = call.query.get(MAX_LENGTH)
  const maxBytes = bound === undefined ? LARGEST : Number(bound)
  const bytes = readPayload(call.body(), call.headers, call.payload, maxBytes)
  const info = await disk.write(call.key, bytes, describedBy(call.headers))
  return { status: 200, headers: { ETag: info.etag } }
}

async function copyObject(disk: Disk, call: Call): Promise<Answer> {
  const source = decode(call.headers['x-amz-copy-source']!).replace(/^\//, '')
  const slash = source.indexOf('/')
  if (slash < 0 || source.includes('?versionId='))
    throw new S3Error('InvalidArgument', 400, 'The copy source cannot be read.')
  if (source.slice(0, slash) !== call.bucket) throw new S3Error('NoSuchBucket', 404, 'There is no such source bucket.')
  const replaces = call.headers['x-amz-metadata-directive']?.toUpperCase() === 'REPLACE'
  const info = await disk.copy(source.slice(slash + 1), call.key, replaces ? describedBy(call.headers) : undefined)
  if (!info) throw noSuchKey()
  return { status: 200, headers: { 'Content-Type': 'application/xml' }, body: copyXml(info.etag, info.modifiedAt) }
}

async function getObject(disk: Disk, call: Call): Promise<Answer> {
  const stat = await disk.stat(call.key)
  if (!stat) throw noSuchKey()
  if (call.method === 'HEAD')
    return { status: 200, headers: { ...headersOf(stat), 'Content-Length': String(stat.sizeBytes) } }
  const range = rangeOf(call.headers['range'], stat.sizeBytes)
  const found = await disk.read(call.key, range)
  if (!found) throw noSuchKey()
  const { info, bytes } = found
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

async function onBucket(disk: Disk, call: Call): Promise<Answer> {
  if (call.method === 'HEAD' || call.method === 'PUT') return { status: 200 }
  if (call.method !== 'GET') throw notAllowed(call.method)
  if ((call.query.get('list-type') ?? '2') !== '2')
    throw new S3Error('NotImplemented', 501, 'This way of listing is not offered.')
  return { status: 200, headers: { 'Content-Type': 'application/xml' }, body: await listObjects(disk, call) }
}

async function listObjects(disk: Disk, { bucket, query }: Call): Promise<string> {
  const prefix = query.get('prefix') ?? ''
  const delimiter = query.get('delimiter') ?? ''
  // Clients of the first way of listing name the last key they know, where those of the second hand back a token.
  const marker = query.has('list-type') ? undefined : (query.get('marker') ?? '')
  const startAfter = marker ?? query.get('start-after') ?? ''
  const token = query.get('continuation-token')
  const asked = Number(query.get('max-keys') ?? 1000)
  if (!Number.isInteger(asked) || asked < 0) throw new S3Error('InvalidArgument', 400, 'max-keys is no number of keys.')
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
    // All that lies in a folder counts once, and a page that ended with the folder has told it.
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
    marker,
    startAfter,
    token,
    next,
    encoded: query.get('encoding-type') === 'url',
    objects,
    prefixes,
  })
}

const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

const describedBy = (headers: Readonly<Record<string, string>>): Described => ({
  mediaType: headers['content-type'],
  metadata: Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.startsWith('x-amz-meta-'))
      .map(([name, value]) => [name.slice('x-amz-meta-'.length), value]),
  ),
})

/** Bytes of unknown kind are handed out as a download, never as something that a browser would run. */
const headersOf = (info: ObjectInfo): Record<string, string> => ({
  'Accept-Ranges': 'bytes',
  'Content-Type': info.mediaType ?? 'application/octet-stream',
  'Content-Disposition': 'attachment',
  'X-Content-Type-Options': 'nosniff',
  ETag: info.etag,
  'Last-Modified': new Date(info.modifiedAt).toUTCString(),
  ...Object.fromEntries(Object.entries(info.metadata).map(([name, value]) => [`x-amz-meta-${name}`, value])),
})

/** One range, as the client of S3 asks for it; several at once, or what is no range, are overlooked as HTTP allows. */
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
