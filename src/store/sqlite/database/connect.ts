import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { fail } from '../../../base/failure.ts'
import { databaseFailure } from './unusable.ts'
import { hasNodeSqlite, openNodeSqlite, type NodeSqliteModule } from './node-sqlite.ts'

/** The release for Node 20, which npm does not choose by itself. `config` of package.json names the same one. */
export const SQLITE_FOR_NODE_20 = 'better-sqlite3@12.11.1'

type ConnectionOptions = Pick<Database.Options, 'timeout' | 'readonly'>

/**
 * Opens a connection with the SQLite that suits this Node. better-sqlite3 13 comes built for Node-API, of which Node 20 lacks a
 * part; version 12 binds to V8 itself, and Node 24.19 and later crash when one of its statements is garbage-collected. npm
 * installs 13 from Node 22 on, as an optional package; without it, Node's own SQLite serves.
 * @param options `timeout`: milliseconds to wait for another process's lock
 * @param node version of Node
 * @throws Failure `native_sqlite_missing`, `store_unreadable`, `data_directory_full`
 */
export function connectSqlite(
  path: string,
  options: ConnectionOptions,
  node = process.versions.node,
  load: (name: string) => unknown = createRequire(import.meta.url),
): Database.Database {
  const open = openerFor(node, load)
  try {
    return open(path, options)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    if ('code' in error && String(error.code).startsWith('SQLITE_')) throw databaseFailure(path, error)
    if (isMissing(error)) throw missing(node, error)
    throw error
  }
}

/**
 * Name and source of the SQLite that `connectSqlite` loads.
 * @throws Failure `native_sqlite_missing`
 */
export function describeSqlite(): string {
  const db = connectSqlite(':memory:', {})
  const version = db.prepare('select sqlite_version()').pluck().get() as string
  db.close()
  return `${version} (${'loadExtension' in db ? 'better-sqlite3' : 'node:sqlite'})`
}

function openerFor(
  node: string,
  load: (name: string) => unknown,
): (path: string, options: ConnectionOptions) => Database.Database {
  try {
    const { version } = load('better-sqlite3/package.json') as { version: string }
    const isBuiltForNodeApi = Number.parseInt(version) >= 13
    if (isBuiltForNodeApi !== isSince22(node)) throw new Error(`Cannot find module: ${version} is for another Node`)
    const Library = load('better-sqlite3') as typeof Database
    return (path, options) => new Library(path, options)
  } catch (error) {
    if (!isMissing(error)) throw error
    if (!hasNodeSqlite(node)) throw missing(node, error)
    const sqlite = loadQuietly(() => load('node:sqlite') as NodeSqliteModule)
    return (path, options) => openNodeSqlite(sqlite, path, options)
  }
}

const isSince22 = (node: string): boolean => Number.parseInt(node) >= 22

/** The last alternative: the modules were installed by a different version of Node than the one running. */
const MISSING = /^Could not locate the bindings file|^Cannot find module|NODE_MODULE_VERSION/
const isMissing = (error: unknown): error is Error => error instanceof Error && MISSING.test(error.message)

const missing = (node: string, cause: Error) => {
  const fix = `${sqliteRemedy(node, import.meta.url)}     (without a compiler, or where only npm can be reached: Node 22.18 or later has SQLite built in)`
  return fail('native_sqlite_missing', undefined, { cause, fix })
}

/**
 * The command that installs SQLite where svc finds it.
 * @param module address of a module of svc: below `lib/node_modules`, on Windows `npm/node_modules`, npm installed it
 * globally
 * @param program path of Node, which stands in npm's usual prefix
 */
export function sqliteRemedy(node: string, module: string, program = process.execPath): string {
  const isGlobal = /[\\/](?:lib|npm)[\\/]node_modules[\\/]/.test(module)
  if (!isGlobal) return isSince22(node) ? 'npm install --include=optional' : `npm install ${SQLITE_FOR_NODE_20}`
  const install = `npm install --global${ownPrefix(module, program)}`
  return isSince22(node)
    ? `${install} better-sqlite3@13`
    : `${install} --allow-scripts=better-sqlite3 ${SQLITE_FOR_NODE_20}`
}

/** ` --prefix DIR` where svc is installed in another place than the one that npm takes by itself. */
function ownPrefix(module: string, program: string): string {
  const prefix = /^(?:file:\/\/)?(\/.*?)\/lib\/node_modules\//.exec(module)?.[1]
  const usual = [dirname(dirname(program)), '/usr', '/usr/local']
  return prefix === undefined || usual.includes(prefix) ? '' : ` --prefix ${prefix}`
}

/** Node warns that its SQLite is experimental; nobody who runs a command can do anything about it. */
function loadQuietly<T>(load: () => T): T {
  const original = Object.getOwnPropertyDescriptor(process, 'emitWarning')!
  process.emitWarning = () => {}
  try {
    return load()
  } finally {
    Object.defineProperty(process, 'emitWarning', original)
  }
}
