import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { fail } from '../../../base/failure.ts'
import { databaseFailure } from './unusable.ts'
import { hasNodeSqlite, openNodeSqlite, type NodeSqliteModule } from './node-sqlite.ts'
import { expectDefined } from '../../../base/values/expect-defined.ts'

/** The package with an SQLite for every Node, which package.json names too. */
export const SQLITE_PACKAGE = '@photostructure/sqlite'

type ConnectionOptions = Pick<Database.Options, 'timeout' | 'readonly'>
type Load = (name: string) => unknown
const loadModule: Load = createRequire(import.meta.url)

interface SqliteDriver {
  readonly name: string
  /** @throws an error for which `isMissing` is true */
  open(load: Load, node: string, path: string, options: ConnectionOptions): Database.Database
}

/**
 * In the order of preference. better-sqlite3 13 comes built for Node-API, of which Node 20 lacks a part; version 12 binds to V8
 * itself, and Node 24.19 and later crash when one of its statements is garbage-collected. So its version is looked at before it
 * is loaded. npm installs 13 from Node 22 on.
 */
const DRIVERS: readonly SqliteDriver[] = [
  {
    name: 'better-sqlite3',
    open(load, node, path, options) {
      const { version } = load('better-sqlite3/package.json') as { version: string }
      if (Number.parseInt(version) >= 13 !== isSince22(node))
        throw new Error(`Cannot find module: better-sqlite3 ${version} is for another Node`)
      return new (load('better-sqlite3') as typeof Database)(path, options)
    },
  },
  {
    name: 'node:sqlite',
    open(load, node, path, options) {
      if (!hasNodeSqlite(node)) throw new Error(`Cannot find module: the SQLite of Node ${node} is incomplete`)
      return openNodeSqlite(loadQuietly(() => load('node:sqlite')) as NodeSqliteModule, path, options)
    },
  },
  {
    name: SQLITE_PACKAGE,
    open: (load, _, path, options) => openNodeSqlite(load(SQLITE_PACKAGE) as NodeSqliteModule, path, options, true),
  },
]

/**
 * Opens a connection with the first SQLite that is installed and suits this Node.
 * @param options `timeout`: milliseconds to wait for another process's lock
 * @param node version of Node
 * @throws Failure `native_sqlite_missing`, `store_unreadable`, `data_directory_full`
 */
export const connectSqlite = (
  path: string,
  options: ConnectionOptions,
  node = process.versions.node,
  load = loadModule,
): Database.Database => openFirst(path, options, node, load).db

/**
 * Version and name of the SQLite that `connectSqlite` loads.
 * @throws Failure `native_sqlite_missing`
 */
export function describeSqlite(): string {
  const { db, name } = openFirst(':memory:', {}, process.versions.node, loadModule)
  const version = db.prepare('select sqlite_version()').pluck().get() as string
  db.close()
  return `${version} (${name})`
}

/** Drivers that turned out to be missing stay so in this process: looking for a module again takes longer than a connection. */
const missingDrivers = new Set<SqliteDriver>()

function openFirst(
  path: string,
  options: ConnectionOptions,
  node: string,
  load: Load,
): { readonly db: Database.Database; readonly name: string } {
  const isReal = load === loadModule
  let cause: Error | undefined
  for (const driver of DRIVERS) {
    if (isReal && missingDrivers.has(driver)) continue
    try {
      return { db: driver.open(load, node, path, options), name: driver.name }
    } catch (error) {
      if (!(error instanceof Error)) throw error
      if ('code' in error && String(error.code).startsWith('SQLITE_')) throw databaseFailure(path, error)
      if (!isMissing(error)) throw error
      cause = error
      if (isReal) missingDrivers.add(driver)
    }
  }
  throw fail('native_sqlite_missing', undefined, { cause, fix: sqliteRemedy(node, import.meta.url) })
}

const isSince22 = (node: string): boolean => Number.parseInt(node) >= 22

/**
 * A module that is not there, has no binary for this system, was built for a different version of Node than the one running, or
 * needs a newer C library.
 */
const MISSING =
  /^Could not locate the bindings file|^Cannot find module|^No native build was found|^No such built-in module|NODE_MODULE_VERSION/
const isMissing = (error: Error): boolean =>
  MISSING.test(error.message) || (error as NodeJS.ErrnoException).code === 'ERR_DLOPEN_FAILED'

/**
 * The command that installs SQLite where svc finds it.
 * @param module address of a module of svc: below `lib/node_modules`, on Windows `npm/node_modules`, npm installed it
 * globally
 * @param program path of Node, which stands in npm's usual prefix
 */
export function sqliteRemedy(node: string, module: string, program = process.execPath): string {
  const isGlobal = /[\\/](?:lib|npm)[\\/]node_modules[\\/]/.test(module)
  if (!isGlobal) return 'npm install --include=optional'
  return `npm install --global${ownPrefix(module, program)} ${isSince22(node) ? 'better-sqlite3@13' : `${SQLITE_PACKAGE}@1`}`
}

/** ` --prefix DIR` where svc is installed in another place than the one that npm takes by itself. */
function ownPrefix(module: string, program: string): string {
  const prefix = /^(?:file:\/\/)?(\/.*?)\/lib\/node_modules\//.exec(module)?.[1]
  const usual = [dirname(dirname(program)), '/usr', '/usr/local']
  return prefix === undefined || usual.includes(prefix) ? '' : ` --prefix ${prefix}`
}

/** Node warns that its SQLite is experimental; nobody who runs a command can do anything about it. */
function loadQuietly<T>(load: () => T): T {
  const original = expectDefined(Object.getOwnPropertyDescriptor(process, 'emitWarning'), 'Node can warn')
  process.emitWarning = () => {}
  try {
    return load()
  } finally {
    Object.defineProperty(process, 'emitWarning', original)
  }
}
