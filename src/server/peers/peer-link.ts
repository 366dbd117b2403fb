/** The stream from one other process: its text goes to readers here. It is opened again whenever it ends. */
import { setTimeout as delay } from 'node:timers/promises'
import type { SessionId } from '../../base/ids.ts'
import type { FetchFunction } from '../../base/net/transport.ts'
import type { TextExchange } from '../../engine/interface/text-exchange.ts'
import type { ClusterSecret } from './cluster-secret.ts'
import { MOST_SESSIONS_AT_ONCE } from './serve-text.ts'
import { readFrames } from './text-frames.ts'

export interface PeerLink {
  /** A session has readers here, or has them no more. */
  change(sessionId: SessionId, isRead: boolean): void
  close(): void
}

export interface PeerLinkParts {
  readonly exchange: TextExchange
  readonly secret: ClusterSecret
  readonly fetch: FetchFunction
}

const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 5000

export function openPeerLink(url: string, { exchange, secret, fetch }: PeerLinkParts): PeerLink {
  const ended = new AbortController()
  const headers = { authorization: secret.header() }
  /** The open stream; undefined while there is none. */
  let stream: { readonly name: string; readonly signal: AbortController } | undefined
  const changes = new Map<SessionId, boolean>()
  let sending: Promise<void> | undefined

  async function follow(): Promise<void> {
    for (let waitMs = FIRST_WAIT_MS; !ended.signal.aborted; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      const own = new AbortController()
      try {
        const signal = AbortSignal.any([ended.signal, own.signal])
        const response = await fetch(`${url}/peer/deltas`, { headers, signal })
        if (response.status !== 200 || !response.body) throw new Error(`The peer answered ${response.status}.`)
        for await (const frame of readFrames(response.body)) {
          if (frame.type === 'text') exchange.receive(frame.text)
          if (frame.type !== 'opened') continue
          waitMs = FIRST_WAIT_MS
          stream = { name: frame.stream, signal: own }
          changes.clear()
          for (const id of exchange.readSessions()) change(id, true)
        }
      } catch {
        // Readers get the steps, and text again once there is another stream.
      }
      own.abort()
      stream = undefined
      await delay(waitMs * (0.5 + Math.random()), undefined, { signal: ended.signal, ref: false }).catch(() => {})
    }
  }

  function change(sessionId: SessionId, isRead: boolean): void {
    if (!stream) return
    changes.set(sessionId, isRead)
    sending ??= sendChanges().finally(() => (sending = undefined))
  }

  /** Changes during a request go into the next one. */
  async function sendChanges(): Promise<void> {
    for (let open = stream; open && changes.size > 0; open = stream) {
      const { name, signal } = open
      const some = [...changes].slice(0, MOST_SESSIONS_AT_ONCE)
      for (const [id] of some) changes.delete(id)
      const idsOf = (wanted: boolean): SessionId[] => some.flatMap(([id, isRead]) => (isRead === wanted ? [id] : []))
      try {
        const response = await fetch(`${url}/peer/deltas/${name}`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ add: idsOf(true), remove: idsOf(false) }),
          signal: signal.signal,
        })
        if (response.status !== 204) throw new Error(`The peer answered ${response.status}.`)
        await response.body?.cancel()
      } catch {
        // The other side's state is unknown, so a new stream begins with all sessions.
        signal.abort()
        return
      }
    }
  }

  void follow()
  return { change, close: () => ended.abort() }
}
