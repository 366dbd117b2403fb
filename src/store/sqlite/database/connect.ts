import { createRequire } from 'node:module'
import type Database from 'better-sqlite3'
import { fail } from '../../../base/failure.ts'

/**
 * A connection, by better-sqlite3 as this version of Node takes it. Version 12 is made for the inside of V8: Node 24.19 and later
 * end the process when one of its statements is collected. Version 13 keeps to Node's own interface, not all of which Node 20 has.
 * Without install scripts (12) or optional packages (13) npm leaves the native part out; that is told as what it is.
 * @param options `timeout`: milliseconds to wait for another process's lock
 * @param node version of Node
 * @throws Failure `native_sqlite_missing`, `store_unreadable`
 */
export function connectSqlite(
  path: string,
  options: Pick<Database.Options, 'timeout' | 'readonly'>,
  node = process.versions.node,
  load: (name: string) => unknown = createRequire(import.meta.url),
): Database.Database {
  const isSince22 = Number.parseInt(node) >= 22
  try {
    const Library = load(isSince22 ? 'better-sqlite3-napi' : 'better-sqlite3') as typeof Database
    return new Library(path, options)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if ('code' in error && String(error.code).startsWith('SQLITE_'))
      throw fail('store_unreadable', { file: path, why: error.message }, { cause: error })
    if (!MISSING.test(error.message)) throw error
    const fix = isSince22 && { fix: 'npm install --include=optional' }
    throw fail('native_sqlite_missing', undefined, { cause: error, ...fix })
  }
}

/** Also where modules were installed by another version of Node than runs now. */
const MISSING = /^Could not locate the bindings file|^Cannot find module|NODE_MODULE_VERSION/
