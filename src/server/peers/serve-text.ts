/**
 * Passes model text of the sessions that this process drives to the other processes of the store, for readers there. Each
 * other process opens one stream and says which sessions it has readers for. Source: docs/design/several-processes.md#model-text
 */
import { fail, Failure } from '../../base/failure.ts'
import type { IdSource, SessionId } from '../../base/ids.ts'
import { isJsonObject } from '../../base/json/json.ts'
import type { TextExchange } from '../../engine/interface/text-exchange.ts'
import { readJson } from '../http/body.ts'
import type { HttpReply } from '../http/reply.ts'
import { type ApiRoute, type RouteHandler, readPathParam } from '../http/route.ts'
import type { ClusterSecret } from './cluster-secret.ts'
import { ALIVE_FRAME, openedFrame, textFrame } from './text-frames.ts'

/** More processes than share a store. */
const MAX_STREAMS = 200
/** Maximum sessions with readers in another process; text of further ones appears there with the complete step. */
const MAX_SESSIONS = 20_000
/** Unsent text of a stream; a process that does not read it loses what follows, and its readers get the steps. */
const MAX_UNSENT_BYTES = 1024 * 1024
const ALIVE_EVERY_MS = 5000
/** Sessions that one request adds or removes. */
export const MOST_SESSIONS_AT_ONCE = 5000
const BODY = { maxBytes: 1024 * 1024, maxLevels: 4, maxValues: 2 * MOST_SESSIONS_AT_ONCE + 10 }

interface PeerStream {
  readonly sessions: Set<SessionId>
  end(): void
}

export interface PeerTextServer {
  readonly routes: readonly ApiRoute[]
  /** Ends every stream. */
  close(): void
}

export function servePeerText(exchange: TextExchange, secret: ClusterSecret, ids: IdSource): PeerTextServer {
  const streams = new Map<string, PeerStream>()
  const encoder = new TextEncoder()

  const forPeers =
    (handle: RouteHandler): RouteHandler =>
    (call) => {
      if (!secret.isIn(call.request.headers))
        throw new Failure('invalid_api_key', 'The request does not carry the secret of the cluster.', {})
      return handle(call)
    }

  function openStream(): HttpReply {
    if (streams.size >= MAX_STREAMS)
      throw new Failure('concurrency_limited', `At most ${MAX_STREAMS} processes may follow this one.`, {})
    const name = ids.next()
    const sessions = new Set<SessionId>()
    let leave = (): void => {}
    const stream = new ReadableStream<Uint8Array>(
      {
        start(controller) {
          const send = (frame: string): void => controller.enqueue(encoder.encode(frame))
          const untap = exchange.tap((text) => {
            if (sessions.has(text.delta.sessionId) && (controller.desiredSize ?? 0) > 0) send(textFrame(text))
          })
          const alive = setInterval(() => {
            if ((controller.desiredSize ?? 0) > 0) send(ALIVE_FRAME)
          }, ALIVE_EVERY_MS).unref()
          leave = () => {
            untap()
            clearInterval(alive)
            streams.delete(name)
          }
          streams.set(name, {
            sessions,
            end() {
              leave()
              controller.close()
            },
          })
          send(openedFrame(name))
        },
        cancel: () => leave(),
      },
      { highWaterMark: MAX_UNSENT_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
    )
    return { status: 200, stream, headers: { 'content-type': 'application/x-ndjson' } }
  }

  const changeSessions: RouteHandler = async (call) => {
    const body = await readJson(call, BODY)
    const stream = streams.get(readPathParam(call, 'stream'))
    // The stream ended meanwhile; the other process opens a new one.
    if (!stream) throw fail('not_found', { what: 'stream' })
    for (const id of idsIn(body, 'add')) if (stream.sessions.size < MAX_SESSIONS) stream.sessions.add(id)
    for (const id of idsIn(body, 'remove')) stream.sessions.delete(id)
    return { status: 204 }
  }

  return {
    routes: [
      { method: 'GET', path: '/peer/deltas', handle: forPeers(openStream) },
      { method: 'POST', path: '/peer/deltas/:stream', handle: forPeers(changeSessions) },
    ],
    close() {
      for (const stream of streams.values()) stream.end()
    },
  }
}

function idsIn(body: unknown, name: 'add' | 'remove'): readonly SessionId[] {
  const value = isJsonObject(body as never) ? (body as Record<string, unknown>)[name] : undefined
  if (value === undefined) return []
  if (!Array.isArray(value) || value.length > MOST_SESSIONS_AT_ONCE || value.some((id) => typeof id !== 'string'))
    throw fail('validation_failed', {
      what: `"${name}" must be a list of at most ${MOST_SESSIONS_AT_ONCE} session ids.`,
    })
  return value as SessionId[]
}
