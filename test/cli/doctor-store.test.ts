/** What `svc doctor store` says of the store: healthy, out of reach, of another version or project, or badly kept. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { spaceFinding } from '../../src/cli/doctor/free-space.ts'
import { findProblems } from '../../src/store/postgres/cluster/health.ts'
import { migrateDatabase } from '../../src/store/postgres/migrate-database.ts'
import { bucketUrl, refusedByBucket } from '../bucket.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { svc, temporary } from './recording-io.ts'

/** The schema of this program: its migrations are numbered from 1. */
const NEWEST = readdirSync(join(import.meta.dirname, '../../src/store/postgres/migrations')).length

const server = startPostgres()
afterAll(() => server?.stop())
const { path: parent, remove } = temporary()
afterAll(remove)

let cwd: string
let count = 0
beforeEach(() => {
  cwd = join(parent, `project-${++count}`)
  mkdirSync(cwd)
  configure()
})
afterEach(() => refusedByBucket.clear())

const configure = (bucket?: string): void =>
  writeFileSync(
    join(cwd, 'svc.config.yaml'),
    `workspace: acme\n${bucket === undefined ? '' : `storage: { url: '${bucket}' }\n`}`,
  )

interface Finding {
  readonly ok: boolean
  readonly say: string
  readonly fix?: string
}

const look = async (store?: string): Promise<readonly [number, Finding]> => {
  const env = { XDG_CONFIG_HOME: join(cwd, 'user'), ...(store !== undefined && { SVC_STORE: store }) }
  const { code, stdout } = await svc(['doctor', 'store', '--json'], { cwd, env })
  const [{ ok, say, fix } = {} as Finding] = (JSON.parse(stdout) as { items: Finding[] }).items
  return [code, { ok, say, ...(fix !== undefined && { fix }) }]
}

const BUCKET_FIX =
  'Check endpoint, bucket, region and credentials of the storage, and the rights to put, get and delete objects there.'

describe('the data directory', () => {
  test('is short of room below 256 MiB', () => {
    expect(spaceFinding(256 * 1024 * 1024)).toEqual({ ok: true, say: '256 MiB free' })
    expect(spaceFinding(5 * 1024 * 1024)).toEqual({
      ok: false,
      say: '5 MiB free where the data directory is, less than 256 MiB',
      fix: 'Make room, or name another directory with --data.',
    })
  })

  test('needs nothing', async () => {
    expect(await look()).toEqual([
      0,
      { ok: true, say: expect.stringMatching(/^in the data directory: \d+(\.\d)? [MGT]i?B free$/) },
    ])
  })

  test('with a bucket, which is tried', async () => {
    configure(await bucketUrl())
    expect(await look()).toEqual([
      0,
      { ok: true, say: expect.stringMatching(/^in the data directory: \d+(\.\d)? [MGT]i?B free$/) },
    ])
    refusedByBucket.add('DELETE')
    expect(await look()).toEqual([
      1,
      {
        ok: false,
        say: 'The bucket s3://files cannot be used now: to delete an object failed (AccessDenied: AccessDenied here).',
        fix: BUCKET_FIX,
      },
    ])
  })
})

describe.skipIf(!server)('a database', () => {
  let url: string
  let name: string
  beforeEach(async () => {
    url = server!.url(`doctor_${count}`)
    await migrateDatabase(url)
    name = `${new URL(url).searchParams.get('host')}/doctor_${count}`
  })
  const sql = async (text: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(text)
    await client.end()
  }
  const refused = (say: string, fix?: string) => [1, { ok: false, say, ...(fix !== undefined && { fix }) }] as const

  test('that is well is told with its schema, its clock and its longest transaction', async () => {
    const [code, { ok, say }] = await look(url)
    expect([code, ok]).toEqual([0, true])
    expect(say.slice(0, name.length + 2)).toBe(`${name}: `)
    expect(say.slice(name.length + 2)).toMatch(
      new RegExp(`^schema ${NEWEST}, clock -?\\d+ ms off, longest transaction \\d+\\.\\d s, \\d+ MiB$`),
    )
  })

  test('that nobody serves at this address', async () => {
    expect(await look('postgres://svc:secret@127.0.0.1:1/db')).toEqual(
      refused(
        'The database 127.0.0.1:1/db cannot be used now: connect ECONNREFUSED 127.0.0.1:1.',
        'Check that PostgreSQL runs, and that address, user and password are right.',
      ),
    )
  })

  test('whose address says none', async () => {
    expect(await look('postgres://svc:secret@127.0.0.1')).toEqual(
      refused(
        'What --store or SVC_STORE says names no database, or has a character that must be written with a percent sign.',
        'postgres://user:password@host:5432/database, or sqlite: for the data directory',
      ),
    )
  })

  test('whose address names several hosts', async () => {
    for (const url of [
      'postgres://svc:secret@a:5432,b:5432/db',
      'postgres://svc:secret@a,b/db',
      'postgres:///db?host=a,b',
    ])
      expect(await look(url)).toEqual(
        refused(
          'What --store or SVC_STORE says names several hosts, and svc takes one.',
          'Name one that always leads to the primary server, such as the address of the cluster or a balancer.',
        ),
      )
  })

  test('without our tables, with older ones, with those of a newer svc, or with those of another program', async () => {
    const migrate = 'Run svc store migrate.'
    const empty = server!.url(`empty_${count}`)
    expect(await look(empty)).toEqual(
      refused(
        `The database ${name.replace('doctor', 'empty')} has no tables of svc, and this svc needs schema ${NEWEST}.`,
        migrate,
      ),
    )
    await sql('update svc.svc_schema set version = 0')
    expect(await look(url)).toEqual(
      refused(`The database ${name} has no tables of svc, and this svc needs schema ${NEWEST}.`, migrate),
    )
    await sql('update svc.svc_schema set version = 99, min_reader = 99')
    expect(await look(url)).toEqual(
      refused(
        `${name} cannot be used as a store: a newer svc wrote it (schema 99, this one knows ${NEWEST}).`,
        'Use that version of svc, or a newer one.',
      ),
    )
    await sql('drop table svc.svc_schema')
    expect(await look(url)).toEqual(
      refused(
        `${name} cannot be used as a store: its schema svc belongs to another program.`,
        'Name a database of its own.',
      ),
    )
  })

  test('that the user may not use, or may not write', async () => {
    const user = `reader_${count}`
    const as = url.replace('user=svc', `user=${user}`)
    const lacks = (why: string, fix: string) => refused(`The user of ${name} lacks a right: ${user} ${why}.`, fix)
    await sql(`create role ${user} login`)
    expect(await look(as)).toEqual(
      lacks('may not use the schema svc', `As its owner: grant usage on schema svc to "${user}";`),
    )
    await sql(`grant usage on schema svc to ${user}; grant select on all tables in schema svc to ${user}`)
    expect(await look(as)).toEqual(
      lacks(
        'may not delete in svc.act',
        `As its owner: grant select, insert, update, delete on all tables in schema svc to "${user}";`,
      ),
    )
    await sql(`grant all on all tables in schema svc to ${user}`)
    expect((await look(as))[0]).toBe(0)
  })

  test('that belongs to another workspace, or has its files in another bucket', async () => {
    const own =
      'Give each cluster its own database. If it is the same cluster and its bucket has moved: svc store migrate --claim.'
    await sql(`update svc.svc_schema set workspace = 'other'`)
    expect(await look(url)).toEqual(
      refused(
        `The database ${name} belongs to the workspace other, and this is acme: two clusters on one database would run each other's agents.`,
        own,
      ),
    )
    const bucket = await bucketUrl()
    configure(bucket)
    await sql(`update svc.svc_schema set workspace = 'acme', bucket = 's3://other'`)
    const endpoint = new URL(new URL(bucket).searchParams.get('endpoint')!).host
    expect(await look(url)).toEqual(
      refused(
        `The database ${name} belongs to the bucket s3://other, and this is s3://files at ${endpoint}: two clusters on one database would run each other's agents.`,
        own,
      ),
    )
  })

  test('that was copied elsewhere', async () => {
    await sql(`update svc.svc_schema set moved_to = 'sqlite:/var/lib/svc'`)
    expect(await look(url)).toEqual(
      refused(
        `${name} was copied to sqlite:/var/lib/svc: if both went on, everything would be done twice.`,
        'Serve the copy. If you discarded it: svc store copy --reopen.',
      ),
    )
  })

  test('whose bucket cannot be reached', async () => {
    configure('s3://files?endpoint=http://127.0.0.1:1')
    const [code, { say, fix }] = await look(url)
    expect([code, fix]).toEqual([1, BUCKET_FIX])
    expect(say).toMatch(/^The bucket s3:\/\/files cannot be used now: to put an object failed \(.*ECONNREFUSED/)
  })

  test('whose clock is not that of this machine', async () => {
    const now = vi.spyOn(Date, 'now').mockImplementation(() => performance.timeOrigin + performance.now() + 60_000)
    try {
      const [code, { say, fix }] = await look(url)
      expect([code, fix]).toEqual([1, 'Synchronize both clocks, for example with chrony.'])
      expect(say.slice(name.length)).toMatch(/^: its clock is (?:59|60)\.\d s behind that of this machine$/)
    } finally {
      now.mockRestore()
    }
  })
})

describe('figures of a database', () => {
  const good = {
    found: 4,
    newest: 4,
    offMs: -900,
    longest: 60,
    notify: 0.5,
    bloated: null,
    dead: 0,
    unclaimed: 30_000,
    lag: 30,
    size: 1,
    hasRoom: true,
    onlyReads: false,
  }

  test('that need no act', () => {
    expect(findProblems(good)).toEqual([])
  })

  test.each([
    [{ found: 3 }, 'schema 3, and this svc brings 4', 'svc store migrate'],
    [
      { offMs: -7250 },
      'its clock is 7.3 s ahead of that of this machine',
      'Synchronize both clocks, for example with chrony.',
    ],
    [
      { longest: 61 },
      'a transaction has been open for 61.0 s, and keeps dead rows',
      'select pid, query from pg_stat_activity order by xact_start; then pg_terminate_backend(pid)',
    ],
    [{ onlyReads: true }, 'it only reads, so that no server works', 'Name the primary server, not a replica.'],
    [{ notify: 0.62 }, 'the queue of NOTIFY is 62 % full', 'End the session that listens and stays in a transaction.'],
    [{ bloated: 'event', dead: 20_000 }, 'event has 20000 dead rows', 'vacuum svc.event'],
    [{ unclaimed: 42_000 }, 'work waits 42.0 s for a server', 'svc workers list'],
    [
      { hasRoom: false },
      'its disk has no room for 16 MiB: nothing new is accepted',
      'Make room on the disk of the database.',
    ],
    [{ lag: 31.5 }, 'a replica is 31.5 s behind', 'Look at its network and its disk.'],
  ])('%j', (changed, say, fix) => {
    expect(findProblems({ ...good, ...changed })).toEqual([{ say, fix }])
  })
})
