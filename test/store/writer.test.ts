import { existsSync, mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { connectSqlite } from '../../src/store/sqlite/database/connect.ts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createOutageLog } from '../../src/store/outage-log.ts'
import { openBallast } from '../../src/store/sqlite/database/ballast.ts'
import { createWriter, type GroupWriter } from '../../src/store/sqlite/database/writer.ts'
import { removeDirectory } from '../remove-directory.ts'

let db: Database.Database
let commits: string[]
let writer: GroupWriter
beforeEach(() => {
  db = connectSqlite(':memory:', {})
  db.exec('create table line (text text not null)')
  commits = []
  writer = createWriter(db, [], () => commits.push(lines().join(' ')))
})
afterEach(() => db.close())

const lines = () =>
  db
    .prepare<[], { text: string }>('select text from line order by rowid')
    .all()
    .map(({ text }) => text)
const add = (text: string) => writer.write(() => db.prepare('insert into line values (?)').run(text).changes)

test('commits the writes of a tick as one group', async () => {
  expect(await Promise.all([add('a'), add('b'), add('c')])).toEqual([1, 1, 1])
  await add('d')
  expect(commits).toEqual(['a b c', 'a b c d'])
})

test('rolls back only the failing write of a group', async () => {
  const failing = writer.write(() => {
    db.exec(`insert into line values ('half')`)
    throw new Error('no')
  })
  const outcomes = await Promise.allSettled([add('a'), failing, add('b')])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(lines()).toEqual(['a', 'b'])
})

test('stores nothing of a group whose commit fails, and continues with the next group', async () => {
  db.exec('create table kept (id integer primary key, of integer references kept (id) deferrable initially deferred)')
  const dangling = writer.write(() => db.exec('insert into kept values (1, 2)'))
  const outcomes = await Promise.allSettled([add('a'), dangling])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(lines()).toEqual([])
  await add('b')
  expect(lines()).toEqual(['b'])
})

test('reports a full disk, and writes again when there is space', async () => {
  const before = db.pragma('page_count', { simple: true }) as number
  db.pragma(`max_page_count = ${before + 2}`)
  await expect(add('x'.repeat(100_000))).rejects.toMatchObject({ code: 'storage_full', status: 503 })
  db.pragma('max_page_count = 100000')
  expect(await add('small')).toBe(1)
  expect(lines()).toEqual(['small'])
})

test('on a full disk the ballast makes room for outcomes, and new work is refused', async () => {
  const most = (db.pragma('page_count', { simple: true }) as number) + 2
  db.pragma(`max_page_count = ${most}`)
  let held = true
  const ballast = {
    release: () => {
      if (!held) return false
      held = false
      db.pragma('max_page_count = 100000')
      return true
    },
    isHeld: () => held,
  }
  const guarded = createWriter(db, [], () => {}, ballast)
  const put = (text: string, kept: boolean) =>
    guarded.write(() => db.prepare('insert into line values (?)').run(text).changes, kept)
  const outcomes = await Promise.allSettled([put('new', false), put('outcome'.repeat(10_000), true)])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  await expect(put('new', false)).rejects.toMatchObject({ code: 'storage_full' })
  expect(await put('outcome', true)).toBe(1)
  held = true
  expect(await put('new', false)).toBe(1)
  expect(lines().map((line) => line.slice(0, 7))).toEqual(['outcome', 'outcome', 'new'])
})

test('an operator is told once of a full disk, and once that there is room', async () => {
  const told: object[] = []
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const outages = createOutageLog({ write: (_, message, about) => void told.push({ message, ...about }) })
  const guarded = createWriter(db, [], () => {}, undefined, outages)
  const put = (text: string) => guarded.write(() => db.prepare('insert into line values (?)').run(text).changes)
  await put('first')
  db.pragma(`max_page_count = ${(db.pragma('page_count', { simple: true }) as number) + 2}`)
  for (let n = 0; n < 3; n++) await expect(put('x'.repeat(100_000))).rejects.toMatchObject({ code: 'storage_full' })
  const full = {
    message: 'the database cannot be used now',
    code: 'storage_full',
    detail: 'database or disk is full',
  }
  expect(told).toEqual([full])
  db.pragma('max_page_count = 100000')
  now += 5000
  await put('small')
  expect(told).toEqual([full, { message: 'the database can be used again', refused: 3 }])
})

test('the ballast is a file of its size, and is reserved again when there is space', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'svc-ballast-'))
  const file = join(directory, 'ballast')
  let now = 0
  const ballast = openBallast(file, 1000, { monotonic: () => now })
  await vi.waitFor(() => expect(statSync(file).size).toBe(1000), 50_000)
  expect([ballast.isHeld(), ballast.release(), ballast.isHeld(), ballast.release()]).toEqual([true, true, false, false])
  expect(existsSync(file)).toBe(false)
  now += 5000
  ballast.isHeld()
  await vi.waitFor(() => expect(ballast.isHeld()).toBe(true), 50_000)
  expect(statSync(file).size).toBe(1000)
  const nowhere = openBallast(join(directory, 'none', 'ballast'), 1000, { monotonic: () => now })
  await vi.waitFor(() => expect(nowhere.isHeld()).toBe(false), 50_000)
  removeDirectory(directory)
})

test('splits too many writes for one group into several, in order', async () => {
  await Promise.all(Array.from({ length: 450 }, (_, index) => add(String(index))))
  expect(commits.map((each) => each.split(' ').length)).toEqual([200, 400, 450])
  expect(lines()).toEqual(Array.from({ length: 450 }, (_, index) => String(index)))
})

test('the next writes of all writers of one commit share one commit, however late the last one continues', async () => {
  await Promise.all(Array.from({ length: 40 }, (_, index) => add(`a${index}`).then(() => add(`b${index}`))))
  expect(commits.map((each) => each.split(' ').length)).toEqual([40, 80])
})

test('a flush commits waiting writes at once', async () => {
  const writing = add('a')
  writer.flush()
  expect(lines()).toEqual(['a'])
  expect(await writing).toBe(1)
})
