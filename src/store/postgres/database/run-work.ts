import type { DatabaseWork, Statement, WorkRunners } from '../../statement.ts'
import type { PostgresPool } from './pool.ts'
import type { PostgresQueries } from './queries.ts'

/** Runs work to its end, a round trip for each statement. */
export async function runWork<T>(on: PostgresQueries, work: DatabaseWork<T>): Promise<T> {
  let next = work.next()
  while (!next.done) next = work.next(await answer(on, next.value))
  return next.value
}

function answer(on: PostgresQueries, { gives, sql, values }: Statement): Promise<unknown> {
  if (gives === 'rows') return on.rows(sql, values)
  return gives === 'row' ? on.row(sql, values) : on.run(sql, values)
}

export function createWorkRunners(pool: PostgresPool): WorkRunners {
  const run = <T>(make: () => DatabaseWork<T>): Promise<T> => runWork(pool, make())
  return { read: run, write: run, transact: (make) => pool.transaction((tx) => runWork(tx, make())) }
}
