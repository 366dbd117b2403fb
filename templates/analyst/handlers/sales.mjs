// Reads {tool, arguments, …} from stdin and answers on stdout: `tables` lists tables, `query` answers one SELECT. The database is
// the file that SALES_DB names, opened for reading only, or else data/sales.sql in memory.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const MAX_ROWS = 200
const TABLES = "select m.name, c.name as field from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table'"

const file = process.env.SALES_DB || undefined
const sample = readFileSync(new URL('../data/sales.sql', import.meta.url), 'utf8')

function askInProcess({ DatabaseSync }, sql) {
  const db = new DatabaseSync(file ?? ':memory:', { readOnly: file !== undefined })
  if (!file) db.exec(sample)
  const statement = db.prepare(sql)
  // SQLite compiles the first statement and ignores what stands behind it.
  if (statement.sourceSQL !== sql) throw new Error('One SELECT at a time, please.')
  return statement.all()
}

function askProgram(sql) {
  const database = file ? ['-readonly', file] : [':memory:']
  const input = `${file ? '' : sample}\n${sql};\n`
  const args = ['-safe', '-bail', '-json', ...database]
  return JSON.parse(execFileSync('sqlite3', args, { input, encoding: 'utf8', stdio: 'pipe' }) || '[]')
}

/** @returns rows of a query, an object each */
async function ask(sql) {
  const sqlite = await import('node:sqlite').catch(() => undefined)
  return sqlite ? askInProcess(sqlite, sql) : askProgram(sql)
}

async function listTables() {
  const columns = {}
  for (const { name, field } of await ask(TABLES)) columns[name] = [...(columns[name] ?? []), field]
  return { tables: Object.entries(columns).map(([name, of]) => ({ name, columns: of })) }
}

async function query({ sql }) {
  // Only a SELECT can stand in brackets.
  const rows = await ask(`select * from (${sql.replace(/;\s*$/, '')}\n) limit ${MAX_ROWS + 1}`)
  return { rows: rows.slice(0, MAX_ROWS), truncated: rows.length > MAX_ROWS }
}

const { arguments: args } = JSON.parse(readFileSync(0, 'utf8'))
try {
  process.stdout.write(JSON.stringify(process.argv[2] === 'tables' ? await listTables() : await query(args)))
} catch (error) {
  // The model reads this, and may ask again.
  process.stderr.write(error.stderr || error.message)
  process.exitCode = 1
}
