/** Posts events to an address, for developing webhooks. Source: docs/design/command-line.md#driving */
import { setTimeout as after } from 'node:timers/promises'
import { fail } from '../../base/failure.ts'
import { showAddress } from '../../base/net/show-address.ts'
import type { StreamEvent } from '../../client/index.ts'
import type { CommandContext } from '../shell/command.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

/** Delays between attempts. */
const RETRY_AFTER_MS = [200, 1000, 5000]

/**
 * Posts one event, with retries if the address is unreachable or fails, and reports the result. An event that fails every time is
 * reported and skipped.
 * @throws Failure `usage` unless it is an HTTP address
 */
export function createForward(call: CommandContext, address: string): (event: StreamEvent) => Promise<void> {
  const url = parseUrl(address)
  if (!url || !/^https?:$/.test(url.protocol))
    throw fail(
      'usage',
      { what: `${showAddress(address)} is not an http or https address.` },
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
    // Retries refused and broken connections.
    if (error instanceof TypeError) return undefined
    throw error
  }
}
