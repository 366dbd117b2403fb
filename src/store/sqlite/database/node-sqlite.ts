/**
 * Node's own SQLite, or a package with its interface, behind the part of the interface of better-sqlite3 that the store uses: for
 * installations without that package. All pass the same contract.
 */
import type Database from 'better-sqlite3'
import { resultCodeName, resultCodeOfMessage } from './result-codes.ts'

/** The part of `node:sqlite` that is used here; the types of Node 20 do not know it. */
export interface NodeSqliteModule {
  readonly DatabaseSync: new (path: string, options: { readOnly: boolean; timeout: number }) => NodeSqliteDatabase
  backup(db: NodeSqliteDatabase, path: string): Promise<number>
}

interface NodeSqliteDatabase {
  readonly isOpen: boolean
  readonly isTransaction: boolean
  prepare(sql: string): NodeSqliteStatement
  exec(sql: string): void
  close(): void
}

interface NodeSqliteStatement {
  run(...values: BoundValues): Database.RunResult
  get(...values: BoundValues): Row | undefined
  all(...values: BoundValues): Row[]
  iterate(...values: BoundValues): Iterable<Row>
  columns(): readonly { readonly name: string }[]
  setAllowUnknownNamedParameters(allowed: boolean): void
  setReturnArrays(enabled: boolean): void
}

type BoundValues = readonly unknown[]
type Row = readonly unknown[]

/** `setAllowUnknownNamedParameters`, `isTransaction` and `backup` exist from here on. */
const LEAST_NODE = [22, 18] as const

export const hasNodeSqlite = (node: string): boolean => {
  const [major = 0, minor = 0] = node.split('.').map(Number)
  return major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])
}

/**
 * @param keepsStatements true when `close` leaves the statements to the garbage collector, and with them files of the log that
 *   no connection uses any more
 * @throws Error with a `code` such as `SQLITE_CANTOPEN`, as better-sqlite3 does
 */
export function openNodeSqlite(
  sqlite: NodeSqliteModule,
  path: string,
  { readonly: readOnly = false, timeout = 5000 }: Pick<Database.Options, 'timeout' | 'readonly'>,
  keepsStatements = false,
): Database.Database {
  const db = withCode(() => new sqlite.DatabaseSync(path, { readOnly, timeout }))
  const exec = (sql: string): void => withCode(() => db.exec(sql))
  const prepare = (sql: string) =>
    toStatement(
      db,
      withCode(() => db.prepare(sql)),
    )
  const adapter = {
    name: path,
    memory: path === ':memory:',
    readonly: readOnly,
    get open() {
      return db.isOpen
    },
    get inTransaction() {
      return db.isOpen && db.isTransaction
    },
    prepare,
    exec(sql: string) {
      exec(sql)
      return adapter
    },
    pragma(text: string, { simple = false }: Database.PragmaOptions = {}) {
      const statement = prepare(`pragma ${text}`)
      return simple ? statement.pluck().get() : statement.all()
    },
    /** Not for use inside another transaction. */
    transaction(work: () => unknown) {
      const within = (kind: string) => () => {
        exec(`begin ${kind}`)
        try {
          const value = work()
          exec('commit')
          return value
        } catch (error) {
          if (db.isTransaction) exec('rollback')
          throw error
        }
      }
      return Object.assign(within('deferred'), { immediate: within('immediate') })
    },
    async backup(file: string) {
      await sqlite.backup(db, file).catch((error: unknown) => {
        throw coded(error)
      })
    },
    close() {
      if (!db.isOpen) return adapter
      if (keepsStatements && !readOnly && path !== ':memory:') mergeLog(db)
      db.close()
      return adapter
    },
  }
  // The cast holds for what the store uses: the contract runs on both.
  return adapter as unknown as Database.Database
}

function toStatement(db: NodeSqliteDatabase, statement: NodeSqliteStatement) {
  // A caller may give the values of one query and fields that it does not name.
  statement.setAllowUnknownNamedParameters(true)
  // Objects that are made here take a third of the time of those that the library makes.
  statement.setReturnArrays(true)
  let plucked = false
  let names: readonly string[] = []
  const toRow = (values: Row | undefined): unknown => {
    if (values === undefined) return undefined
    if (plucked) return values[0]
    if (names.length !== values.length) names = statement.columns().map(({ name }) => name)
    const row: Record<string, unknown> = {}
    let at = 0
    for (const name of names) row[name] = values[at++]
    return row
  }
  const execute = <T>(work: () => T): T => {
    // Closing finalizes the statements; Node's error then names the statement.
    if (!db.isOpen) throw new TypeError('The database connection is not open')
    return withCode(work)
  }
  const self = {
    run: (...values: BoundValues) => execute(() => statement.run(...inOrder(values))),
    get: (...values: BoundValues) => execute(() => toRow(statement.get(...inOrder(values)))),
    all: (...values: BoundValues) => execute(() => statement.all(...inOrder(values)).map(toRow)),
    *iterate(...values: BoundValues) {
      try {
        for (const row of execute(() => statement.iterate(...inOrder(values)))) yield toRow(row)
      } catch (error) {
        throw coded(error)
      }
    },
    pluck() {
      plucked = true
      return self
    },
  }
  return self
}

/** Node takes named values first; better-sqlite3 takes them anywhere. */
function inOrder(values: BoundValues): BoundValues {
  if (values.length < 2 && !Array.isArray(values[0])) return values
  if (values.every((value) => typeof value !== 'object' || value === null)) return values
  const isNamed = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && !ArrayBuffer.isView(value) && !Array.isArray(value)
  const positional = values.filter((value) => !isNamed(value)).flat()
  return [...values.filter(isNamed), ...positional]
}

function withCode<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw coded(error)
  }
}

function coded(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  if (typeof errcode === 'number') return Object.assign(error, { code: resultCodeName(errcode) })
  return code === 'ERR_SQLITE_ERROR' ? Object.assign(error, { code: resultCodeOfMessage(error.message) }) : error
}

/** Removes the log and what belongs to it. Another connection that uses them keeps them, and removes them in its turn. */
function mergeLog(db: NodeSqliteDatabase): void {
  try {
    if (db.isTransaction) db.exec('rollback')
    db.exec('pragma journal_mode = delete')
  } catch {
    // The log stays, and the next connection reads it.
  }
}
