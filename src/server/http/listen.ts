/**
 * The HTTP listeners, hardened: slow senders are cut off, and requests that two parsers could read differently are refused.
 * Source: docs/design/security.md#requests
 */
import { chmod, lstat, rm } from 'node:fs/promises'
import { createServer, maxHeaderSize, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { dirname } from 'node:path'
import type { Duplex } from 'node:stream'
import { describeBindError } from '../../base/net/bind-error.ts'
import { fail } from '../../base/failure.ts'
import type { IdSource } from '../../base/ids.ts'
import { makeDirectory } from '../../base/files/make-directory.ts'
import type { ErrorBody } from '../../spec/api.ts'

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => unknown

export interface HttpListener {
  /** The port that was bound; 0 for a socket in the file system. */
  readonly port: number
  /** Stops accepting; resolves when every connection is closed, by force after `graceMs`. */
  close(graceMs: number): Promise<void>
}

const MAX_HEADERS = 100
/** More than the intended number of readers per process; the system refuses further connections. */
const MAX_CONNECTIONS = 20_000

/** How long a sender may take. An answer, such as an event stream, may last. */
export interface SenderTimeouts {
  readonly headersMs: number
  readonly requestMs: number
  /** Interval of checks for slow senders: node's default of 30 s would let them live three times as long. */
  readonly checkMs: number
}

const PATIENCE: SenderTimeouts = { headersMs: 10_000, requestMs: 30_000, checkMs: 1000 }

/** @throws Failure `port_taken` when the address cannot be bound */
export async function listenHttp(
  handler: NodeHandler,
  {
    host,
    port,
    ids,
    patience = PATIENCE,
  }: { readonly host: string; readonly port: number; readonly ids: IdSource; readonly patience?: SenderTimeouts },
): Promise<HttpListener> {
  const server = createHardened(handler, ids, patience)
  const close = createDrain(server)
  try {
    await bound(server, () => void server.listen({ host, port }))
  } catch (error) {
    throw fail('port_taken', { host, port, why: describeBindError(error as NodeJS.ErrnoException) }, { cause: error })
  }
  return { port: (server.address() as AddressInfo).port, close }
}

/**
 * On a Unix socket that only its owner may use. A socket that a server left there is replaced: the directory's lock is held.
 * @throws Failure `file_unusable` where something else lies at the path
 */
export async function listenAdmin(handler: NodeHandler, path: string, ids: IdSource): Promise<HttpListener> {
  // A bundle may take longer to arrive over a tunnel than a request of the API may.
  const server = createHardened(handler, ids, { ...PATIENCE, requestMs: 300_000 })
  const close = createDrain(server)
  makeDirectory(dirname(path), 0o700)
  await removeSocket(path)
  await bound(server, () => void server.listen(path))
  await chmod(path, 0o600)
  return {
    port: 0,
    async close(graceMs) {
      await close(graceMs)
      await rm(path, { force: true })
    },
  }
}

async function removeSocket(path: string): Promise<void> {
  const existing = await lstat(path).catch(() => undefined)
  if (existing === undefined) return
  if (!existing.isSocket())
    throw fail('file_unusable', { path, doing: 'used as a socket', why: 'something else lies there' })
  await rm(path, { force: true })
}

function createHardened(
  handler: NodeHandler,
  ids: IdSource,
  { headersMs, requestMs, checkMs }: SenderTimeouts,
): Server {
  /** The newest answer on each connection. */
  const answers = new WeakMap<Duplex, ServerResponse>()
  const server = createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkMs,
      keepAliveTimeout: 65_000,
      insecureHTTPParser: false,
      // Refused below, with an answer in our own words.
      requireHostHeader: false,
    },
    (request, response) => {
      answers.set(request.socket, response)
      const refused = refusal(request)
      if (refused) {
        const { status, text, headers } = malformed(...refused, ids)
        response.writeHead(status, { ...headers, connection: 'close' }).end(text)
      } else handler(request, response)
    },
  )
  // The parser keeps one more than allowed, so that too many can be distinguished from the maximum.
  server.maxHeadersCount = MAX_HEADERS + 1
  server.maxRequestsPerSocket = 1000
  server.maxConnections = MAX_CONNECTIONS
  server.on('checkExpectation', (_, response) => {
    const { status, text, headers } = malformed(417, 'No expectation but 100-continue can be met.', ids)
    response.writeHead(status, { ...headers, connection: 'close' }).end(text)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    const answer = answers.get(socket)
    // A client would read a second answer to one request, or one inside another, as the answer to a different request.
    if (answer?.headersSent && !(answer.req.complete && answer.writableFinished)) {
      socket.destroySoon()
      return
    }
    const { status, reason, text, headers } = malformed(...parserRefusal(error.code), ids)
    const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}`)
    socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('\r\n')}\r\n\r\n${text}`)
  })
  return server
}

/** Status and reason for what node's parser refuses. */
function parserRefusal(code: string | undefined): [number, string] {
  if (code === 'HPE_HEADER_OVERFLOW')
    return [431, `The address and the headers of the request are larger than ${maxHeaderSize} bytes.`]
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'The request did not arrive in time.']
  return [400, 'The request is not valid HTTP.']
}

/** Status and reason for refusing a request that node's parser lets pass. */
function refusal({ rawHeaders, headers, url, httpVersion }: IncomingMessage): [number, string] | undefined {
  if (rawHeaders.length > MAX_HEADERS * 2) return [431, `The request has more than ${MAX_HEADERS} headers.`]
  const names = rawHeaders.filter((_, index) => index % 2 === 0)
  // The parser of Node 20.19 lets it pass.
  if (names.includes('')) return [400, 'The request has a header without a name.']
  const hosts = names.filter((name) => name.toLowerCase() === 'host').length
  if (hosts === 0 && httpVersion === '1.1') return [400, 'The request has no Host header.']
  if (hosts > 1) return [400, 'The request has more than one Host header.']
  // With another coding, a proxy before us may see the end of the body elsewhere.
  if ((headers['transfer-encoding'] ?? 'chunked').toLowerCase() !== 'chunked')
    return [400, 'A body may be sent in chunks, and in no other transfer coding.']
  if (!url?.startsWith('/')) return [400, 'The request target must be a path.']
  return undefined
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  417: 'Expectation Failed',
  431: 'Request Header Fields Too Large',
}

function malformed(status: number, error: string, ids: IdSource) {
  const body: ErrorBody = { error, code: 'validation_failed', requestId: ids.next() }
  const text = JSON.stringify(body)
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-request-id': body.requestId,
  }
  return { status, reason: REASONS[status], text, headers }
}

const bound = (server: Server, start: () => void): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.once('listening', () => {
      server.off('error', reject)
      resolve()
    })
    start()
  })

/** How often connections that have become idle are looked for while the server drains. */
const DRAIN_EVERY_MS = 20

/** Prepares an orderly end: node knows connections between two requests as idle, but not those that never sent one. */
function createDrain(server: Server): (graceMs: number) => Promise<void> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return (graceMs) =>
    new Promise((resolve) => {
      const closeIdle = () => {
        server.closeIdleConnections()
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
      }
      const drain = setInterval(closeIdle, DRAIN_EVERY_MS)
      const force = setTimeout(() => server.closeAllConnections(), graceMs)
      server.close(() => {
        clearInterval(drain)
        clearTimeout(force)
        resolve()
      })
      closeIdle()
    })
}
