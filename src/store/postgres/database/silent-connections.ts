/**
 * Closes connections on which an answer will never come: the network swallowed it, or the server died without a word. The kernel
 * notices that after a quarter of an hour, and a statement may take half a minute, so neither can be waited for. The database is asked
 * over a new connection instead: it knows which of the statements it still works on.
 */
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client, Pool, PoolClient } from 'pg'

/** A statement without any answer for so long is asked about. */
const SILENT_MS = 3000
const LOOK_EVERY_MS = 1000
/** For an answer that is just on its way. */
const ARRIVES_MS = 200

/** What `pg` has and its types do not name. */
interface Inside {
  readonly connection: { readonly stream: Socket }
  readonly readyForQuery: boolean
  readonly processID: number | null
}
const insideOf = (client: Client | PoolClient): Inside => client as unknown as Inside

/** Closes the socket; whoever waits for an answer gets an error. */
export const cutConnection = (client: Client | PoolClient): void => void insideOf(client).connection.stream.destroy()

interface WatchedConnection {
  readonly inside: Inside
  bytes: number
  /** When bytes last came, or nothing was asked. */
  since: number
}

/** @param connect opens a connection beside the pool, within a few seconds or not at all */
export function cutSilentConnections(pool: Pool, connect: () => Promise<Client>): { cutAll(): void; stop(): void } {
  const watched = new Set<WatchedConnection>()
  let looking = false

  const hasAnswered = (each: WatchedConnection, now: number): boolean => {
    const { connection, readyForQuery } = each.inside
    const { bytesRead } = connection.stream
    if (!readyForQuery && bytesRead === each.bytes) return false
    each.bytes = bytesRead
    each.since = now
    return true
  }
  const findSilent = (): WatchedConnection[] => {
    const now = performance.now()
    return [...watched].filter((each) => !hasAnswered(each, now) && now - each.since > SILENT_MS)
  }

  async function look(): Promise<void> {
    const silent = findSilent()
    if (silent.length === 0) return
    // No answer: the database is away or full, and then it is asked again.
    const working = await readWorking(connect).catch(() => undefined)
    if (!working) return
    await delay(ARRIVES_MS, undefined, { ref: false })
    const still = new Set(findSilent())
    for (const each of silent)
      if (still.has(each) && !working.has(each.inside.processID ?? 0)) each.inside.connection.stream.destroy()
  }

  pool.on('connect', (client) => {
    const inside = insideOf(client)
    const each = { inside, bytes: inside.connection.stream.bytesRead, since: performance.now() }
    watched.add(each)
    inside.connection.stream.once('close', () => watched.delete(each))
  })
  const timer = setInterval(() => {
    if (looking) return
    looking = true
    void look().finally(() => (looking = false))
  }, LOOK_EVERY_MS).unref()
  return {
    cutAll() {
      for (const { inside } of watched) inside.connection.stream.destroy()
    },
    stop: () => clearInterval(timer),
  }
}

/** Processes of the server that work on a statement; undefined where a pooler stands between, which hides them. */
async function readWorking(connect: () => Promise<Client>): Promise<ReadonlySet<number> | undefined> {
  const client = await connect()
  try {
    const { rows } = await client.query<{ pid: number; state: string | null }>(
      `select pid, state from pg_stat_activity where datname = current_database() and pid is not null`,
    )
    if (!rows.some(({ pid }) => pid === insideOf(client).processID)) return undefined
    return new Set(rows.flatMap(({ pid, state }) => (state?.startsWith('idle') ? [] : [pid])))
  } finally {
    cutConnection(client)
  }
}
