import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import {
  connectSqlite,
  describeSqlite,
  sqliteRemedy,
  SQLITE_FOR_NODE_20,
} from '../../src/store/sqlite/database/connect.ts'

const load = createRequire(import.meta.url)

test('a connection answers, and says what serves it', () => {
  const db = connectSqlite(':memory:', { timeout: 0 })
  expect(db.prepare('select 1 + 1').pluck().get()).toBe(2)
  db.close()
  expect(describeSqlite()).toMatch(/^3\.\d+\.\d+ \((?:better-sqlite3|node:sqlite)\)$/)
})

test('the release for Node 20 is the one that npm ci installs in a checkout', () => {
  const { config } = load('../../package.json') as { config: Record<string, string> }
  expect(config['sqliteForNode20']).toBe(SQLITE_FOR_NODE_20)
  expect(readFileSync(new URL('../../scripts/sqlite.js', import.meta.url), 'utf8')).toContain('config.sqliteForNode20')
})

const NOT_BUILT = 'Could not locate the bindings file. Tried:\n → build'
const OTHER_NODE = 'The module was compiled against NODE_MODULE_VERSION 137.'

test.each([
  ['20.19.0', '12.11.1', NOT_BUILT, 'npm install better-sqlite3@12.11.1'],
  ['20.19.0', '12.11.1', OTHER_NODE, 'npm install better-sqlite3@12.11.1'],
  ['20.19.0', '13.2.0', undefined, 'npm install better-sqlite3@12.11.1'],
  ['20.19.0', undefined, undefined, 'npm install better-sqlite3@12.11.1'],
  ['22.12.0', '12.11.1', undefined, 'npm install --include=optional'],
  ['22.12.0', undefined, undefined, 'npm install --include=optional'],
])('Node %s with better-sqlite3 %s that cannot be loaded says what to install', (node, version, message, fix) => {
  const asked: string[] = []
  const loadFrom = (name: string): unknown => {
    asked.push(name)
    if (version === undefined) throw new Error(`Cannot find module '${name}'`)
    if (name.endsWith('package.json')) return { version }
    throw new Error(message)
  }
  expect(() => connectSqlite(':memory:', {}, node, loadFrom)).toThrow(
    expect.objectContaining({
      code: 'native_sqlite_missing',
      exit: 2,
      fix: `${fix}     (without a compiler, or where only npm can be reached: Node 22.18 or later has SQLite built in)`,
    }),
  )
  // A release for another Node may crash the process when it is loaded.
  expect(asked.includes('better-sqlite3')).toBe(message !== undefined)
})

test.each(['22.18.0', '24.19.0', '26.1.0'])('Node %s falls back to its own SQLite', (node) => {
  const asked: string[] = []
  const loadFrom = (name: string): unknown => {
    asked.push(name)
    if (name === 'node:sqlite') return { DatabaseSync: Object }
    if (name.endsWith('package.json')) return { version: '12.11.1' }
    throw new Error('loaded')
  }
  expect(connectSqlite(':memory:', {}, node, loadFrom).memory).toBe(true)
  expect(asked).toEqual(['better-sqlite3/package.json', 'node:sqlite'])
})

test.each([
  ['22.12.0', '/usr/lib/node_modules/@svc-agents/cli/dist/start.js', 'npm install --global better-sqlite3@13'],
  [
    '20.19.0',
    '/usr/lib/node_modules/@svc-agents/cli/dist/start.js',
    `npm install --global --allow-scripts=better-sqlite3 ${SQLITE_FOR_NODE_20}`,
  ],
  [
    '20.19.0',
    '/home/ana/.local/lib/node_modules/@svc-agents/cli/dist/start.js',
    `npm install --global --prefix /home/ana/.local --allow-scripts=better-sqlite3 ${SQLITE_FOR_NODE_20}`,
  ],
  ['22.12.0', '/opt/node/lib/node_modules/@svc-agents/cli/dist/start.js', 'npm install --global better-sqlite3@13'],
  ['20.19.0', '/srv/desk/node_modules/@svc-agents/cli/dist/start.js', `npm install ${SQLITE_FOR_NODE_20}`],
])('with Node %s at %s, "%s" installs it where it is found', (node, module, command) => {
  expect(sqliteRemedy(node, `file://${module}`, '/opt/node/bin/node')).toBe(command)
})
