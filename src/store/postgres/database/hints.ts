/**
 * Tells other processes which sessions changed, so that they need not wait until they look. A hint has no data and may get lost.
 * NOTIFY takes a lock of the whole cluster at commit: it is sent outside of the transactions that write, by each process at most
 * every 10 ms. Source: docs/design/several-processes.md#hints
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client, QueryConfig } from 'pg'
import type { SessionId } from '../../../base/ids.ts'
import { within } from '../../../base/signal-within.ts'
import type { SessionHint } from '../../lease.ts'
import { endAlone, type PostgresPool } from './pool.ts'

const EVERY_MS = 10
/** Number of hints that fit into the 8,000 bytes of a notification. */
const MAX_NAMED = 340
const MAX_RECONNECT_MS = 2000
/** How often the listening connection is tried, on which a server that is gone would not be noticed, and how long an answer may take. */
const TRY_EVERY_MS = 5000
const TRIED_FOR_MS = 3000
/** For a hint under way when the process ends. */
const LAST_HINT_MS = 1000

export interface SessionHints {
  /** Sessions that this process changed, and whether nobody holds them. */
  changed(ids: readonly SessionId[], isFree?: boolean): void
  /** Changes by other processes, until the signal aborts. `all` after each time without a connection. */
  follow(signal: AbortSignal): AsyncIterable<SessionHint>
  close(): Promise<void>
}

/** @param self names this process: its own hints are of no use to it */
export function createHints(pool: PostgresPool, schema: string, self: string): SessionHints {
  const channel = `svc_hint_${schema}`
  /** Whether nobody holds the session. */
  let waiting = new Map<SessionId, boolean>()
  let sending: Promise<void> | undefined
  const ending = new AbortController()

  async function sendAll(): Promise<void> {
    while (waiting.size > 0 && !ending.signal.aborted) {
      const ids = [...waiting]
      waiting = new Map()
      const named = (isFree: boolean): string =>
        ids.flatMap(([id, free]) => (free === isFree ? [shorten(id)] : [])).join('')
      const payload = ids.length > MAX_NAMED ? `${self} *` : `${self} ${named(false)} ${named(true)}`
      await pool.row('select pg_notify(:channel, :payload)', { channel, payload }).catch(ignoreLost)
      await delay(EVERY_MS, undefined, { ref: false })
    }
    sending = undefined
  }

  return {
    changed(ids, isFree = false) {
      for (const id of ids) waiting.set(id, isFree)
      if (waiting.size > 0 && !ending.signal.aborted) sending ??= sendAll()
    },
    async *follow(signal) {
      for (let attempt = 0; !signal.aborted; attempt++) {
        if (attempt > 0) await pause(signal, Math.random() * Math.min(MAX_RECONNECT_MS, 50 * 2 ** attempt))
        const client = await pool.connectAlone().catch(() => undefined)
        if (!client) continue
        try {
          await client.query({ text: `listen ${channel}`, query_timeout: TRIED_FOR_MS } as QueryConfig)
          if (attempt > 0) yield 'all'
          attempt = 0
          yield* notificationsOf(client, self, signal)
        } catch {
          // The connection is lost, and hints may be lost with it.
        } finally {
          await endAlone(client)
        }
      }
    },
    async close() {
      ending.abort()
      if (sending) await within(LAST_HINT_MS, sending)
    },
  }
}

async function* notificationsOf(client: Client, self: string, signal: AbortSignal): AsyncGenerator<SessionHint> {
  let waiting: SessionHint[] = []
  const ended = new AbortController()
  let wake = (): void => {}
  const end = (): void => {
    ended.abort()
    wake()
  }
  client.on('notification', ({ payload = '' }) => {
    const [from, held = '', free = ''] = payload.split(' ')
    if (from === self) return
    // A slow reader is told to read everything again.
    if (held === '*' || waiting.length > MAX_NAMED) waiting = ['all']
    else {
      if (held !== '') waiting.push({ sessions: lengthen(held), isFree: false })
      if (free !== '') waiting.push({ sessions: lengthen(free), isFree: true })
    }
    wake()
  })
  client.on('end', end)
  client.on('error', end)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  const trying = setInterval(() => {
    client.query({ text: 'select 1', query_timeout: TRIED_FOR_MS } as QueryConfig).catch(end)
  }, TRY_EVERY_MS).unref()
  try {
    while (!ended.signal.aborted) {
      if (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      const hints = waiting
      waiting = []
      yield* hints
    }
  } finally {
    clearInterval(trying)
    signal.removeEventListener('abort', end)
  }
}

const pause = (signal: AbortSignal, ms: number): Promise<void> =>
  delay(ms, undefined, { signal, ref: false }).catch(ignoreLost)

function ignoreLost(): void {
  // A process that needs the hint looks by itself a little later.
}

/** The 16 bytes of an id as 22 characters. */
const SHORT = 22
const shorten = (id: SessionId): string => Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')

function lengthen(named: string): SessionId[] {
  const ids: SessionId[] = []
  for (let at = 0; at + SHORT <= named.length; at += SHORT) {
    const digits = Buffer.from(named.slice(at, at + SHORT), 'base64url').toString('hex')
    ids.push(digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') as SessionId)
  }
  return ids
}
