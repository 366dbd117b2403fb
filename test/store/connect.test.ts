import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { connectSqlite, describeSqlite, sqliteRemedy, SQLITE_PACKAGE } from '../../src/store/sqlite/database/connect.ts'
import { resultCodeName } from '../../src/store/sqlite/database/result-codes.ts'

const load = createRequire(import.meta.url)

test('a connection answers, and says what serves it', () => {
  const db = connectSqlite(':memory:', { timeout: 0 })
  expect(db.prepare('select 1 + 1').pluck().get()).toBe(2)
  db.close()
  expect(describeSqlite()).toMatch(/^3\.\d+\.\d+ \((?:better-sqlite3|node:sqlite|@photostructure\/sqlite)\)$/)
})

test('every driver is a package that npm installs where it can, and none has a script to run', () => {
  const manifest = load('../../package.json') as Record<string, Record<string, unknown>>
  expect(Object.keys(manifest['optionalDependencies']!)).toEqual([SQLITE_PACKAGE, 'better-sqlite3'])
  expect(Object.values(manifest['allowScripts']!).filter(Boolean)).toEqual([])
})

const NOT_BUILT = 'Could not locate the bindings file. Tried:\n → build'
const OTHER_NODE = 'The module was compiled against NODE_MODULE_VERSION 137.'

const NO_BINARY = 'No native build was found for platform=linux arch=riscv64'

/** A loader that has these modules, or says with their error why it has not. */
function loaderOf(modules: Readonly<Record<string, object | string>>) {
  const asked: string[] = []
  const loadFrom = (name: string): unknown => {
    asked.push(name)
    const found = modules[name]
    if (typeof found === 'object' || typeof found === 'function') return found
    throw new Error(found ?? `Cannot find module '${name}'`)
  }
  return { asked, loadFrom }
}
const NODE_LIKE = { DatabaseSync: Object }
class Better {
  readonly memory = 'better'
}

test.each([
  ['20.19.0', { 'better-sqlite3/package.json': { version: '12.11.1' }, 'better-sqlite3': Better }, 'better-sqlite3'],
  ['22.12.0', { 'better-sqlite3/package.json': { version: '13.2.0' }, 'better-sqlite3': Better }, 'better-sqlite3'],
  // A release for another Node may crash the process when it is loaded.
  ['20.19.0', { 'better-sqlite3/package.json': { version: '13.2.0' }, [SQLITE_PACKAGE]: NODE_LIKE }, SQLITE_PACKAGE],
  ['22.12.0', { 'better-sqlite3/package.json': { version: '12.11.1' }, [SQLITE_PACKAGE]: NODE_LIKE }, SQLITE_PACKAGE],
  ['24.19.0', { 'better-sqlite3/package.json': { version: '12.11.1' }, 'node:sqlite': NODE_LIKE }, 'node:sqlite'],
  ['22.18.0', { 'node:sqlite': NODE_LIKE, [SQLITE_PACKAGE]: NODE_LIKE }, 'node:sqlite'],
  // Its SQLite lacks a part before 22.18.
  ['22.17.0', { 'node:sqlite': NODE_LIKE, [SQLITE_PACKAGE]: NODE_LIKE }, SQLITE_PACKAGE],
  ['20.19.0', { [SQLITE_PACKAGE]: NODE_LIKE }, SQLITE_PACKAGE],
  ...[NOT_BUILT, OTHER_NODE].map(
    (message) =>
      [
        '20.19.0',
        {
          'better-sqlite3/package.json': { version: '12.11.1' },
          'better-sqlite3': message,
          [SQLITE_PACKAGE]: NODE_LIKE,
        },
        SQLITE_PACKAGE,
      ] as const,
  ),
] as const)('Node %s with %o is served by %s', (node, modules, name) => {
  const { asked, loadFrom } = loaderOf(modules)
  expect(connectSqlite(':memory:', {}, node, loadFrom).memory).toBe(name === 'better-sqlite3' ? 'better' : true)
  expect(asked.at(-1)).toBe(name)
})

test.each([
  ['20.19.0', { [SQLITE_PACKAGE]: NO_BINARY }],
  ['22.12.0', {}],
])('Node %s with %o says what to install', (node, modules) => {
  expect(() => connectSqlite(':memory:', {}, node, loaderOf(modules).loadFrom)).toThrow(
    expect.objectContaining({ code: 'native_sqlite_missing', exit: 2, fix: 'npm install --include=optional' }),
  )
})

test.each([
  ['22.12.0', '/usr/lib/node_modules/@svc-agents/cli/dist/start.js', 'npm install --global better-sqlite3@13'],
  ['20.19.0', '/usr/lib/node_modules/@svc-agents/cli/dist/start.js', `npm install --global ${SQLITE_PACKAGE}@1`],
  [
    '20.19.0',
    '/home/ana/.local/lib/node_modules/@svc-agents/cli/dist/start.js',
    `npm install --global --prefix /home/ana/.local ${SQLITE_PACKAGE}@1`,
  ],
  ['22.12.0', '/opt/node/lib/node_modules/@svc-agents/cli/dist/start.js', 'npm install --global better-sqlite3@13'],
  ['20.19.0', '/srv/desk/node_modules/@svc-agents/cli/dist/start.js', 'npm install --include=optional'],
])('with Node %s at %s, "%s" installs it where it is found', (node, module, command) => {
  expect(sqliteRemedy(node, `file://${module}`, '/opt/node/bin/node')).toBe(command)
})

test('an error carries the extended code, whichever driver and call it comes from', () => {
  const db = connectSqlite(':memory:', {})
  db.exec(
    `pragma foreign_keys = on;
     create table parent (id integer primary key, name text unique not null, age integer check (age > 0)) strict;
     create table child (parent integer references parent (id)) strict;
     insert into parent values (1, 'ana', 1)`,
  )
  const codeOf = (work: () => unknown): unknown => {
    try {
      return work()
    } catch (error) {
      return (error as { code?: unknown }).code
    }
  }
  const cases: readonly (readonly [sql: string, code: string])[] = [
    [`insert into parent values (2, 'ana', 1)`, 'SQLITE_CONSTRAINT_UNIQUE'],
    [`insert into parent values (1, 'bob', 1)`, 'SQLITE_CONSTRAINT_PRIMARYKEY'],
    [`insert into parent values (2, null, 1)`, 'SQLITE_CONSTRAINT_NOTNULL'],
    [`insert into parent values (2, 'bob', 0)`, 'SQLITE_CONSTRAINT_CHECK'],
    [`insert into parent values (2, 'bob', 'old')`, 'SQLITE_CONSTRAINT_DATATYPE'],
    [`insert into child values (9)`, 'SQLITE_CONSTRAINT_FOREIGNKEY'],
    [`select json('{')`, 'SQLITE_ERROR'],
    [`nonsense`, 'SQLITE_ERROR'],
  ]
  expect(cases.map(([sql]) => [sql, codeOf(() => db.exec(sql))])).toEqual(cases)
  const rowsOf = (sql: string) => (sql.startsWith('insert') ? `${sql} returning 1` : sql)
  expect(cases.map(([sql]) => [sql, codeOf(() => db.prepare(rowsOf(sql)).get())])).toEqual(cases)
  // One driver loses the number here, and its message says the primary code.
  for (const [sql, code] of cases)
    for (const read of [() => db.prepare(rowsOf(sql)).all(), () => [...db.prepare(rowsOf(sql)).iterate()]])
      expect(code).toContain(codeOf(read))
  db.close()
})

test('an extended code has the name that its number has in the header of SQLite', () => {
  const named = [
    [1, 'SQLITE_ERROR'],
    [257, 'SQLITE_ERROR_MISSING_COLLSEQ'],
    [261, 'SQLITE_BUSY_RECOVERY'],
    [516, 'SQLITE_ABORT_ROLLBACK'],
    [517, 'SQLITE_BUSY_SNAPSHOT'],
    [520, 'SQLITE_READONLY_CANTLOCK'],
    [522, 'SQLITE_IOERR_SHORT_READ'],
    [778, 'SQLITE_IOERR_WRITE'],
    [779, 'SQLITE_CORRUPT_INDEX'],
    [1288, 'SQLITE_READONLY_CANTINIT'],
    [1294, 'SQLITE_CANTOPEN_DIRTYWAL'],
    [1555, 'SQLITE_CONSTRAINT_PRIMARYKEY'],
    [2067, 'SQLITE_CONSTRAINT_UNIQUE'],
    [3091, 'SQLITE_CONSTRAINT_DATATYPE'],
    [5642, 'SQLITE_IOERR_SEEK'],
    [8714, 'SQLITE_IOERR_IN_PAGE'],
    // Of a newer SQLite.
    [99 * 256 + 19, 'SQLITE_CONSTRAINT'],
    [99, 'SQLITE_ERROR'],
  ] as const
  expect(named.map(([code]) => [code, resultCodeName(code)])).toEqual(named)
})
