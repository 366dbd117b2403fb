/**
 * The embedded object storage: a small S3-compatible server on its own address, with its objects on disk. The server uses it
 * like any other S3, and clients upload to it directly. Source: docs/design/http.md#files
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { systemClock, type Clock } from '../../base/clock.ts'
import { describeBindError } from '../../base/net/bind-error.ts'
import { fail } from '../../base/failure.ts'
import { silentLog, type Log } from '../../base/log.ts'
import { isLoopback } from '../../base/net/loopback.ts'
import { makeDirectory } from '../../base/files/make-directory.ts'
import { openObjectDisk } from './disk.ts'
import { performS3Request, type S3Response, type ObjectStore } from './objects.ts'
import { S3Error } from './s3-error.ts'
import { verifySignature, type S3Credentials } from './sigv4.ts'
import { errorXml } from './xml.ts'
import { textBefore } from '../../base/text/text-parts.ts'

export interface LocalStorageOptions {
  readonly directory: string
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** Generated and stored in the directory when absent. */
  readonly credentials?: S3Credentials
  /** `svc` when absent. */
  readonly bucket?: string
  /** Allowed names in the Host header besides loopback names. */
  readonly hosts?: readonly string[]
  readonly clock?: Clock
  readonly log?: Log
}

export interface LocalStorage {
  /** The address as bound, to show to people. */
  readonly url: string
  /** The address at which this machine reaches it. */
  readonly endpoint: string
  /** True when it listens on all addresses of the machine. */
  readonly anyName: boolean
  readonly region: string
  readonly bucket: string
  readonly credentials: S3Credentials
  /** Refuses new connections, lets uploads finish for `graceMs`, then closes their connections. */
  close(graceMs?: number): Promise<void>
}

/** Has no meaning here, but every signature contains one. */
const REGION = 'us-east-1'
const CREDENTIALS_FILE = 'credentials.json'

/** The lifetime of a presigned address; an upload may take all of it. */
const UPLOAD_MS = 15 * 60_000
/** How long to keep reading from a refused client, so that it gets the answer before the connection closes. */
const LINGER_MS = 1000

/** @throws Failure `port_taken` */
export async function openLocalStorage(options: LocalStorageOptions): Promise<LocalStorage> {
  const { directory, host, port, clock = systemClock, log = silentLog, bucket = 'svc' } = options
  makeDirectory(directory, 0o700)
  const disk = await openObjectDisk(directory, clock)
  const store = { disk, bucket, region: REGION }
  const credentials = options.credentials ?? (await loadCredentials(join(directory, CREDENTIALS_FILE)))
  const allows = createHostGuard(host, options.hosts ?? [])
  const createHandler = (expectsContinue: boolean) => (request: IncomingMessage, response: ServerResponse) =>
    void handleRequest(request, response, expectsContinue, { store, credentials, allows, clock, log })

  const server = createServer({
    headersTimeout: 10_000,
    requestTimeout: UPLOAD_MS,
    connectionsCheckingInterval: 1000,
  })
  server.maxHeadersCount = 100
  server.maxRequestsPerSocket = 1000
  server.on('request', createHandler(false))
  // `Expect: 100-continue`: a refused client is never asked for its body.
  server.on('checkContinue', createHandler(true))
  await listen(server, host, port)
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://${toUrlHost(host)}:${bound}`,
    anyName: isAnyAddress(host),
    endpoint: `http://${toUrlHost(isAnyAddress(host) ? '127.0.0.1' : host)}:${bound}`,
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

async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  expectsContinue: boolean,
  parts: S3ServerParts,
): Promise<void> {
  const requestId = randomUUID()
  const base = { 'x-amz-request-id': requestId }
  const path = textBefore(request.url ?? '', '?')
  // A broken connection needs no action, but without a listener it would be an uncaught error.
  request.on('error', () => undefined)
  response.on('error', () => undefined)
  try {
    const answer = await answerTo(request, response, expectsContinue, parts)
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
  expectsContinue: boolean,
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
    if (expectsContinue) response.writeContinue()
    // A refusal in the middle of the body must not close the connection before the client gets the answer.
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
  // An absolute URL could name a different host than the Host header that was checked.
  if (!url.startsWith('/')) throw new S3Error('InvalidURI', 400, 'The address must begin with a slash.')
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const query = new Map<string, string>()
  for (const pair of mark < 0 ? [] : url.slice(mark + 1).split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    if (query.has(name)) throw new S3Error('InvalidURI', 400, `The parameter ${name} occurs twice.`)
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
  for (const [name, values = []] of Object.entries(request.headersDistinct)) {
    if (name === 'host' && values.length > 1) throw new S3Error('InvalidRequest', 400, 'The Host header occurs twice.')
    headers[name] = values.join(',')
  }
  return headers
}

/** Prevents DNS rebinding: on a loopback address, requests must name a loopback host or a configured one. */
function createHostGuard(bound: string, hosts: readonly string[]): (request: IncomingMessage) => boolean {
  if (!isLoopback(bound)) return () => true
  return (request) => {
    const name = (request.headers.host ?? '').replace(/:\d+$/, '').toLowerCase()
    return isLoopback(name) || hosts.includes(name)
  }
}

const isAnyAddress = (host: string): boolean => host === '0.0.0.0' || host === '::'
const toUrlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

async function loadCredentials(file: string): Promise<S3Credentials> {
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
      reject(fail('port_taken', { host, port, why: describeBindError(error) }, { cause: error })),
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
