import { parseRetryAfter, retryDelayMs } from './retry.ts'
import type { PlatformBlob, PlatformRequestInit, PlatformResponse, PlatformSignal, PlatformStream } from './platform.ts'
import { isRefusal, SvcConnectionError, SvcError, SvcTimeoutError } from './error.ts'

/** The global `fetch`, or one of its kind. */
export type ClientFetch = (input: string, init?: PlatformRequestInit) => Promise<PlatformResponse>

/** An attempt, as `onRequest` sees it. Neither the key nor the signature of an upload address is in it. */
export interface RequestInfo {
  readonly method: string
  readonly url: string
  /** 1 for the first. */
  readonly attempt: number
}

export interface ResponseInfo extends RequestInfo {
  readonly status: number
  readonly requestId: string | undefined
  /** Until the headers were there. */
  readonly durationMs: number
}

/** What every method takes as its last argument. */
export interface RequestOptions {
  /** Its abort reason is thrown as it is. */
  readonly signal?: PlatformSignal
  /** Bound of the whole call, repetitions included. */
  readonly timeoutMs?: number
  readonly maxRetries?: number
}

export interface ClientTransport {
  readonly fetch: ClientFetch
  readonly maxRetries: number
  readonly timeoutMs: number
  readonly maxRetryAfterMs: number
  readonly onRequest: ((request: RequestInfo) => void) | undefined
  readonly onResponse: ((response: ResponseInfo) => void) | undefined
}

export interface ClientRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | PlatformBlob | Uint8Array<ArrayBuffer> | PlatformStream
  /** The server recognises a repetition, so that a broken connection is no reason to give up. */
  readonly repeatable?: boolean
}

/**
 * Sends a request and reads its answer, again where nothing can happen twice: a broken connection, 408 and 5xx only for
 * GET; 429 and 503, with which nothing was accepted, for every method.
 * @throws SvcError for a failing status, SvcConnectionError, SvcTimeoutError, or the caller's abort reason
 */
export async function sendRequest(
  transport: ClientTransport,
  request: ClientRequest,
  options: RequestOptions,
): Promise<string> {
  const timeoutMs = options.timeoutMs ?? transport.timeoutMs
  const retries = options.maxRetries ?? transport.maxRetries
  const limit = createLimit(options.signal, timeoutMs)
  const started = performance.now()
  const whyEnded = (): unknown =>
    options.signal?.aborted ? options.signal.reason : new SvcTimeoutError(pathOf(request.url), timeoutMs)
  try {
    for (let attempt = 1; ; attempt++) {
      const outcome = await once(transport, request, attempt, limit.signal)
      if ('text' in outcome) return outcome.text
      if (options.signal?.aborted || limit.expired()) throw whyEnded()
      const asked = retryAfterOf(outcome.error)
      const wait = retryDelayMs(attempt + 1, asked)
      // Waiting beyond the time limit is useless, and this failure says more than a timeout.
      const late = performance.now() - started + wait >= timeoutMs || (asked ?? 0) > transport.maxRetryAfterMs
      if (attempt > retries || late || !mayRepeat(request, outcome.error)) throw outcome.error
      await sleepUntil(wait, limit.signal).catch(() => {
        throw whyEnded()
      })
    }
  } finally {
    limit.clear()
  }
}

/**
 * One attempt up to the headers.
 * @throws SvcConnectionError, or the reason of `signal`
 */
export async function openResponse(
  transport: ClientTransport,
  request: ClientRequest,
  attempt: number,
  signal: PlatformSignal,
): Promise<PlatformResponse> {
  const info: RequestInfo = { method: request.method, url: publicUrl(request.url), attempt }
  transport.onRequest?.(info)
  const started = performance.now()
  let response: PlatformResponse
  try {
    response = await transport.fetch(request.url, {
      method: request.method,
      headers: { ...request.headers },
      // A redirect would carry the key to wherever it points: it is a failing status like others. Workers know no 'error'.
      redirect: 'manual',
      signal,
      ...(request.body !== undefined && { body: request.body }),
      ...(request.body instanceof ReadableStream && { duplex: 'half' }),
    })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw new SvcConnectionError(`No answer from ${info.url}: ${whyOf(error)}.`, pathOf(request.url), error)
  }
  transport.onResponse?.({
    ...info,
    status: response.status,
    requestId: response.headers.get('x-request-id') ?? undefined,
    durationMs: performance.now() - started,
  })
  return response
}

export async function toSvcError(request: ClientRequest, response: PlatformResponse): Promise<SvcError> {
  return new SvcError({
    method: request.method,
    status: response.status,
    path: pathOf(request.url),
    body: await response.text().catch(() => ''),
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterMs: parseRetryAfter(response.headers.get('retry-after')),
  })
}

/** Ends after `ms`, or with the reason of `signal`. */
export function sleepUntil(ms: number, signal?: PlatformSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** A signal that follows the caller's and ends after `ms`; a timer of our own, so that it neither leaks nor is collected. */
export function createLimit(signal: PlatformSignal | undefined, ms: number) {
  const controller = new AbortController()
  let expired = false
  const follow = (): void => controller.abort(signal?.reason)
  const expire = (): void => {
    expired = true
    controller.abort(new DOMException('The time is up.', 'TimeoutError'))
  }
  let timer = setTimeout(expire, ms)
  if (signal?.aborted) follow()
  else signal?.addEventListener('abort', follow, { once: true })
  return {
    signal: controller.signal as PlatformSignal,
    expired: () => expired,
    /** Stops the time until `renew`. */
    hold: () => clearTimeout(timer),
    /** Starts the time again. */
    renew() {
      clearTimeout(timer)
      timer = setTimeout(expire, ms)
    },
    abort: () => controller.abort(),
    clear() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', follow)
    },
  }
}

export const pathOf = (url: string): string => new URL(publicUrl(url)).pathname

async function once(
  transport: ClientTransport,
  request: ClientRequest,
  attempt: number,
  signal: PlatformSignal,
): Promise<{ readonly text: string } | { readonly error: unknown }> {
  try {
    const response = await openResponse(transport, request, attempt, signal)
    if (!response.ok) return { error: await toSvcError(request, response) }
    const text = await response.text().catch((error: unknown) => {
      const message = `The answer of ${publicUrl(request.url)} broke off: ${whyOf(error)}.`
      throw new SvcConnectionError(message, pathOf(request.url), error)
    })
    return { text }
  } catch (error) {
    return { error }
  }
}

function mayRepeat(request: ClientRequest, error: unknown): boolean {
  // A stream has been read by the first attempt.
  if (request.body instanceof ReadableStream) return false
  if (error instanceof SvcConnectionError) return request.method === 'GET' || request.repeatable === true
  if (!(error instanceof SvcError)) return false
  return error.status === 429 || error.status === 503 || (request.method === 'GET' && !isRefusal(error))
}

export const retryAfterOf = (error: unknown): number | undefined =>
  error instanceof SvcError ? error.retryAfterMs : undefined

/** fetch hides the reason (`ECONNREFUSED`, …) in `cause`. */
function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  return 'code' in cause ? String(cause.code) : cause.message || error.message
}

/** The token of a completion is all that it takes to end its call. */
const publicUrl = (url: string): string => url.replace(/([?&]X-Amz-[^=]*=|\/v1\/completions\/)[^&]*/gi, '$1***')
