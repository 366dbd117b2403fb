import { createRequire } from 'node:module'
import type Database from 'better-sqlite3'
import { fail } from '../../../base/failure.ts'

/**
 * Opens a connection with the version of better-sqlite3 that suits this Node. Version 12 binds to V8 itself: Node 24.19 and later
 * crash when one of its statements is garbage-collected. Version 13 uses Node-API, of which Node 20 lacks a part. npm leaves the
 * native part out when install scripts (12) or optional packages (13) are disabled; that is reported as `native_sqlite_missing`.
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

/** The last alternative: the modules were installed by a different version of Node than the one running. */
const MISSING = /^Could not locate the bindings file|^Cannot find module|NODE_MODULE_VERSION/
