import { createParser } from 'eventsource-parser'
import { retryDelayMs } from './retry.ts'
import { isRefusal, SvcConnectionError, SvcError, SvcTimeoutError } from './error.ts'
import type { StreamEvent } from './generated/api.ts'
import type { PlatformResponse, PlatformSignal } from './platform.ts'
import {
  createLimit,
  openResponse,
  pathOf,
  retryAfterOf,
  sleepUntil,
  toSvcError,
  type ClientRequest,
  type ClientTransport,
} from './transport.ts'

/** The server sends a comment every 15 s; after three missed ones the connection counts as lost. */
const IDLE_MS = 45_000

/** Attempts in a row that bring nothing, after which a stream that once ran is given up: about a minute. */
const FRUITLESS = 10

const TERMINAL = /^engine\.(?:run|session)\.(?:completed|failed|cancelled)$/

export interface StreamOptions {
  readonly signal?: PlatformSignal
  /** Events after this one; absent = from the session's first. */
  readonly lastEventId?: string
  /** False: the first cut ends the stream with an error. */
  readonly reconnect?: boolean
}

/**
 * Events of a run, each once and in order. Reconnects with `Last-Event-ID` and drops repeated events by id. Ends after the
 * terminal event of the run (of the session, for a root run), or when the server answers 204 for a stream without more events.
 * @throws SvcError for a status that a retry cannot change
 */
export async function* followEvents(
  transport: ClientTransport,
  request: ClientRequest,
  runId: string,
  options: StreamOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  const position = createPosition(runId, options.lastEventId)
  const path = pathOf(request.url)
  let fruitless = 0
  let serverRetryMs: number | undefined
  let closedAfterEnd = false

  for (let attempt = 1; ; attempt++) {
    const limit = createLimit(options.signal, IDLE_MS)
    let failure: unknown
    try {
      const lastEventId = position.lastEventId()
      const headers = { ...request.headers, ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }) }
      const response = await openResponse(transport, { ...request, headers }, attempt, limit.signal)
      if (response.status === 204) return
      if (!response.ok) throw await toSvcError(request, response)
      refuseOther(response, path)
      for await (const frame of readFrames(response, limit)) {
        fruitless = 0
        if (frame.retryMs !== undefined) serverRetryMs = frame.retryMs
        if (frame.data === undefined || !position.isNew(frame.id)) continue
        const event = parse(frame.data, path)
        position.pass(frame.id, event)
        limit.hold() // a reader may take as long as it likes: only the server's silence counts
        yield event
        limit.renew()
        if (position.ended()) return
      }
      if (position.ownEndSeen()) {
        // Only the stream of a root may continue after this. If the next connection adds nothing, it was not a root.
        if (closedAfterEnd || options.reconnect === false) return
        closedAfterEnd = true
      }
      failure = new SvcConnectionError(`The stream of ${path} was cut.`, path)
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason
      failure = limit.expired() ? new SvcTimeoutError(path, IDLE_MS) : error
    } finally {
      // Also where the reader leaves the loop: the request must not outlive it.
      limit.abort()
      limit.clear()
    }

    fruitless++
    const patience = position.lastEventId() === undefined || position.ownEndSeen() ? transport.maxRetries : FRUITLESS
    if (options.reconnect === false || fruitless > patience || isRefusal(failure)) {
      if (position.ownEndSeen()) return
      throw failure
    }
    const asked = retryAfterOf(failure)
    await sleepUntil(
      asked ?? (fruitless <= 1 ? serverRetryMs : undefined) ?? retryDelayMs(fruitless + 1),
      options.signal,
    )
  }
}

interface SseFrame {
  readonly id?: string | undefined
  /** Absent for a comment or a `retry:` line. */
  readonly data?: string
  readonly retryMs?: number
}

async function* readFrames(
  response: PlatformResponse,
  limit: { readonly signal: PlatformSignal; renew(): void },
): AsyncGenerator<SseFrame, void, undefined> {
  if (!response.body) return
  let frames: SseFrame[] = []
  const parser = createParser({
    onEvent: (event) => frames.push({ id: event.id, data: event.data }),
    onComment: () => frames.push({}),
    onRetry: (retryMs) => frames.push({ retryMs }),
  })
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  // A fetch that runs in this process need not tie the body to the signal.
  const cancel = (): void => void reader.cancel().catch(() => undefined)
  limit.signal.addEventListener('abort', cancel, { once: true })
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (limit.signal.aborted) throw limit.signal.reason
      if (done) return
      limit.renew()
      parser.feed(decoder.decode(value, { stream: true }))
      const ready = frames
      frames = []
      yield* ready
    }
  } finally {
    cancel()
  }
}

/** The position of a reader: the events it has received, and whether the last one ends the stream. */
function createPosition(runId: string, from: string | undefined) {
  let last = from
  let rootRunId: string | undefined
  let ownEnd = false
  let ended = false
  return {
    lastEventId: () => last,
    isNew(id: string | undefined): boolean {
      if (id === undefined || last === undefined) return true
      const [next, seen] = [Number(id), Number(last)]
      return Number.isNaN(next) || Number.isNaN(seen) ? id !== last : next > seen
    },
    pass(id: string | undefined, event: StreamEvent) {
      if (id !== undefined) last = id
      if (event.subject === 'engine.session.started') rootRunId = event.data.runId
      if (!TERMINAL.test(event.subject)) return
      if (event.kind === 'session') ended = true
      else if (event.data.runId === runId) {
        ownEnd = true
        // The session's own end follows for a root; a stream that began later does not know which it is.
        if (rootRunId !== undefined && rootRunId !== runId) ended = true
      }
    },
    ended: () => ended,
    ownEndSeen: () => ownEnd,
  }
}

function parse(data: string, path: string): StreamEvent {
  try {
    return JSON.parse(data) as StreamEvent
  } catch {
    throw new SvcError({ method: 'GET', status: 200, path, body: data })
  }
}

function refuseOther(response: PlatformResponse, path: string): void {
  const type = response.headers.get('content-type')
  if (type && !type.startsWith('text/event-stream'))
    throw new SvcError({
      method: 'GET',
      status: response.status,
      path,
      body: `Expected text/event-stream, got ${type}.`,
    })
}
