/**
 * Follows the other processes of the store while this one has readers of model text. Tells all of them which sessions have
 * readers here, and the one that drives a session sends its text. So nobody needs to know who drives a session, and a
 * takeover needs no further messages.
 */
import { createTransport, type FetchFunction } from '../../base/net/transport.ts'
import type { TextExchange } from '../../engine/interface/text-exchange.ts'
import type { ClusterStore } from '../../store/cluster-store.ts'
import { SILENT_WORKER_MS } from '../../store/worker.ts'
import type { ClusterSecret } from './cluster-secret.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type { SessionId } from '../../base/ids.ts'
import { MOST_SESSIONS_AT_ONCE } from './serve-text.ts'
import { readFrames } from './text-frames.ts'

/** Interval of checks for new and ended processes while somebody reads. */
const LOOK_EVERY_MS = 2000
/** A peer sends a sign of life every 5 s; after this silence, it or the network is gone. */
const SILENCE_MS = 12_000
const MAX_PEERS = 200

export interface PeerFollower {
  close(): void
}

export interface PeerFollowerParts {
  readonly store: ClusterStore
  readonly exchange: TextExchange
  readonly secret: ClusterSecret
  /** Id of this process. */
  readonly worker: string
  readonly now: () => number
}

export function followPeers({ store, exchange, secret, worker, now }: PeerFollowerParts): PeerFollower {
  const fetch = createTransport({ keepAlive: true, idleMs: SILENCE_MS })
  const links = new Map<string, PeerLink>()
  let looking: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false

  async function findPeers(): Promise<void> {
    // Existing links stay while the store is out of reach.
    const workers = await store.workers().catch(() => undefined)
    if (!workers || closed) return
    const urls = new Set(
      workers
        .filter(({ id, seenAt }) => id !== worker && now() - seenAt < SILENT_WORKER_MS)
        .flatMap(({ peerUrl }) => (peerUrl === null ? [] : [peerUrl]))
        .slice(0, MAX_PEERS),
    )
    for (const [url, link] of links) {
      if (urls.has(url)) continue
      link.close()
      links.delete(url)
    }
    for (const url of urls) if (!links.has(url)) links.set(url, openPeerLink(url, { exchange, secret, fetch }))
  }

  function look(): void {
    if (closed || looking) return
    clearTimeout(timer)
    looking = findPeers().finally(() => {
      looking = undefined
      if (!closed && exchange.readSessions().length > 0) timer = setTimeout(look, LOOK_EVERY_MS).unref()
      else timer = undefined
    })
  }

  const unwatch = exchange.watchReaders((sessionId, isRead) => {
    for (const link of links.values()) link.change(sessionId, isRead)
    if (isRead && timer === undefined) look()
  })
  return {
    close() {
      closed = true
      unwatch()
      clearTimeout(timer)
      for (const link of links.values()) link.close()
    },
  }
}

interface PeerLink {
  /** A session has readers here, or has them no more. */
  change(sessionId: SessionId, isRead: boolean): void
  close(): void
}

interface PeerLinkParts {
  readonly exchange: TextExchange
  readonly secret: ClusterSecret
  readonly fetch: FetchFunction
}

const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 5000

function openPeerLink(url: string, { exchange, secret, fetch }: PeerLinkParts): PeerLink {
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
