/**
 * `fetch` over node:http. It costs a third of the CPU of the built-in one, follows no redirect, lets the caller resolve
 * host names, and reports for a failure whether anything was sent.
 */
import {
  request as requestHttp,
  Agent as HttpAgent,
  type Agent,
  type ClientRequest,
  type IncomingMessage,
} from 'node:http'
import { request as requestHttps, Agent as HttpsAgent } from 'node:https'
import type { LookupFunction } from 'node:net'
import { toChunkResponse, statusOf } from './chunk-response.ts'

export interface GuardedRequestInit extends RequestInit {
  /** Called when the connection is open, right before the first byte leaves. False: nothing is sent. */
  readonly mayLeave?: (() => boolean) | undefined
}

export type FetchFunction = (input: string | URL | Request, init?: GuardedRequestInit) => Promise<Response>

export interface TransportOptions {
  /**
   * Keep connections for the next request. A kept connection may be closed by the other side just as a request goes out, so
   * only for requests that may be repeated.
   */
  readonly keepAlive: boolean
  /** Milliseconds without traffic after which a request is aborted. Absent = never. */
  readonly idleMs?: number
  /** Resolves host names in place of the system. A name that it refuses is not connected to. */
  readonly lookup?: LookupFunction
  /** Answers have bodies without a web stream: enough for the vendors' SDKs, and a fraction of the CPU for each piece. */
  readonly plainBodies?: boolean
}

/** The request failed before its first byte was sent: nothing can have happened on the other side. */
export class UnsentError extends Error {
  override readonly name = 'UnsentError'
  /** The system's error code, for example `ECONNREFUSED`. */
  readonly code: string | undefined
  constructor(message: string, code: string | undefined, cause: unknown) {
    super(message, { cause })
    this.code = code
  }
}

export const unsentBecause = (cause: Error): UnsentError => new UnsentError(cause.message, undefined, cause)

/** Code of an `UnsentError` whose request `mayLeave` held back. */
const HELD_BACK = 'ERR_HELD_BACK'

/** The code of an address that may not be used: no attempt can succeed. */
export const EGRESS_REFUSED = 'ERR_EGRESS_REFUSED'

export const createHeldBackError = (cause?: unknown): UnsentError =>
  new UnsentError('It was held back.', HELD_BACK, cause)

/** True if an error or its cause says that nothing was sent. */
export const isUnsent = (error: unknown): boolean => findUnsent(error) !== undefined

/** True if an error or its cause says that `mayLeave` held the request back. */
export const isHeldBack = (error: unknown): boolean => findUnsent(error)?.code === HELD_BACK

/** `refused` where no attempt can succeed, because the address may not be used. */
export const unsentCode = (error: unknown): 'refused' | 'unreachable' =>
  findUnsent(error)?.code === EGRESS_REFUSED ? 'refused' : 'unreachable'

function findUnsent(error: unknown): UnsentError | undefined {
  for (let here = error, depth = 0; here instanceof Error && depth < 8; here = here.cause, depth++)
    if (here instanceof UnsentError) return here
  return undefined
}

/** Its requests fail with an UnsentError, or, once they may have been received, with the signal's reason or the socket's error. */
export function createTransport({ keepAlive, idleMs, lookup, plainBodies }: TransportOptions): FetchFunction {
  const agents: Readonly<Record<string, Agent>> = {
    'http:': new HttpAgent({ keepAlive }),
    'https:': new HttpsAgent({ keepAlive }),
  }
  return (input, init = {}) =>
    new Promise((resolve, reject) => {
      const { url, method, headers, body, signal, mayLeave } = read(input, init)
      const agent = agents[url.protocol]
      if (!agent) throw new TypeError(`${url.protocol} is not a supported protocol.`)
      if (signal?.aborted) throw signal.reason
      headers['accept-encoding'] = 'identity'
      if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(body))
      const start = url.protocol === 'https:' ? requestHttps : requestHttp
      const request = start(url, { method, headers, agent, ...(lookup && { lookup }) })
      const stop = (): void => void request.destroy(signal?.reason as Error)
      signal?.addEventListener('abort', stop, { once: true })
      const release = (): void => signal?.removeEventListener('abort', stop)
      let isSent = false
      whenOpen(request, url.protocol, () => {
        if (mayLeave?.() === false)
          return void request.destroy(Object.assign(new Error('It was held back.'), { code: HELD_BACK }))
        isSent = true
        return void request.end(body)
      })
      let givenUp: Error | undefined
      if (idleMs !== undefined) request.setTimeout(idleMs, () => request.destroy((givenUp = silent(idleMs))))
      request.once('error', (error: NodeJS.ErrnoException) => {
        release()
        if (!isSent) reject(new UnsentError(sentence(error), error.code, error))
        else reject(signal?.aborted ? signal.reason : error)
      })
      const whyClosed = (): Error => (signal?.aborted ? (signal.reason as Error) : (givenUp ?? closedEarly()))
      const toResponse = plainBodies ? toChunkResponse : toWebResponse
      let isAnswered = false
      request.once('response', (response) => {
        isAnswered = true
        resolve(toResponse(response, release, whyClosed))
      })
      // Node closes the connection without an error when the answer changes the protocol.
      request.once('close', () => {
        if (isAnswered) return
        release()
        reject(whyClosed())
      })
    })
}

function read(input: string | URL | Request, init: GuardedRequestInit) {
  const base = input instanceof Request ? input : undefined
  const body = init.body ?? undefined
  const headers = init.headers ?? base?.headers
  if (body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new TypeError('Only text and bytes can be sent.')
  return {
    url: input instanceof URL ? input : new URL(base ? base.url : (input as string)),
    method: init.method ?? base?.method ?? 'GET',
    headers: Object.fromEntries(headers instanceof Headers ? headers : new Headers(headers)),
    body,
    signal: init.signal ?? undefined,
    mayLeave: init.mayLeave,
  }
}

/** Calls back once the connection is established. Node writes nothing before the request is ended. */
function whenOpen(request: ClientRequest, protocol: string, callback: () => void): void {
  request.once('socket', (socket) => {
    if (request.reusedSocket) callback()
    else socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', callback)
  })
}

const BODILESS = new Set([101, 204, 205, 304])

/** @param why the error of a body that ends early */
function toWebResponse(message: IncomingMessage, release: () => void, why: () => Error): Response {
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(message.headersDistinct))
    for (const value of values) headers.append(name, value)
  const status = statusOf(message)
  const init = { status, statusText: message.statusMessage ?? '', headers }
  if (BODILESS.has(status)) {
    message.resume()
    release()
    return new Response(null, init)
  }
  let over = false
  const end = (close: () => void): void => {
    if (over) return
    over = true
    release()
    close()
  }
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        message.on('data', (chunk: Buffer) => {
          controller.enqueue(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength))
          if ((controller.desiredSize ?? 0) <= 0) message.pause()
        })
        message.once('end', () => end(() => controller.close()))
        const broken = (): void => end(() => controller.error(why()))
        message.once('error', broken)
        message.once('close', broken)
      },
      pull: () => void message.resume(),
      cancel: () => end(() => message.destroy()),
    },
    { highWaterMark: 64 * 1024, size: (chunk) => chunk?.byteLength ?? 0 },
  )
  return new Response(body, init)
}

const silent = (ms: number): Error =>
  Object.assign(new Error(`Nothing came for ${ms / 1000} s.`), { code: 'ETIMEDOUT' })

/** Node's own message is only "aborted". */
const closedEarly = (): Error => Object.assign(new Error('The connection was closed early.'), { code: 'ECONNRESET' })

/** An attempt on several addresses fails with an error that has no message of its own. */
function sentence(error: NodeJS.ErrnoException): string {
  if (error.message) return error.message
  const first = (error as { readonly errors?: readonly Error[] }).errors?.[0]
  return first?.message ?? error.code ?? 'The connection could not be made.'
}
