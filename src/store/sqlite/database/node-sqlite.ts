/**
 * Node's own SQLite behind the part of the interface of better-sqlite3 that the store uses: for installations of which npm left
 * the optional package out. It passes the same contract.
 */
import type Database from 'better-sqlite3'

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
  get(...values: BoundValues): object | undefined
  all(...values: BoundValues): object[]
  iterate(...values: BoundValues): Iterable<object>
  setAllowUnknownNamedParameters(allowed: boolean): void
}

type BoundValues = readonly unknown[]

/** `setAllowUnknownNamedParameters`, `isTransaction` and `backup` exist from here on. */
const LEAST_NODE = [22, 18] as const

export const hasNodeSqlite = (node: string): boolean => {
  const [major = 0, minor = 0] = node.split('.').map(Number)
  return major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])
}

/** @throws Error with a `code` such as `SQLITE_CANTOPEN`, as better-sqlite3 does */
export function openNodeSqlite(
  sqlite: NodeSqliteModule,
  path: string,
  { readonly: readOnly = false, timeout = 5000 }: Pick<Database.Options, 'timeout' | 'readonly'>,
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
      if (db.isOpen) db.close()
      return adapter
    },
  }
  // The cast holds for what the store uses: the contract runs on both.
  return adapter as unknown as Database.Database
}

function toStatement(db: NodeSqliteDatabase, statement: NodeSqliteStatement) {
  // A caller may give the values of one query and fields that it does not name.
  statement.setAllowUnknownNamedParameters(true)
  let plucked = false
  const toRow = (row: object | undefined): unknown => {
    if (row === undefined) return undefined
    return plucked ? Object.values(row)[0] : { ...row }
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
      for (const row of execute(() => statement.iterate(...inOrder(values)))) yield toRow(row)
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

/** Result codes of SQLite by number. Extended codes carry theirs in the upper bytes. Source: sqlite.org/rescode.html. */
const RESULT_CODES: Readonly<Record<number, string>> = {
  1: 'SQLITE_ERROR',
  3: 'SQLITE_PERM',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  7: 'SQLITE_NOMEM',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  18: 'SQLITE_TOOBIG',
  19: 'SQLITE_CONSTRAINT',
  20: 'SQLITE_MISMATCH',
  21: 'SQLITE_MISUSE',
  25: 'SQLITE_RANGE',
  26: 'SQLITE_NOTADB',
}

function coded(error: unknown): unknown {
  const { errcode } = error as { errcode?: unknown }
  if (!(error instanceof Error) || typeof errcode !== 'number') return error
  return Object.assign(error, { code: RESULT_CODES[errcode & 0xff] ?? 'SQLITE_ERROR' })
}
