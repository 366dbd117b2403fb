/** Routes as data, and the application that serves a table of them. */
import { STATUS_CODES } from 'node:http'
import { PassThrough } from 'node:stream'
import { H3, HTTPResponse, type H3Event, type HTTPError } from 'h3'
import { isWellFormedKey, keyPrefixOf } from '../../base/api-key.ts'
import type { Clock } from '../../base/clock.ts'
import type { IdSource } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import type { Redactor } from '../../base/secret.ts'
import { fail } from '../../base/failure.ts'
import type { ErrorBody } from '../../spec/api.ts'
import { OPERATOR_KEY_HEADER } from '../../operations/headers.ts'
import { detailOf } from './detail.ts'
import { toProblem } from './problem.ts'
import type { HttpReply } from './reply.ts'
import type { EventStreamBody } from './sse.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

export type HttpMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** A request as its route sees it. */
export interface HttpRequestContext {
  readonly request: Request
  readonly url: URL
  readonly params: Readonly<Record<string, string>>
  readonly requestId: string
  /** Address of the peer's socket; undefined in process. */
  readonly peer: string | undefined
  /** Node's own request where there is one: reading its body directly is faster than through a web stream. */
  readonly incoming: AsyncReadable | undefined
}

/** A parameter that the path of the route has: the router fills in all of them. */
export const readPathParam = ({ params }: Pick<HttpRequestContext, 'params'>, name: string): string =>
  expectDefined(params[name], `the path has :${name}`)

/** The part of `http.IncomingMessage` that the body reader uses. */
export type AsyncReadable = NonNullable<NonNullable<H3Event['runtime']>['node']>['req']

export type RouteHandler = (call: HttpRequestContext) => HttpReply | Promise<HttpReply>

export interface ApiRoute {
  readonly method: HttpMethod
  readonly path: string
  readonly handle: RouteHandler
}

export interface RouteParts {
  readonly ids: IdSource
  readonly log: Log
  readonly redactor: Redactor
  readonly clock: Clock
  /** False: GET requests are not logged. */
  readonly logsReads: boolean
  /** Runs before routing; throws a Failure to refuse. */
  readonly guard: (call: HttpRequestContext) => void
}

/**
 * Serves a table of routes. A known path with another method is answered 405 with `Allow`, an unknown path 404; `HEAD` is
 * served like `GET`. Every response carries `X-Request-Id`.
 */
export function serveRoutes(parts: RouteParts, routes: readonly ApiRoute[]): H3 {
  // `answer` handles errors of routes; those that arrive here come from h3: a path it cannot decode, or a bug.
  const onError = (error: HTTPError, event: H3Event) =>
    answer(
      callOf(parts, event),
      () => {
        throw error.status < 500 ? notFound() : error
      },
      parts,
    )
  const app = new H3({ silent: true, onError })
  for (const path of new Set(routes.map((route) => route.path))) {
    const here = routes.filter((route) => route.path === path)
    const allow = here.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    for (const { method, handle } of here) {
      const handler = (event: H3Event) => answer(callOf(parts, event), handle, parts)
      app.on(method, path, handler)
      if (method === 'GET') app.on('HEAD', path, handler)
    }
    const refuse: RouteHandler = ({ request }) => {
      throw fail('method_not_allowed', { method: request.method, allow }, { headers: { allow: allow.join(', ') } })
    }
    app.all(path, (event) => answer(callOf(parts, event), refuse, parts))
  }
  return app.all('/**', (event) =>
    answer(
      callOf(parts, event),
      () => {
        throw notFound()
      },
      parts,
    ),
  )
}

const notFound = () => fail('not_found', { what: 'route' })

function callOf({ ids }: RouteParts, event: H3Event): HttpRequestContext {
  const incoming = event.runtime?.node?.req
  return {
    request: event.req,
    url: event.url,
    params: event.context.params ?? {},
    requestId: ids.next(),
    peer: incoming?.socket?.remoteAddress,
    incoming,
  }
}

/** A response that keeps its headers as a plain object: building `Headers` costs more than the one read of them. */
class RouteResponse extends HTTPResponse {
  readonly #plain: Readonly<Record<string, string>>
  constructor(
    body: BodyInit | null,
    init: { readonly status: number; readonly statusText: string; readonly headers: Readonly<Record<string, string>> },
  ) {
    super(body, init)
    this.#plain = init.headers
  }
  override get headers(): Headers {
    // h3 passes these on as `HeadersInit`, for which a plain object is valid.
    return this.#plain as unknown as Headers
  }
}

/** A token in a path is a secret. */
const loggedPath = ({ url }: HttpRequestContext): string =>
  url.pathname.replace(/^(\/v1\/completions\/|\/decide\/).+/, '$1:token')

async function answer(call: HttpRequestContext, handle: RouteHandler, parts: RouteParts): Promise<RouteResponse> {
  const { guard, log, redactor, clock } = parts
  const begun = clock.monotonic()
  let reply: HttpReply
  try {
    guard(call)
    reply = await handle(call)
  } catch (error) {
    reply = toProblem(error, call.requestId, redactor)
    if (reply.status === 500) {
      log.write('error', 'request failed', {
        requestId: call.requestId,
        method: call.request.method,
        path: loggedPath(call),
        detail: detailOf(error),
      })
    }
  }
  if (parts.logsReads || call.request.method !== 'GET')
    log.write('debug', 'request', {
      requestId: call.requestId,
      method: call.request.method,
      path: loggedPath(call),
      status: reply.status,
      ms: Math.round(clock.monotonic() - begun),
      ...keyOf(call.request),
      ...(reply.status >= 400 && reply.json !== undefined && { error: errorOf(reply) }),
    })
  const { status } = reply
  const text = reply.text ?? (reply.json === undefined ? undefined : JSON.stringify(reply.json))
  return new RouteResponse(text ?? (await streamOf(reply, call)), {
    status,
    statusText: STATUS_CODES[status] ?? '',
    headers: {
      'x-request-id': call.requestId,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // With a known length node writes once to the socket, instead of three times for a chunk.
      ...(text !== undefined && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(text)),
      }),
      ...reply.headers,
    },
  })
}

/** The body of a reply that is sent while it is made. */
async function streamOf({ stream, events }: HttpReply, call: HttpRequestContext): Promise<BodyInit | null> {
  if (call.request.method === 'HEAD') {
    // This stream has no reader; left open, it would follow the run to its end.
    events?.destroy()
    await stream?.cancel()
    return null
  }
  // h3 pipes a body that can be piped to node's response.
  if (events && call.incoming) return events as unknown as BodyInit
  return events ? toWebStream(events) : (stream ?? null)
}

/** The stream of a caller in this process. `Readable.toWeb` throws when such a caller cancels. */
function toWebStream(events: EventStreamBody): ReadableStream<Uint8Array> {
  const written = new PassThrough()
  let isOver = false
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const end = (close: () => void): void => {
        if (!isOver) close()
        isOver = true
      }
      written.on('data', (chunk: Uint8Array) => {
        if (isOver) return
        controller.enqueue(chunk)
        if ((controller.desiredSize ?? 0) <= 0) written.pause()
      })
      written.once('end', () => end(() => controller.close()))
      written.once('error', (error) => end(() => controller.error(error)))
      written.once('close', () => end(() => controller.close()))
      events.pipe(written)
    },
    pull: () => void written.resume(),
    cancel() {
      isOver = true
      written.destroy()
    },
  })
}

/** The prefix of a well-formed key, as lists show it; nothing of any other value. */
function keyOf({ headers }: Request): { key?: string } {
  const key = headers.get('x-api-key') ?? headers.get(OPERATOR_KEY_HEADER)
  return key !== null && isWellFormedKey(key) ? { key: keyPrefixOf(key) } : {}
}

/** The error that was sent, with the first invalid place. */
function errorOf({ json }: HttpReply): string {
  const { error, details } = json as Pick<ErrorBody, 'error' | 'details'>
  const [first] = details ?? []
  return first ? `${first.path}: ${first.message}` : error
}
