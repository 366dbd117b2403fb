import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import { connectSqlite } from '../../src/store/sqlite/database/connect.ts'
import { APPLICATION_ID, migrateSchema } from '../../src/store/sqlite/database/migrate.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { openSqliteReadOnly } from '../../src/store/sqlite/read-only.ts'
import { AGENT, aKey, aPublication, aSnapshot, NOW, WORKSPACE } from './makers.ts'
import { removeDirectory } from '../remove-directory.ts'

const clock: Clock = { now: () => NOW, monotonic: () => NOW }
let directory = ''
let file = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-read-'))
  file = join(directory, 'data.db')
})
afterEach(() => removeDirectory(directory))

const published = async (): Promise<void> => {
  const store = openSqlite(file, { clock })
  await store.publish(aPublication([aSnapshot('pay.clerk', '1.0.0')]))
  await store.close()
}
const versionsIn = async (path = file): Promise<string[]> => {
  const store = await openSqliteReadOnly(path, clock)
  try {
    return (await store.versions(AGENT)).map(({ snapshot }) => snapshot.version)
  } finally {
    await store.close()
  }
}

test('is empty when there is no file, and creates none', async () => {
  expect(await versionsIn()).toEqual([])
  expect(readdirSync(directory)).toEqual([])
})

test('reads what a concurrent writer commits, and does not block the writer', async () => {
  await published()
  const writer = openSqlite(file, { clock })
  const reader = await openSqliteReadOnly(file, clock)
  await writer.createKey(aKey('one'))
  expect((await reader.keys(WORKSPACE)).map(({ name }) => name)).toEqual([aKey('one').name])
  await writer.publish(aPublication([aSnapshot('pay.clerk', '1.1.0')]))
  expect((await reader.versions(AGENT)).map(({ snapshot }) => snapshot.version)).toEqual(['1.1.0', '1.0.0'])
  await reader.close()
  await writer.close()
})

test('writes nothing: SQLite refuses', async () => {
  await published()
  const bytes = readFileSync(file)
  const store = await openSqliteReadOnly(file, clock)
  await expect(store.createKey(aKey('one'))).rejects.toThrow('attempt to write a readonly database')
  await store.close()
  expect(readFileSync(file).equals(bytes)).toBe(true)
})

test('reads a file of an older svc as a copy: the file keeps its schema', async () => {
  const db = connectSqlite(file, {})
  db.pragma('journal_mode = wal')
  migrateSchema(db, file, [])
  db.pragma(`application_id = ${APPLICATION_ID}`)
  db.close()
  expect(await versionsIn()).toEqual([])
  const after = connectSqlite(file, { readonly: true })
  expect(after.pragma('user_version', { simple: true })).toBe(0)
  after.close()
})

test.each([
  ['another program', 7, 1, 'it is a database of another program'],
  ['a newer svc', APPLICATION_ID, 99, 'a newer svc wrote it (schema 99, this one knows'],
  [
    'a development version',
    0x73766331,
    1,
    'a development version from before the first release of svc wrote it (schema 1)',
  ],
])('refuses the file of %s', async (_, application, version, why) => {
  const db = connectSqlite(file, {})
  db.exec('create table t (a)')
  db.pragma(`application_id = ${application}`)
  db.pragma(`user_version = ${version}`)
  db.close()
  await expect(openSqliteReadOnly(file, clock)).rejects.toMatchObject({
    code: 'store_unreadable',
    message: expect.stringContaining(`${file} cannot be used as a store: ${why}`) as string,
  })
})

test('refuses a file that is not a database, and a directory that is a file', async () => {
  writeFileSync(file, 'not a database, but long enough to be taken for one'.repeat(100))
  await expect(openSqliteReadOnly(file, clock)).rejects.toMatchObject({
    code: 'store_unreadable',
    message: `${file} cannot be used as a store: file is not a database.`,
  })
  await expect(openSqliteReadOnly(join(file, 'data.db'), clock)).rejects.toMatchObject({
    code: 'data_directory_unusable',
  })
})

const NOBODY = 65534

// Root may write everywhere, so the test temporarily runs as another user.
test.skipIf(process.platform === 'win32').each([
  ['as a killed process left it', ['data.db', 'data.db-wal'], ['1.1.0', '1.0.0']],
  ['at rest', ['data.db'], ['1.0.0']],
])('reads in a directory that it must not write to, %s', async (_, names, versions) => {
  await published()
  const writer = openSqlite(file, { clock })
  await writer.publish(aPublication([aSnapshot('pay.clerk', '1.1.0')]))
  // As a killed process leaves it: the log is not merged into the database yet.
  const left = join(directory, 'left')
  mkdirSync(left)
  for (const name of names) writeFileSync(join(left, name), readFileSync(join(directory, name)))
  await writer.close()
  for (const name of readdirSync(left)) chmodSync(join(left, name), 0o444)
  chmodSync(left, 0o555)
  chmodSync(directory, 0o755)
  const asNobody = process.getuid?.() === 0
  if (asNobody) process.seteuid!(NOBODY)
  try {
    expect(await versionsIn(join(left, 'data.db'))).toEqual(versions)
  } finally {
    if (asNobody) process.seteuid!(0)
    chmodSync(left, 0o755)
  }
  expect(readdirSync(left)).toEqual(names)
})
