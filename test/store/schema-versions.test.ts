/** Which databases a program accepts before they are migrated. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { checkSchemaVersions, OLDEST_READ } from '../../src/store/postgres/database/migrate.ts'

const DIRECTORY = resolve(import.meta.dirname, '../../src/store/postgres/migrations')
const migrations = readdirSync(DIRECTORY)
  .sort()
  .map((name) => readFileSync(join(DIRECTORY, name), 'utf8'))

test('a program refuses a database that lacks a table or column which its migrations add', () => {
  const lastAdding = migrations.findLastIndex((sql) => /^create table|\badd column\b/im.test(sql)) + 1
  expect(OLDEST_READ).toBeGreaterThanOrEqual(lastAdding)
  expect(OLDEST_READ).toBeLessThanOrEqual(migrations.length)
})

test('of an older database it says that it is not migrated, and of the oldest that it reads nothing', () => {
  const check = (found: number) => (): void =>
    checkSchemaVersions('svc', { found, newest: migrations.length, minReader: 0 })
  expect(check(OLDEST_READ - 1)).toThrow(expect.objectContaining({ code: 'store_not_migrated' }) as Error)
  expect(check(OLDEST_READ)).not.toThrow()
})
