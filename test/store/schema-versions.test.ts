/** Which databases a program accepts before they are migrated, and how they are migrated. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import {
  checkSchemaVersions,
  migratePostgres,
  OLDEST_READ,
  readSchemaVersions,
} from '../../src/store/postgres/database/migrate.ts'
import { openPool, type PostgresPool } from '../../src/store/postgres/database/pool.ts'
import { connectSqlite } from '../../src/store/sqlite/database/connect.ts'
import { isMigrated, migrateSchema } from '../../src/store/sqlite/database/migrate.ts'
import { startPostgres } from './postgres-server.ts'

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

/** The second migration changes what is stored, and the third fails after it has done something. */
const FIRST = "create table fruit (name text); insert into fruit values ('fig')"
const SECOND = `-- min_reader: 2\nupdate fruit set name = name || 's'`
const BROKEN = `insert into fruit values ('lost'); insert into none values (1)`

/** `svc1`, as development versions wrote it into the header of a file. */
const UNRELEASED_ID = 0x73766331

const unreleased = (file: string, version: number): Error =>
  expect.objectContaining({
    code: 'store_unreadable',
    message: `${file} cannot be used as a store: a development version from before the first release of svc wrote it (schema ${version}).`,
    fix: 'Use the svc that wrote it, or name another data directory or database: publish and deploy there again.',
  }) as Error

describe('SQLite', () => {
  test('gets what it lacks in order, nothing twice, and nothing of migrations of which one fails', () => {
    const db = connectSqlite(':memory:', {})
    const state = (): readonly unknown[] => [
      db.pragma('user_version', { simple: true }),
      db.prepare('select name from fruit').pluck().all(),
    ]
    migrateSchema(db, 'data.db', [FIRST])
    expect(state()).toEqual([1, ['fig']])
    expect(() => migrateSchema(db, 'data.db', [FIRST, SECOND, BROKEN])).toThrow('no such table: none')
    expect(state()).toEqual([1, ['fig']])
    migrateSchema(db, 'data.db', [FIRST, SECOND])
    migrateSchema(db, 'data.db', [FIRST, SECOND])
    expect(state()).toEqual([2, ['figs']])
    // The program that knows one migration only.
    expect(() => isMigrated(db, 'data.db', 1)).toThrow('a newer svc wrote it (schema 2, this one knows 1)')
    db.close()
  })

  test.each([1, 2, 32])('of a development version, with schema %i, is refused and stays as it is', (version) => {
    const db = connectSqlite(':memory:', {})
    db.exec('create table runs (id text)')
    db.pragma(`application_id = ${UNRELEASED_ID}`)
    db.pragma(`user_version = ${version}`)
    const state = (): readonly unknown[] => [
      db.pragma('user_version', { simple: true }),
      db.prepare('select name from sqlite_schema').pluck().all(),
    ]
    for (const open of [migrateSchema, isMigrated])
      expect(() => open(db, 'data.db')).toThrow(unreleased('data.db', version))
    expect(state()).toEqual([version, ['runs']])
    db.close()
  })
})

const server = startPostgres()
afterAll(() => server?.stop())

describe.skipIf(!server)('PostgreSQL', () => {
  const connect = (): Promise<PostgresPool> =>
    openPool({ url: server!.url('migrated'), schema: 'svc', name: 'test', connections: 2 })

  test('gets what it lacks in order, nothing twice, and nothing of the one migration that fails', async () => {
    const pool = await connect()
    const state = async (): Promise<readonly unknown[]> => [
      await pool.row('select version, min_reader from svc_schema'),
      (await pool.rows<{ name: string }>('select name from fruit')).map(({ name }) => name),
    ]
    await migratePostgres(pool, 'svc', [FIRST])
    expect(await state()).toEqual([{ version: 1, min_reader: 0 }, ['fig']])
    await expect(migratePostgres(pool, 'svc', [FIRST, SECOND, BROKEN])).rejects.toThrow('"none" does not exist')
    expect(await state()).toEqual([{ version: 2, min_reader: 2 }, ['figs']])
    expect(await migratePostgres(pool, 'svc', [FIRST, SECOND])).toMatchObject({ found: 2, newest: 2 })
    expect(await state()).toEqual([{ version: 2, min_reader: 2 }, ['figs']])
    // The program that knows one migration only.
    await expect(migratePostgres(pool, 'svc', [FIRST])).rejects.toMatchObject({ code: 'store_unreadable' })
    await pool.close()
  })

  test('is migrated once by processes that begin at the same time', async () => {
    const pools = await Promise.all([connect(), connect(), connect()])
    await pools[0]!.run('drop schema svc cascade')
    await Promise.all(pools.map((pool) => migratePostgres(pool, 'svc', [FIRST, SECOND])))
    expect(await pools[0]!.rows('select name from fruit')).toEqual([{ name: 'figs' }])
    for (const pool of pools) await pool.close()
  })

  test.each([1, 2, 12])('of a development version, with schema %i, is refused and stays as it is', async (version) => {
    const pool = await connect()
    await pool.run('drop schema if exists svc cascade')
    await pool.run('create schema svc')
    // Its columns there; the table did not say which list of migrations the number counts.
    await pool.run(
      `create table svc_schema (
         version integer not null, min_reader integer not null, cluster uuid, workspace text, bucket text, moved_to text
       )`,
    )
    await pool.run('insert into svc_schema (version, min_reader) values (:version, 0)', { version })
    for (const open of [migratePostgres, readSchemaVersions])
      await expect(open(pool, 'svc')).rejects.toEqual(unreleased(pool.database, version))
    expect(await pool.row('select version, min_reader from svc_schema')).toEqual({ version, min_reader: 0 })
    await pool.close()
  })
})
