/**
 * The embedded object storage: a small S3-compatible server on an address of its own, with its objects on disk. The server
 * reaches it as it would reach any S3, and uploads go to it directly. Source: decisions, section 11.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { systemClock, type Clock } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import { silentLog, type Log } from '../../base/log.ts'
import { isLoopback } from '../../base/loopback.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { openDisk } from './disk.ts'
import { performS3Request, type S3Response, type ObjectStore } from './objects.ts'
import { S3Error } from './s3-error.ts'
import { verifySignature, type S3Credentials } from './sigv4.ts'
import { openPartUploads } from './uploads.ts'
import { errorXml } from './xml.ts'

export interface LocalStorageOptions {
  readonly directory: string
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  /** Made and kept in the directory when absent. */
  readonly credentials?: S3Credentials
  /** `svc` when absent. */
  readonly bucket?: string
  /** Names that a Host header may carry besides loopback ones. */
  readonly hosts?: readonly string[]
  readonly clock?: Clock
  readonly log?: Log
}

export interface LocalStorage {
  /** As it was bound, for people. */
  readonly url: string
  /** As this machine reaches it. */
  readonly endpoint: string
  /** True where it listens on every address of the machine. */
  readonly anyName: boolean
  readonly region: string
  readonly bucket: string
  readonly credentials: S3Credentials
  /** Refuses what is new, lets uploads end for `graceMs`, then cuts them. */
  close(graceMs?: number): Promise<void>
}

/** Of no meaning here, but part of every signature. */
const REGION = 'us-east-1'
const KEPT_CREDENTIALS = 'credentials.json'

/** Presigned addresses live no longer, and an upload may take all of that time. */
const UPLOAD_MS = 15 * 60_000
/** How long a refused client is read on, so that it sees the answer before the connection ends. */
const LINGER_MS = 1000

/** @throws Failure `port_taken` */
export async function openLocalStorage(options: LocalStorageOptions): Promise<LocalStorage> {
  const { directory, host, port, clock = systemClock, log = silentLog, bucket = 'svc' } = options
  makeDirectory(directory, 0o700)
  const disk = await openDisk(directory, clock)
  const uploads = await openPartUploads(join(directory, 'uploads'), clock)
  const store = { disk, uploads, bucket, region: REGION }
  const credentials = options.credentials ?? (await keptCredentials(join(directory, KEPT_CREDENTIALS)))
  const allows = hostGuard(host, options.hosts ?? [])
  const handle = (expects: boolean) => (request: IncomingMessage, response: ServerResponse) =>
    void serve(request, response, expects, { store, credentials, allows, clock, log })

  const server = createServer({
    headersTimeout: 10_000,
    requestTimeout: UPLOAD_MS,
    connectionsCheckingInterval: 1000,
  })
  server.maxHeadersCount = 100
  server.maxRequestsPerSocket = 1000
  server.on('request', handle(false))
  // A client that waits to be asked for its bytes is not asked where the answer is no.
  server.on('checkContinue', handle(true))
  await listen(server, host, port)
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://${inUrl(host)}:${bound}`,
    anyName: anyAddress(host),
    endpoint: `http://${inUrl(anyAddress(host) ? '127.0.0.1' : host)}:${bound}`,
    region: REGION,
    bucket,
    credentials,
    close: (graceMs = 1000) => close(server, graceMs),
  }
}

interface S3ServerParts {
  readonly store: ObjectStore
  readonly credentials: S3Credentials
  readonly allows: (request: IncomingMessage) => boolean
  readonly clock: Clock
  readonly log: Log
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  expects: boolean,
  parts: S3ServerParts,
): Promise<void> {
  const requestId = randomUUID()
  const base = { 'x-amz-request-id': requestId }
  const path = (request.url ?? '').split('?', 1)[0]!
  // A connection that breaks is the client's matter; without a listener it would be an uncaught error.
  request.on('error', () => undefined)
  response.on('error', () => undefined)
  try {
    const answer = await answerTo(request, response, expects, parts)
    response.writeHead(answer.status, { ...base, ...answer.headers })
    await send(response, answer)
  } catch (error) {
    const known =
      error instanceof S3Error ? error : new S3Error('InternalError', 500, 'Something went wrong on our side.')
    if (known.status === 500 && !request.destroyed)
      parts.log.write('error', 'storage request failed', { requestId, error: String(error) })
    if (response.headersSent) return void response.destroy()
    response.writeHead(known.status, { ...base, 'Content-Type': 'application/xml', Connection: 'close' })
    response.end(request.method === 'HEAD' ? undefined : errorXml(known, path, requestId))
    linger(request)
  }
}

async function answerTo(
  request: IncomingMessage,
  response: ServerResponse,
  expects: boolean,
  parts: S3ServerParts,
): Promise<S3Response> {
  if (!parts.allows(request)) throw new S3Error('AccessDenied', 403, 'The Host header names no host of this server.')
  if (request.headers.origin !== undefined)
    throw new S3Error('AccessDenied', 403, 'Requests from this origin are not allowed.')
  const { path, query, bucket, key } = addressOf(request.url ?? '')
  const method = request.method ?? ''
  const headers = headersOf(request)
  const { payload } = await verifySignature(
    { method, path, query, headers },
    parts.credentials,
    parts.store.region,
    parts.clock.now(),
  )
  const body = (): AsyncIterable<Uint8Array> => {
    if (expects) response.writeContinue()
    // A refusal in the middle must not end the connection before it was told.
    return request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
  }
  return performS3Request(parts.store, { method, bucket, key, query, headers, payload, body })
}

async function send(response: ServerResponse, { body }: S3Response): Promise<void> {
  if (body === undefined || typeof body === 'string') response.end(body)
  else await pipeline(body, response)
}

function linger(request: IncomingMessage): void {
  if (request.complete) return
  const timer = setTimeout(() => request.destroy(), LINGER_MS)
  request.once('close', () => clearTimeout(timer))
  request.resume()
}

function addressOf(url: string) {
  // An absolute address would name another host than the one that was checked.
  if (!url.startsWith('/')) throw new S3Error('InvalidURI', 400, 'The address must begin with a slash.')
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const query = new Map<string, string>()
  for (const pair of mark < 0 ? [] : url.slice(mark + 1).split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    if (query.has(name)) throw new S3Error('InvalidURI', 400, `${name} is there twice.`)
    query.set(name, equals < 0 ? '' : decode(pair.slice(equals + 1)))
  }
  const [, bucket = '', ...rest] = path.split('/')
  return { path, query, bucket: decode(bucket), key: decode(rest.join('/')) }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new S3Error('InvalidURI', 400, 'The address cannot be read.')
  }
}

function headersOf(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, values] of Object.entries(request.headersDistinct)) {
    if (name === 'host' && values!.length > 1)
      throw new S3Error('InvalidRequest', 400, 'The Host header is there twice.')
    headers[name] = values!.join(',')
  }
  return headers
}

/** On a loopback address only loopback names are answered: a name that was rebound to us is a page's, not an uploader's. */
function hostGuard(bound: string, hosts: readonly string[]): (request: IncomingMessage) => boolean {
  if (!isLoopback(bound)) return () => true
  return (request) => {
    const name = (request.headers.host ?? '').replace(/:\d+$/, '').toLowerCase()
    return isLoopback(name) || hosts.includes(name)
  }
}

const anyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::'
const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host)

async function keptCredentials(file: string): Promise<S3Credentials> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as S3Credentials
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
  const credentials = {
    accessKeyId: `SVC${randomBytes(9).toString('hex').toUpperCase().slice(0, 17)}`,
    secretAccessKey: randomBytes(30).toString('base64url'),
  }
  await writeFile(file, JSON.stringify(credentials), { mode: 0o600, flag: 'wx' })
  await chmod(file, 0o600)
  return credentials
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(fail('port_taken', { host, port, why: error.code ?? error.message }, { cause: error })),
    )
    server.listen(port, host, () => {
      server.removeAllListeners('error')
      resolve()
    })
  })
}

async function close(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(timer)
}
