/**
 * One life of graphile-worker, which ends when it is told to. By itself (0.17.3) it waits without bound for a query whose server is
 * gone and for jobs whose end it cannot store, and up to 90 s for its timetable where that waits for another attempt.
 */
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import type { Runner, RunnerOptions, WorkerEvents } from 'graphile-worker'
import type { Pool, PoolClient } from 'pg'
import { within } from '../base/signal-within.ts'

export interface GraphileLife {
  readonly addJob: Runner['addJob']
  /** Resolves when it runs no more jobs. */
  readonly ended: Promise<void>
  /** Lets running jobs end for some time, then closes its connections. */
  stop(graceMs: number): Promise<void>
}

export interface GraphileLifeOptions extends Omit<RunnerOptions, 'connectionString' | 'pgPool' | 'events'> {
  /** `postgres://…` */
  readonly url: string
  readonly connections: number
}

const CONNECT_MS = 5000
/** Nothing has come for so long on a connection with a query under way: the server or the network is gone. */
const SILENT_MS = 35_000
/** Once it gives up, it has this long to end what it does. */
const GIVE_UP_MS = 5000

/** @param signal breaks off the start */
export async function startGraphile(
  { run }: Pick<typeof import('graphile-worker'), 'run'>,
  { url, connections, ...options }: GraphileLifeOptions,
  signal: AbortSignal,
): Promise<GraphileLife> {
  const { pool, cut } = await openJobPool(url, connections)
  const events: WorkerEvents = new EventEmitter()
  const gaveUp = new Promise<void>((resolve) => {
    events.once('pool:gracefulShutdown', () => void setTimeout(resolve, GIVE_UP_MS).unref())
  })
  signal.addEventListener('abort', cut, { once: true })
  if (signal.aborted) cut()
  try {
    const runner = await run({ ...options, pgPool: pool, events })
    const ended = Promise.race([runner.promise.catch(() => {}), gaveUp]).finally(cut)
    return {
      addJob: runner.addJob,
      ended,
      async stop(graceMs) {
        await within(
          graceMs,
          runner.stop().catch(() => ended),
        )
        cut()
      },
    }
  } catch (error) {
    cut()
    throw error
  } finally {
    signal.removeEventListener('abort', cut)
  }
}

/** Connections of which none can keep a caller waiting, and a way to close all of them at once. */
async function openJobPool(
  url: string,
  connections: number,
): Promise<{ readonly pool: Pool; readonly cut: () => void }> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  })
  const sockets = new Set<Socket>()
  let isCut = false
  pool.on('error', ignoreLost)
  pool.on('connect', (client) => {
    client.on('error', ignoreLost)
    const { socket, isAsked } = insideOf(client)
    if (isCut) return void socket.destroy()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.setTimeout(SILENT_MS, () => {
      if (isAsked()) socket.destroy()
    })
  })
  return {
    pool,
    cut() {
      if (isCut) return
      isCut = true
      void pool.end().catch(ignoreLost)
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** What `pg` has and its types do not name. */
function insideOf(client: PoolClient): { readonly socket: Socket; readonly isAsked: () => boolean } {
  const inside = client as unknown as { connection: { stream: Socket }; readyForQuery: boolean }
  return { socket: inside.connection.stream, isAsked: () => !inside.readyForQuery }
}

function ignoreLost(): void {
  // The query under way, or the next one, fails and tells why.
}
