import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { fail } from '../../base/failure.ts'
import { openDatabase } from '../sqlite/database/database.ts'
import { lockDirectory } from '../sqlite/database/lock.ts'
import { markMoved, movedTo, unmarkMoved } from '../sqlite/database/moved.ts'
import type { CopiedColumn, CopiedRow, CopiedTable } from './copied-table.ts'
import type { CopySource, CopyTarget } from './copy-side.ts'

interface HeldDirectory {
  readonly db: Database
  readonly close: () => void
}

/**
 * Holds the directory, so that no server has it meanwhile.
 * @throws Failure `store_locked`, `store_unreadable`, `data_directory_unusable`
 */
function holdDirectory(directory: string): HeldDirectory {
  const lock = lockDirectory(directory)
  try {
    const db = openDatabase(join(directory, 'data.db'))
    return {
      db,
      close() {
        db.close()
        lock.release()
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** @throws Failure `store_absent`, `store_moved`, and those of `holdDirectory` */
export function openSqliteSource(directory: string): CopySource {
  if (!existsSync(join(directory, 'data.db'))) throw fail('store_absent', { store: directory })
  const { db, close } = holdDirectory(directory)
  const to = movedTo(directory)
  if (to !== undefined) {
    close()
    throw fail('store_moved', { store: directory, to })
  }
  db.exec('begin')
  return {
    name: directory,
    rows: (table) => readRows(db, table),
    markMoved: async (target) => markMoved(directory, target),
    unmarkMoved: async () => unmarkMoved(directory),
    async close() {
      db.exec('rollback')
      close()
    },
  }
}

/** @throws Failure those of `holdDirectory` */
export function openSqliteTarget(directory: string): CopyTarget {
  const { db, close } = holdDirectory(directory)
  db.exec('begin immediate')
  return {
    name: directory,
    async findFilled(tables) {
      return tables.find(({ name }) => db.prepare(`select 1 from ${name} limit 1`).get() !== undefined)?.name
    },
    async write(table, rows) {
      const statements = writingSql(table).map((sql) => db.prepare(sql))
      for (const row of rows) {
        const values = toValues(table, row)
        for (const statement of statements) statement.run(values)
      }
    },
    async finish() {
      for (const sql of FINISH) db.exec(sql)
    },
    rows: (table) => readRows(db, table),
    commit: async () => void db.exec('commit'),
    async close() {
      if (db.inTransaction) db.exec('rollback')
      close()
    },
  }
}

/** Removes the mark that a copy left. @returns where its content was copied to */
export function reopenDirectory(directory: string): string | undefined {
  if (!existsSync(join(directory, 'data.db'))) throw fail('store_absent', { store: directory })
  const lock = lockDirectory(directory)
  try {
    const to = movedTo(directory)
    unmarkMoved(directory)
    return to
  } finally {
    lock.release()
  }
}

async function* readRows(db: Database, table: CopiedTable): AsyncGenerator<CopiedRow> {
  const found = db.prepare(selectSql(table)).iterate() as IterableIterator<Record<string, string | number | null>>
  for (const row of found) yield table.columns.map((column) => toCopied(column, row[column.name]!))
}

/** A text that PostgreSQL can store. */
const toCopied = ({ kind }: CopiedColumn, value: string | number | null): string | number | boolean | null => {
  if (kind === 'boolean') return value === 1
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value
}

function selectSql(table: CopiedTable): string {
  const { name, columns, order, where, isOfSession } = table
  const expressions = new Map(columns.map((column) => [column.name, readExpression(table, column)]))
  const selected = [...expressions].map(([column, expression]) => `${expression} as ${column}`)
  // From one session to the next by the index of their ids, and from row to row by the table's own key: nothing is sorted.
  const from = isOfSession ? `session o cross join ${name} t on t.session_n = o.n` : `${name} t`
  const by = order.map((column) => (column === 'n' ? 't.rowid' : expressions.get(column)))
  return `select ${selected.join(', ')} from ${from} ${where === undefined ? '' : `where ${where}`} order by ${by.join(', ')}`
}

function readExpression({ isOfSession }: CopiedTable, { name, reference, computed }: CopiedColumn): string {
  if (computed !== undefined) return computed
  if (reference === undefined) return `t.${name}`
  if (isOfSession && name === 'session_id') return 'o.id'
  return `(select id from ${reference} where n = t.${toNumberColumn(name)})`
}

const toNumberColumn = (name: string): string => name.replace(/_id$/, '_n')

function writingSql({ name, columns, afterSqlite, update }: CopiedTable): readonly string[] {
  const written = columns.filter(({ computed }) => computed === undefined)
  if (update) {
    const set = written.slice(1).map((column) => `${column.name} = :${column.name}`)
    return [`update ${name} set ${set.join(', ')} where id = :id`]
  }
  const names = written.map((column) => (column.reference === undefined ? column.name : toNumberColumn(column.name)))
  const values = written.map((column) =>
    column.reference === undefined
      ? `:${column.name}`
      : `(select n from ${column.reference} where id = :${column.name})`,
  )
  return [
    `insert into ${name} (${names.join(', ')}) values (${values.join(', ')})`,
    ...(afterSqlite === undefined ? [] : [afterSqlite]),
  ]
}

const toValues = ({ columns }: CopiedTable, row: CopiedRow): Record<string, unknown> =>
  Object.fromEntries(
    columns.map(({ name }, at) => {
      const value = row[at]!
      return [name, typeof value === 'boolean' ? Number(value) : value]
    }),
  )

const FINISH = [
  `update agent
   set sessions = (select count(*) from session where agent_n = agent.n),
     runs = (select count(*) from run where agent_n = agent.n)`,
  'insert into run_input (rowid, input) select n, input from run_text',
  `insert into run_output (rowid, output)
   select t.n, t.output from run_text t join run r on r.n = t.n where r.finished_at is not null`,
]
