/**
 * Finds out whether a statement was committed whose reply got lost: each save names itself in the row of its session, so nobody
 * guesses. If a stored save were taken for lost, calls would stay recorded as sent that never left.
 * Source: docs/design/several-processes.md#saves
 */
import { setTimeout as delay } from 'node:timers/promises'
import { cutText } from '../../base/text/cut-text.ts'
import { isLostConnection, storeUnreachable } from './database/errors.ts'
import type { PostgresPool } from './database/pool.ts'
import { queriesOn, type PostgresQueries } from './database/queries.ts'
import type { LeaseHolder } from '../lease.ts'
import type { SessionUpdate } from '../session-update.ts'

const TRIES = 10
/** Maximum bytes of a name in PostgreSQL. */
const LONGEST_NAME = 63
const TRIED_FOR_MS = 30_000

/**
 * @param more writes what belongs to the answer, in the same transaction
 * @param ask called when the reply was lost, once the server has ended the connection on its side
 * @throws Failure `store_unreachable` when nobody can be asked
 */
export async function runWithReply<Row extends object>(
  pool: PostgresPool,
  text: string,
  values: readonly unknown[],
  ask: () => Promise<readonly Row[]>,
  more?: (tx: PostgresQueries, rows: readonly Row[]) => Promise<void>,
): Promise<readonly Row[]> {
  let backend: number | undefined
  let wasSent = false
  try {
    return await pool.withClient(async (client) => {
      backend = (client as { processID?: number }).processID
      wasSent = true
      // Named, so that a connection keeps its plan. The beginning says which function is called.
      const named = { name: cutText(text, LONGEST_NAME).text, text, values: [...values] }
      if (!more && !pool.isPooled()) return (await client.query<Row>(named)).rows
      // An error leaves the transaction open; the pool drops the connection then, and with it the transaction.
      await client.query('begin')
      if (pool.isPooled())
        backend = (await queriesOn(client).row<{ pid: number }>('select pg_backend_pid() as pid'))?.pid
      const { rows } = await client.query<Row>(named)
      await more?.(queriesOn(client), rows)
      await client.query('commit')
      return rows
    })
  } catch (error) {
    if (!wasSent || !isLostConnection(error)) throw error
    return await askAgain(pool, backend, ask, error)
  }
}

async function askAgain<T>(
  pool: PostgresPool,
  backend: number | undefined,
  ask: () => Promise<T>,
  cause: unknown,
): Promise<T> {
  const until = performance.now() + TRIED_FOR_MS
  for (let attempt = 1; ; attempt++) {
    try {
      if (backend !== undefined) await endBackend(pool, backend)
      return await ask()
    } catch (error) {
      if (attempt === TRIES || performance.now() > until) throw storeUnreachable(pool.database, cause ?? error)
      await delay((TRIED_FOR_MS / TRIES) * Math.random() * 2)
    }
  }
}

/** The statement may still be under way and commit after the check, so its connection is ended first. */
async function endBackend(pool: PostgresPool, backend: number): Promise<void> {
  await pool.rows(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where pid = :backend and application_name = current_setting('application_name') and pid <> pg_backend_pid()`,
    { backend },
  )
}

interface StoredRequest {
  readonly index: number
  readonly lease_epoch: number | null
}

/** Which of these saves are stored, and the lease that each left with its holder. */
export async function findStored(
  pool: PostgresPool,
  requests: readonly {
    readonly update: SessionUpdate
    readonly holder: LeaseHolder | undefined
    readonly turn: string
  }[],
): Promise<readonly StoredRequest[]> {
  const rows = await pool.rows<{ id: string; owner: string | null; epoch: number }>(
    `select s.id, s.owner, s.epoch
     from unnest(:ids::uuid[], :turns::uuid[]) as t (id, turn)
       join session s on s.id = t.id and s.last_turn = t.turn`,
    { ids: requests.map(({ update }) => update.session.id), turns: requests.map(({ turn }) => turn) },
  )
  const stored = new Map(rows.map((row) => [row.id, row]))
  return requests.flatMap(({ update, holder }, index) => {
    const row = stored.get(update.session.id)
    if (!row) return []
    return [{ index, lease_epoch: holder && row.owner === holder.worker ? row.epoch : null }]
  })
}
