/**
 * Work on a database, written once for both: a generator that yields statements and gets their rows. SQLite answers each at once,
 * PostgreSQL after a round trip, and the work does not know which.
 */
import type { Store } from './store.ts'
import { expectDefined } from '../base/values/expect-defined.ts'

/** Booleans and lists are bound as each database has them. */
type StatementValue = string | number | boolean | null | undefined | readonly (string | number)[]

/** Values of a statement, named in its text: `:id`. */
export type StatementValues = Readonly<Record<string, StatementValue>>

export interface Statement {
  /** Rows, the first row, or the number of rows that were written. */
  readonly gives: 'rows' | 'row' | 'count'
  /** The same text each time: both databases keep what they prepared under it. */
  readonly sql: string
  readonly values: StatementValues
}

export type DatabaseWork<T> = Generator<Statement, T, unknown>

export function* readRows<Row extends object>(sql: string, values: StatementValues = {}): DatabaseWork<Row[]> {
  return (yield { gives: 'rows', sql, values }) as Row[]
}

export function* readRow<Row extends object>(sql: string, values: StatementValues = {}): DatabaseWork<Row | undefined> {
  return (yield { gives: 'row', sql, values }) as Row | undefined
}

/** The row of a statement that always gives one, such as a count. */
export function* readOneRow<Row extends object>(sql: string, values: StatementValues = {}): DatabaseWork<Row> {
  return expectDefined(yield* readRow<Row>(sql, values), 'the statement always gives a row')
}

/** @returns the number of rows that were written */
export function* writeRows(sql: string, values: StatementValues = {}): DatabaseWork<number> {
  return (yield { gives: 'count', sql, values }) as number
}

/** Methods of the store as work. */
export type WorkOf<Name extends keyof Store> = {
  readonly [Method in Name]: Store[Method] extends (...values: infer Values) => Promise<infer T>
    ? (...values: Values) => DatabaseWork<T>
    : never
}

/** What one kind of row can do. Each write is one statement, or several that need no transaction. */
export interface NounWork<
  Reads extends keyof Store,
  Writes extends keyof Store,
  Transactions extends keyof Store = never,
> {
  readonly reads: WorkOf<Reads>
  readonly writes: WorkOf<Writes>
  readonly transactions: WorkOf<Transactions>
}

/** How a database runs work. `make` may be called again: a transaction that conflicts with another one begins anew. */
export interface WorkRunners {
  readonly read: <T>(make: () => DatabaseWork<T>) => Promise<T>
  readonly write: <T>(make: () => DatabaseWork<T>) => Promise<T>
  readonly transact: <T>(make: () => DatabaseWork<T>) => Promise<T>
}

/** The methods of the store that run this work. */
export function bindWork<Reads extends keyof Store, Writes extends keyof Store, Transactions extends keyof Store>(
  { reads, writes, transactions }: NounWork<Reads, Writes, Transactions>,
  { read, write, transact }: WorkRunners,
): Pick<Store, Reads | Writes | Transactions> {
  type AnyWork = Readonly<Record<string, (...values: readonly unknown[]) => DatabaseWork<unknown>>>
  const bind = (work: object, run: WorkRunners['read']) =>
    Object.entries(work as AnyWork).map(([name, make]) => [
      name,
      (...values: readonly unknown[]) => run(() => make(...values)),
    ])
  // The cast holds: each method is bound under its own name.
  return Object.fromEntries([...bind(reads, read), ...bind(writes, write), ...bind(transactions, transact)]) as Pick<
    Store,
    Reads | Writes | Transactions
  >
}
