/** The connections of this process to PostgreSQL. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Client, ClientConfig, Pool, PoolClient, PoolConfig } from 'pg'
import { fail } from '../../../base/failure.ts'
import { parseCertainAddress, UNREADABLE_ADDRESS } from '../../../base/net/show-address.ts'
import { isConflict, isLostConnection, isOutOfConnections, NOT_OPEN, toStoreFailure } from './errors.ts'
import type { OutageLog } from '../../outage-log.ts'
import { within } from '../../../base/signal-within.ts'
import {
  checkConnection,
  CONNECTION_FACTS,
  readConnectionAddress,
  STATEMENT_MS,
  type ConnectionFacts,
} from './connection-settings.ts'
import { queriesOn, type PostgresQueries } from './queries.ts'
import { cutConnection, cutSilentConnections } from './silent-connections.ts'

export interface PostgresPool extends PostgresQueries {
  /** Host, port and name of the database, without credentials. */
  readonly database: string
  /** True where a pooler stands between: the process that it names as ours is none of the server's. */
  isPooled(): boolean
  /** One transaction. It is tried again after a conflict with another one, so `work` has no effects of its own. */
  transaction<T>(work: (queries: PostgresQueries) => Promise<T>): Promise<T>
  /** The failure that callers get for an error; also notes it for the log. */
  toFailure(error: unknown): unknown
  /** Gives a connection of the pool to `work`, and its errors as they are. */
  withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T>
  /** Like `withClient`; errors become failures of the store. */
  alone<T>(work: (client: PoolClient) => Promise<T>): Promise<T>
  /** A connection of the pool, until it is released. */
  connect(): Promise<PoolClient>
  /** A connection beside the pool, for `listen`; `endAlone` ends it. */
  connectAlone(): Promise<Client>
  /** Waits for statements under way for a moment, then breaks them off. */
  close(): Promise<void>
}

export interface PoolOptions {
  readonly url: string
  readonly schema: string
  /** Name that the server shows for each connection. */
  readonly name: string
  readonly connections: number
  /** Log of a server; a command prints its failure itself. */
  readonly outages?: OutageLog
}

/** After this time the network is stuck, and the caller gets an error. */
const CONNECT_MS = 5000
/** Longer than the server's own limit, which gives the better message. */
const ANSWER_MS = STATEMENT_MS + 5000
/** How long one look at the connections may take. */
const LOOK_MS = 3000
/** For statements under way at the end, and for the server to take note of the end of a connection. */
const CLOSE_MS = 2000
/** A connection on which nobody asks anything is probed after this time, so that the end of its server is noticed. */
const IDLE_PROBE_MS = 10_000

/** Attempts of a transaction that conflicts with others, and of a query whose connection is lost. */
const ATTEMPTS = 5

/** Before another attempt to read, each time longer. */
const RECONNECT_MS = 20
const RECONNECT_WITHIN_MS = 1000

/** OID of bigint. Our numbers stay far below 2^53. */
const BIGINT = 20

export async function openPool({ url, schema, name, connections, outages }: PoolOptions): Promise<PostgresPool> {
  const pg = await loadPg()
  const config: PoolConfig = {
    ...readConnectionAddress(url, schema),
    application_name: name,
    max: connections,
    // Once it has them it keeps them: when others take all that there are, it goes on with its own.
    min: connections,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: IDLE_PROBE_MS,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === BIGINT ? Number : pg.types.getTypeParser(oid, format as 'text'),
    } as NonNullable<PoolConfig['types']>,
  }
  const names = { areKept: true }
  const pool = new pg.Pool({ ...config, Client: clientWithNames(pg.Client, names) })
  // Otherwise a connection that loses its server while nobody uses it ends the process, and so does one that is in use.
  pool.on('error', ignoreLost)
  pool.on('connect', (client) => client.on('error', ignoreLost))
  const open = (bounds: ClientConfig = {}) => connectClient(new pg.Client({ ...config, ...bounds }))
  const silence = cutSilentConnections(pool, () => open({ connectionTimeoutMillis: LOOK_MS, query_timeout: LOOK_MS }))
  const opened = createPool(pool, open, silence, describeUrl(url), { outages, isPooled: () => !names.areKept })
  try {
    await opened.alone(async (client) => {
      const { rows } = await client.query<ConnectionFacts>(CONNECTION_FACTS)
      for (const facts of rows) {
        checkConnection(opened.database, schema, facts)
        names.areKept = facts.pid === (client as { processID?: number }).processID
      }
    })
    return opened
  } catch (error) {
    await opened.close()
    throw error
  }
}

/**
 * A client that names no statement where a pooler stands between: the pooler gives our connection to others, whose statement of the same
 * name would be executed in place of ours.
 */
function clientWithNames(
  Client: typeof import('pg').Client,
  names: { readonly areKept: boolean },
): PoolConfig['Client'] {
  return class extends Client {
    override query(...[asked, ...more]: unknown[]): never {
      const isNamed = typeof asked === 'object' && asked !== null && 'name' in asked && !names.areKept
      const sent = isNamed ? { ...asked, name: undefined } : asked
      return (super.query as (...all: unknown[]) => never)(sent, ...more)
    }
  }
}

function ignoreLost(): void {
  // The statement under way, or the next one, fails and tells why.
}

async function loadPg(): Promise<typeof import('pg')> {
  try {
    return await import('pg')
  } catch (error) {
    throw fail('postgres_client_missing', undefined, { cause: error })
  }
}

/** The name of a database in messages: host and path. */
export function describeUrl(url: string): string {
  const address = parseCertainAddress(url)
  if (!address) return UNREADABLE_ADDRESS
  return `${address.host || (address.searchParams.get('host') ?? 'localhost')}${address.pathname}`
}

async function connectClient(client: Client): Promise<Client> {
  client.on('error', ignoreLost)
  await client.connect()
  return client
}

/** A server that is gone does not answer the goodbye either. */
export async function endAlone(client: Client): Promise<void> {
  await within(CLOSE_MS, client.end())
  cutConnection(client)
}

function createPool(
  pool: Pool,
  connectAlone: () => Promise<Client>,
  silence: { cutAll(): void; stop(): void },
  database: string,
  { outages, isPooled }: { readonly outages: OutageLog | undefined; readonly isPooled: () => boolean },
): PostgresPool {
  let closing: Promise<void> | undefined
  const toFailure = (error: unknown): unknown => {
    const failure = toStoreFailure(error, database)
    outages?.failed(failure)
    return failure
  }
  const translated = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closing) throw notOpen()
    try {
      const value = await work()
      outages?.answered()
      return value
    } catch (error) {
      throw toFailure(error)
    }
  }
  const withClient = async <T>(work: (client: PoolClient) => Promise<T>): Promise<T> => {
    if (closing) throw notOpen()
    const client = await reconnecting(() => pool.connect())
    let error: unknown
    try {
      return await work(client)
    } catch (thrown) {
      error = thrown
      throw thrown
    } finally {
      // A connection on which something failed may be in any state.
      client.release(error instanceof Error)
    }
  }
  const queries = queriesOn(pool)
  async function close(): Promise<void> {
    await within(CLOSE_MS, pool.end())
    silence.stop()
    silence.cutAll()
  }
  return {
    database,
    isPooled,
    rows: (sql, values) => translated(() => reconnecting(() => queries.rows(sql, values))),
    row: (sql, values) => translated(() => reconnecting(() => queries.row(sql, values))),
    run: (sql, values) => translated(() => queries.run(sql, values)),
    transaction: (work) =>
      translated(() =>
        retried(() =>
          withClient(async (client) => {
            await client.query('begin')
            try {
              const value = await work(queriesOn(client))
              await client.query('commit')
              return value
            } catch (error) {
              // Where the connection is lost, so is the transaction.
              await client.query('rollback').catch(ignoreLost)
              throw error
            }
          }),
        ),
      ),
    toFailure,
    withClient,
    alone: (work) => translated(() => withClient(work)),
    connect: () => translated(() => reconnecting(() => pool.connect())),
    connectAlone: () => connectAlone(),
    close: () => (closing ??= close()),
  }
}

const notOpen = () => new Error(NOT_OPEN)

/**
 * Idle connections to a server that restarted are noticed when they are used, and where the server has none left one of ours is free
 * soon. Another reading does no harm.
 */
async function reconnecting<T>(read: () => Promise<T>): Promise<T> {
  const until = performance.now() + RECONNECT_WITHIN_MS
  for (let attempt = 1; ; attempt++) {
    try {
      return await read()
    } catch (error) {
      const isOver = attempt === ATTEMPTS || performance.now() > until
      const isPassing = isLostConnection(error) || isOutOfConnections(error)
      if (!isPassing || (error as Error).message === NOT_OPEN || isOver) throw error
      await delay(attempt * RECONNECT_MS)
    }
  }
}

async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isConflict(error) || attempt === ATTEMPTS) throw error
    }
  }
}
