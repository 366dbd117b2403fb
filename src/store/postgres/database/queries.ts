import type { Pool, PoolClient, QueryResultRow } from 'pg'
import { hasState } from './errors.ts'
import { toPositional, type NamedValues } from './named-values.ts'

/** Queries on one connection or another. Values are named in the text: `:id`. */
export interface PostgresQueries {
  /** An id that is no UUID names nothing: such a query finds no rows. May be made twice when a connection is lost. */
  rows<Row extends object>(sql: string, values?: NamedValues): Promise<Row[]>
  row<Row extends object>(sql: string, values?: NamedValues): Promise<Row | undefined>
  /** Runs a statement that writes, and resolves with the number of its rows. */
  run(sql: string, values?: NamedValues): Promise<number>
}

export function queriesOn(connection: Pool | PoolClient): PostgresQueries {
  const query = async <Row extends QueryResultRow>(sql: string, values: NamedValues | undefined) =>
    connection.query<Row>(toPositional(sql, values))
  return {
    async rows<Row extends object>(sql: string, values?: NamedValues) {
      try {
        return (await query(sql, values)).rows as Row[]
      } catch (error) {
        if (hasState(error, '22P02')) return []
        throw error
      }
    },
    async row<Row extends object>(sql: string, values?: NamedValues) {
      return (await this.rows<Row>(sql, values))[0]
    },
    async run(sql, values) {
      return (await query(sql, values)).rowCount ?? 0
    },
  }
}
