/** Events passed on to an address of the person who watches, for work on webhooks. Source: command line, `svc stream`. */
import { setTimeout as after } from 'node:timers/promises'
import { fail } from '../../base/failure.ts'
import type { StreamEvent } from '../../client/index.ts'
import type { CommandContext } from '../shell/command.ts'

/** Pauses before an event is sent again. */
const RETRY_AFTER_MS = [200, 1000, 5000]

/**
 * Sends one event, again where the other side is away or has trouble; says how each went. An event that is not taken after
 * all is told and left out: the stream goes on.
 * @throws Failure `usage` for what is no HTTP address
 */
export function createForward(call: CommandContext, address: string): (event: StreamEvent) => Promise<void> {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw fail(
      'usage',
      { what: `"${address}" is not an http or https address.` },
      { fix: 'For example http://127.0.0.1:3000/hooks' },
    )
  const { io, out, signal } = call
  return async (event) => {
    for (const pause of [...RETRY_AFTER_MS, undefined]) {
      const since = io.clock.monotonic()
      const status = await post(io.fetch, url, event, signal)
      const ms = Math.round(io.clock.monotonic() - since)
      out.message(`${event.subject} → ${status ?? 'no answer'} in ${ms} ms`)
      if (status !== undefined && status < 500 && status !== 429) return
      if (pause === undefined) return out.message(`${event.subject} was not taken; going on`)
      await after(pause, undefined, { signal })
    }
  }
}

async function post(
  fetch: typeof globalThis.fetch,
  url: URL,
  event: StreamEvent,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event),
      signal,
    })
    await response.body?.cancel()
    return response.status
  } catch (error) {
    signal.throwIfAborted()
    // Refused and broken connections are what retries are for.
    if (error instanceof TypeError) return undefined
    throw error
  }
}
