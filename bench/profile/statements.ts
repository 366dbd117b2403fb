/** Counts the statements that a process runs, whichever SQLite it has. */
import { createRequire } from 'node:module'
import { performance } from 'node:perf_hooks'

type Method = (...values: unknown[]) => unknown
type Statement = Record<string, Method>
interface Connection {
  prepare(sql: string): Statement
}
type ConnectionClass = new (...given: unknown[]) => Connection

const load = createRequire(import.meta.url)

/** Of one kind of statement. */
export interface StatementUse {
  count: number
  /** Milliseconds within the database. */
  ms: number
}

/** @returns how often each kind of statement has run, and how long; what opens a connection from now on is counted */
export function countStatements(): ReadonlyMap<string, StatementUse> {
  const counts = new Map<string, StatementUse>()
  replaceModule('better-sqlite3', (module) => countingClass(module as ConnectionClass, counts))
  replaceModule('@photostructure/sqlite', (module) => {
    const { DatabaseSync, ...rest } = module as { DatabaseSync: ConnectionClass }
    return { ...rest, DatabaseSync: countingClass(DatabaseSync, counts) }
  })
  return counts
}

/** Its methods are read-only, so that each statement gets its own. */
const countingClass = (original: ConnectionClass, counts: Map<string, StatementUse>): ConnectionClass =>
  class extends original {
    override prepare(sql: string): Statement {
      const name = nameStatement(sql)
      const statement = super.prepare(sql)
      const use = counts.get(name) ?? { count: 0, ms: 0 }
      counts.set(name, use)
      for (const method of ['run', 'get', 'all', 'iterate']) {
        const run = statement[method]
        if (run === undefined) continue
        const value = (...values: unknown[]): unknown => {
          const from = performance.now()
          try {
            return run.apply(statement, values)
          } finally {
            use.count++
            use.ms += performance.now() - from
          }
        }
        Object.defineProperty(statement, method, { value })
      }
      return statement
    }
  }

function replaceModule(name: string, change: (module: unknown) => unknown): void {
  try {
    const module: unknown = load(name)
    const entry = load.cache[load.resolve(name)]
    if (entry !== undefined) entry.exports = change(module)
  } catch {
    // Not installed, or for another Node.
  }
}

/** What it does and to which table: `update session`. */
function nameStatement(sql: string): string {
  const [verb = ''] = /[a-z]+/i.exec(sql) ?? []
  const [, table = ''] = /\b(?:into|from|update)\s+(?:or\s+\w+\s+)?([a-z_]+)/i.exec(sql) ?? []
  return `${verb} ${table}`.trim()
}
