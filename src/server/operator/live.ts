/**
 * GET /live: tells a reader that something changed, so that it reads again. A hint carries no data and may be superfluous.
 * The first change is told at once; those in quick succession after it share one hint. Source: docs/design/console.md#routes
 */
import type { LiveHint } from '../../operations/server.ts'
import type { HttpReply } from '../http/reply.ts'
import { grantsOfOperator } from '../auth/reader-grants.ts'
import { RETRY_LINE, scatteredRetryLine, STREAM_HEADERS } from '../http/sse.ts'
import type { ReaderGrants } from '../runtime/readers.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { OperatorAction } from './people/act.ts'

/** Least time between two hints: what changes meanwhile is one hint. */
const TOGETHER_MS = 40
const HEARTBEAT_MS = 15_000
/** A reader that has read nothing for this long is gone, or will connect again. */
const STALL_MS = 30_000
/** Beyond, a hint says that anything may have changed. */
const MAX_NAMED = 100

export const streamLive: OperatorAction<'GET /live'> = async (request) =>
  liveReply(request.services, grantsOfOperator(request), request.endsAt)

function liveReply(services: ServerServices, grants: ReaderGrants, endsAt: number | null): HttpReply {
  const { changes, readers, clock, serverState } = services
  const encoder = new TextEncoder()
  let leave = (): void => {}
  let hasRoom = (): void => {}
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      const sessions = new Set<string>()
      let workspace = true
      let timer: NodeJS.Timeout | undefined
      let sent = 0
      let sentAt = 0
      /** Since when a hint waits for the reader, which then gets one for everything it missed. */
      let waitsSince: number | undefined
      const send = (text: string): void => controller.enqueue(encoder.encode(text))
      const flush = (): void => {
        timer = undefined
        if (sent > 0 && (controller.desiredSize ?? 0) <= 0) {
          waitsSince ??= clock.monotonic()
          return
        }
        waitsSince = undefined
        sent++
        sentAt = clock.monotonic()
        const hint: LiveHint =
          sessions.size > MAX_NAMED ? { sessions: 'any', workspace } : { sessions: [...sessions], workspace }
        sessions.clear()
        workspace = false
        send(`data: ${JSON.stringify(hint)}\n\n`)
      }
      const schedule = (): void => {
        timer ??= setTimeout(flush, Math.max(0, sentAt + TOGETHER_MS - clock.monotonic()))
        timer.unref()
      }
      const stops = [
        changes.listen((sessionId) => {
          if (sessionId === undefined) workspace = true
          else if (sessions.size <= MAX_NAMED) sessions.add(sessionId)
          if (waitsSince === undefined) schedule()
        }),
        readers.add(grants, () => end()),
      ]
      const beat = setInterval(() => {
        if (waitsSince !== undefined && clock.monotonic() - waitsSince >= STALL_MS) {
          leave()
          controller.error(new Error('The reader does not keep up.'))
        } else if (endsAt !== null && endsAt <= clock.now()) end()
        else if ((controller.desiredSize ?? 0) > 0) send(': still here\n\n')
      }, HEARTBEAT_MS)
      beat.unref()
      hasRoom = () => {
        if (waitsSince !== undefined) schedule()
      }
      leave = () => {
        hasRoom = () => {}
        clearTimeout(timer)
        clearInterval(beat)
        for (const stop of stops) stop()
        leave = () => {}
      }
      const end = (): void => {
        leave()
        if (serverState.closing) send(scatteredRetryLine())
        controller.close()
      }
      send(RETRY_LINE)
      flush()
    },
    pull: () => hasRoom(),
    cancel: () => leave(),
  })
  return { status: 200, stream, headers: STREAM_HEADERS }
}
