/**
 * Follows the other processes of the store while this one has readers of model text. Tells all of them which sessions have
 * readers here, and the one that drives a session sends its text. So nobody needs to know who drives a session, and a
 * takeover needs no further messages.
 */
import { createTransport } from '../../base/net/transport.ts'
import type { TextExchange } from '../../engine/interface/text-exchange.ts'
import type { ClusterStore } from '../../store/cluster-store.ts'
import { SILENT_WORKER_MS } from '../../store/worker.ts'
import type { ClusterSecret } from './cluster-secret.ts'
import { openPeerLink, type PeerLink } from './peer-link.ts'

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
