import { expect, test } from 'vitest'
import { connectSqlite } from '../../src/store/sqlite/database/connect.ts'

test('a connection answers', () => {
  const db = connectSqlite(':memory:', { timeout: 0 })
  expect(db.prepare('select 1 + 1').pluck().get()).toBe(2)
  db.close()
})

test.each([
  ['20.19.0', 'better-sqlite3', 'Could not locate the bindings file. Tried:\n → build', 'npm rebuild better-sqlite3'],
  [
    '20.19.0',
    'better-sqlite3',
    'The module was compiled against NODE_MODULE_VERSION 137.',
    'npm rebuild better-sqlite3',
  ],
  ['22.12.0', 'better-sqlite3-napi', "Cannot find module 'better-sqlite3-napi'", 'npm install --include=optional'],
  ['26.1.0', 'better-sqlite3-napi', "Cannot find module 'better-sqlite3-napi'", 'npm install --include=optional'],
])(
  'Node %s loads %s; when it is missing, the failure gives the command that installs it',
  (node, name, message, fix) => {
    const loaded: string[] = []
    const load = (each: string): never => {
      loaded.push(each)
      throw new Error(message)
    }
    expect(() => connectSqlite(':memory:', {}, node, load)).toThrow(
      expect.objectContaining({ code: 'native_sqlite_missing', exit: 2, fix }),
    )
    expect(loaded).toEqual([name])
  },
)
