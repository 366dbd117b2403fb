/** Counts the statements that a process runs, whichever SQLite it has. */
import { createRequire } from 'node:module'

type Method = (...values: unknown[]) => unknown
type Statement = Record<string, Method>
interface Connection {
  prepare(sql: string): Statement
}
type ConnectionClass = new (...given: unknown[]) => Connection

const load = createRequire(import.meta.url)

/** @returns how often each statement has run, by its first words; what opens a connection from now on is counted */
export function countStatements(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  replaceModule('better-sqlite3', (module) => countingClass(module as ConnectionClass, counts))
  replaceModule('@photostructure/sqlite', (module) => {
    const { DatabaseSync, ...rest } = module as { DatabaseSync: ConnectionClass }
    return { ...rest, DatabaseSync: countingClass(DatabaseSync, counts) }
  })
  return counts
}

/** Its methods are read-only, so that each statement gets its own. */
const countingClass = (original: ConnectionClass, counts: Map<string, number>): ConnectionClass =>
  class extends original {
    override prepare(sql: string): Statement {
      const name = nameStatement(sql)
      const statement = super.prepare(sql)
      for (const method of ['run', 'get', 'all', 'iterate']) {
        const run = statement[method]
        if (run === undefined) continue
        const value = (...values: unknown[]): unknown => {
          counts.set(name, (counts.get(name) ?? 0) + 1)
          return run.apply(statement, values)
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
