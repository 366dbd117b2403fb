/** PostgreSQL as others host it: addresses with parameters, roles with settings of their own, and poolers before it. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readConnectionAddress } from '../../src/store/postgres/database/connection-settings.ts'
import { runWithReply } from '../../src/store/postgres/lost-reply.ts'
import { openPool, type PostgresPool } from '../../src/store/postgres/database/pool.ts'
import { migrateDatabase } from '../../src/store/postgres/migrate-database.ts'
import { findFreePort } from '../free-port.ts'
import { removeDirectory } from '../remove-directory.ts'
import { waitUntil } from '../wait-until.ts'
import { startPostgres } from './postgres-server.ts'

const OURS = readConnectionAddress('postgres://ana@db/svc', 'svc').options

test.each([
  ['postgres://ana:p%40w@db/svc', 'postgres://ana:p%40w@db/svc', OURS],
  ['postgres://ana@db/svc?options=endpoint%3Dep-1', 'postgres://ana@db/svc', `endpoint=ep-1 ${OURS}`],
  [
    'postgres://ana@db/svc?sslmode=require&channel_binding=require',
    'postgres://ana@db/svc?sslmode=verify-full&channel_binding=require',
    OURS,
  ],
  ['postgres://ana@db/svc?sslmode=verify-full&sslrootcert=system', 'postgres://ana@db/svc?sslmode=verify-full', OURS],
  [
    'postgres://ana@db/svc?sslmode=require&uselibpqcompat=true',
    'postgres://ana@db/svc?sslmode=require&uselibpqcompat=true',
    OURS,
  ],
  ['postgres:///svc?host=%2Frun%2Fpg&user=svc', 'postgres:///svc?host=%2Frun%2Fpg&user=svc', OURS],
])('%s is asked for as %s', (url, connectionString, options) => {
  expect(readConnectionAddress(url, 'svc')).toEqual({ connectionString, options })
})

const server = startPostgres()
afterAll(() => server?.stop())

describe.skipIf(!server)('a hosted database', () => {
  let count = 0
  let database = ''
  const pools: PostgresPool[] = []
  const open = async (url: string): Promise<PostgresPool> => {
    const pool = await openPool({ url, schema: 'svc', name: 'test', connections: 2 })
    pools.push(pool)
    return pool
  }
  const asOwner = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: server!.url() })
    await client.connect()
    await client.query(sql)
    await client.end()
  }
  beforeEach(async () => {
    database = `hosted_${count++}`
    server!.url(database)
    await asOwner(
      `create role ana_${database} login in role svc; grant create on database ${database} to ana_${database}`,
    )
  })
  afterEach(async () => {
    for (const pool of pools.splice(0)) await pool.close()
  })
  const urlOf = (more = ''): string => `${server!.url(database).replace('user=svc', `user=ana_${database}`)}${more}`

  test('has its tables in one schema, whatever options its address has', async () => {
    await migrateDatabase(urlOf('&options=-c%20geqo%3Doff%20-c%20search_path%3Dpublic'))
    const pool = await open(urlOf('&options=-c%20geqo%3Doff'))
    expect(
      await pool.rows(
        `select current_setting('geqo') as geqo, current_setting('search_path') as path,
           (select count(*) from pg_tables where schemaname = 'public') as public`,
      ),
    ).toEqual([{ geqo: 'off', path: 'svc', public: 0 }])
  })

  test('reads what others committed, whatever isolation its role has', async () => {
    await asOwner(`alter role ana_${database} set default_transaction_isolation = 'repeatable read'`)
    const pool = await open(urlOf())
    expect(await pool.row(`select current_setting('transaction_isolation') as isolation`)).toEqual({
      isolation: 'read committed',
    })
  })

  test('that may only be read is named as such', async () => {
    await asOwner(`alter role ana_${database} set default_transaction_read_only = on`)
    await expect(migrateDatabase(urlOf())).rejects.toMatchObject({
      code: 'store_unreachable',
      fix: 'Name the primary server, not a replica; or, where its user only reads: alter role USER set default_transaction_read_only = off.',
    })
  })

  test('that takes no connections is out of reach, and no bug', async () => {
    await asOwner(`alter database ${database} allow_connections false`)
    await expect(migrateDatabase(urlOf())).rejects.toMatchObject({ code: 'store_unreachable', status: 503 })
  })

  test('of another encoding than UTF-8 is refused', async () => {
    await asOwner(`create database ${database}_latin encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0`)
    await expect(migrateDatabase(urlOf().replace(`/${database}`, `/${database}_latin`))).rejects.toMatchObject({
      code: 'store_unreadable',
      message: `${dirname(server!.socket)}/${database}_latin cannot be used as a store: its encoding is LATIN1, which cannot hold every text.`,
    })
  })

  describe.skipIf(spawnSync('pgbouncer', ['--version']).status !== 0)('behind PgBouncer in transaction mode', () => {
    let pooler: ChildProcess
    let directory: string
    let url: string
    beforeEach(async () => {
      directory = mkdtempSync(join(tmpdir(), 'svc-pooler-'))
      chmodSync(directory, 0o755)
      const port = await findFreePort()
      const lines = [
        '[databases]',
        `* = host=${dirname(server!.socket)}`,
        '[pgbouncer]',
        'listen_addr = 127.0.0.1',
        `listen_port = ${port}`,
        'unix_socket_dir =',
        'auth_type = trust',
        `auth_file = ${join(directory, 'users')}`,
        'pool_mode = transaction',
        'ignore_startup_parameters = options',
      ]
      writeFileSync(join(directory, 'pooler.ini'), `${lines.join('\n')}\n`)
      writeFileSync(join(directory, 'users'), '"svc" ""\n')
      url = `postgres://svc@127.0.0.1:${port}/${database}`
      await begin()
      return () => {
        pooler.kill('SIGKILL')
        removeDirectory(directory)
      }
    })
    const begin = async (): Promise<void> => {
      const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
      pooler = spawn('pgbouncer', [...asUser, join(directory, 'pooler.ini')], { stdio: 'ignore' })
      await waitUntil(async () => {
        const client = new pg.Client({ connectionString: url.replace(database, 'postgres') })
        return await client.connect().then(
          async () => (await client.end(), true),
          () => false,
        )
      })
    }

    test('a setting that it does not pass on is named, and nothing is written elsewhere', async () => {
      await asOwner(`alter role svc in database ${database} set search_path = public`)
      await expect(migrateDatabase(url)).rejects.toMatchObject({
        code: 'store_unreadable',
        fix: `Name the address of PostgreSQL itself, or: alter role "svc" in database "${database}" set search_path = svc; then let the pooler open new connections.`,
      })
    })

    test('each statement is the one that was asked for, whichever connection it gets', async () => {
      await asOwner(`alter role svc in database ${database} set search_path = svc`)
      await migrateDatabase(url)
      const asked = Array.from({ length: 200 }, (_, index) => index)
      const pools = await Promise.all([open(url), open(url)])
      const read = async (pool: PostgresPool, index: number) => (await pool.row(`select ${index} as n`))!
      const both = pools.map((pool, at) => {
        const own = at === 0 ? asked : asked.toReversed()
        return Promise.all(own.map((index) => read(pool, index)))
      })
      const [first, second] = await Promise.all(both)
      expect(first).toEqual(asked.map((n) => ({ n })))
      expect(second).toEqual(asked.toReversed().map((n) => ({ n })))
    })

    test('a statement whose reply is lost with the pooler has ended before anybody asks what became of it', async () => {
      await asOwner(`alter role svc in database ${database} set search_path = svc`)
      const pool = await open(url)
      const admin = new pg.Client({ connectionString: server!.url(database) })
      await admin.connect()
      const sleeping = async (): Promise<number> => {
        const { rows } = await admin.query(`select 1 from pg_stat_activity where query = 'select pg_sleep(600)'`)
        return rows.length
      }
      const left: number[] = []
      const lost = runWithReply(pool, 'select pg_sleep(600)', [], async () => {
        left.push(await sleeping())
        return []
      })
      await waitUntil(async () => (await sleeping()) === 1)
      pooler.kill('SIGKILL')
      await begin()
      expect(await lost).toEqual([])
      expect(left).toEqual([0])
      await admin.end()
    })
  })
})
