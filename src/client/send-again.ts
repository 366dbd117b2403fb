/**
 * Sends requests again whose connection is lost: a server that restarts knows them by their ids, so nothing is done twice. Only for requests
 * that name themselves. Source: docs/design/gate.md#the-mcp-endpoint
 */
import { setTimeout as after } from 'node:timers/promises'
import type { SendRequest } from './operator.ts'

/** A restart takes seconds; a client waits about a minute. */
const PATIENCE_MS = 50_000
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 2000

/** What a server that shuts down, or a proxy before one that is gone, answers. */
const GONE: ReadonlySet<number> = new Set([502, 503, 504])

export interface SendAgain {
  readonly send: SendRequest
  /** From now on requests are sent again: before, a server that is not there is an error at once. */
  readonly begin: () => void
}

export function createSendAgain(send: SendRequest): SendAgain {
  let isBegun = false
  return {
    begin: () => void (isBegun = true),
    async send(request) {
      if (request.method !== 'POST') return await send(request)
      const until = performance.now() + PATIENCE_MS
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
        const isLast = !isBegun || performance.now() + pause > until
        try {
          const response = await readWhole(await send(request.clone()))
          if (isLast || !GONE.has(response.status)) return response
        } catch (error) {
          if (isLast || request.signal.aborted) throw error
        }
        await after(pause, undefined, { signal: request.signal })
      }
    },
  }
}

/** An answer that breaks off is no answer. */
async function readWhole(response: Response): Promise<Response> {
  const { status, headers } = response
  const body = await response.arrayBuffer()
  return new Response(body.byteLength === 0 ? null : body, { status, headers })
}
