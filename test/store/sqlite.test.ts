import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { connectSqlite } from '../../src/store/sqlite/database/connect.ts'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import type { Session } from '../../src/spec/run/session.ts'
import { holdRestoredWork } from '../../src/store/sqlite/sessions/hold-restored.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { storeContract } from './contract.ts'
import { longSessionContract } from './long-session-contract.ts'
import { actContract } from './act-contract.ts'
import { noticeContract } from './notice-contract.ts'
import { chainContract } from './chain-contract.ts'
import { traceContract } from './trace-contract.ts'
import { sessionContract } from './session-contract.ts'
import { BACKED_UP_AT, RESTORED_AT, restoredContract } from './restored-contract.ts'
import { searchContract } from './search-contract.ts'
import {
  AGENT,
  NOW,
  NO_LIMITS,
  WORKSPACE,
  aKey,
  aPublication,
  aRun,
  aSession,
  aSnapshot,
  aStart,
  aStep,
  aTask,
  anUpdate,
  keyId,
  runId,
  sessionId,
} from './makers.ts'
import { removeDirectory } from '../remove-directory.ts'
import { cases } from '../cases.ts'

const clock: Clock = { now: () => NOW, monotonic: () => NOW }
const root = mkdtempSync(join(tmpdir(), 'svc-store-'))
afterAll(() => removeDirectory(root))
let count = 0
const newPath = () => join(root, `${count++}.db`)

storeContract('sqlite in memory', (clock) => openSqlite(':memory:', { clock }))
longSessionContract('sqlite', (clock) => openSqlite(':memory:', { clock }))
noticeContract('sqlite in memory', (clock) => openSqlite(':memory:', { clock }))
traceContract('sqlite in memory', (clock) => openSqlite(':memory:', { clock }))
chainContract('sqlite in memory', (clock) => openSqlite(':memory:', { clock }))
actContract('sqlite in memory', (clock) => openSqlite(':memory:', { clock }))
sessionContract('sqlite in memory', (clock) => openSqlite(':memory:', { clock }))
storeContract('sqlite in a file', (clock) => openSqlite(newPath(), { clock }))
sessionContract('sqlite in a file', (clock) => openSqlite(newPath(), { clock }))
searchContract('sqlite in memory', (clock) => openSqlite(':memory:', { clock }))
searchContract('sqlite in a file', (clock) => openSqlite(newPath(), { clock }))
restoredContract(
  'sqlite',
  async (clock) => openSqlite(newPath(), { clock }),
  async (store, clock) => {
    const path = newPath()
    await store.backup(path)
    await store.close()
    holdRestoredWork(path, RESTORED_AT, BACKED_UP_AT)
    return openSqlite(path, { clock })
  },
)

describe('a file', () => {
  test('frees at once what an earlier process held: the lock of the directory makes us the only one', async () => {
    const path = newPath()
    const first = openSqlite(path, { clock })
    await first.start(aStart('a'), NO_LIMITS, undefined, { worker: 'ann', ttlMs: 15_000 })
    expect(await first.claim('bob', 9, 15_000)).toEqual([])
    await first.close()
    const second = openSqlite(path, { clock })
    expect(await second.claim('bob', 9, 15_000)).toEqual([{ sessionId: sessionId('a'), epoch: 2 }])
    await second.close()
  })

  test('is the same after it was closed and opened again', async () => {
    const path = newPath()
    const first = openSqlite(path, { clock })
    const limits = { ...NO_LIMITS, ratePerMinute: 1 }
    await first.start(aStart('a'), limits)
    const session = (await first.session(sessionId('a')))!
    const task = aTask(session, 't', { votes: [{ approver: 'operator:ann', approved: true, at: NOW }] })
    await first.save(
      anUpdate(session, {
        tasks: [task],
        setTimers: [{ sessionId: session.id, runId: runId('a'), kind: 'retry', ref: '', at: NOW }],
      }),
    )
    await first.publish(aPublication([aSnapshot('pay.clerk', '1.0.0')]))
    await first.createKey(aKey('one'))
    first.touchKey(keyId('one'), NOW + 5)
    const seen = async (store: typeof first) => ({
      tree: await store.load(session.id),
      events: await store.events(session.id, 0, 10),
      timers: await store.dueTimers(NOW, 10),
      versions: await store.versions(AGENT),
      keys: await store.keys(WORKSPACE),
      sessions: await store.sessions({ workspaceId: WORKSPACE }, { skip: 0, take: 10 }),
    })
    const before = await seen(first)
    await first.close()
    await first.close()

    const second = openSqlite(path, { clock })
    expect(await seen(second)).toEqual(before)
    expect(await second.start(aStart('b'), limits)).toMatchObject({ outcome: 'rate_limited' })
    await second.close()
  })

  test('and the log beside it can be read by their owner only', async () => {
    const path = newPath()
    const store = openSqlite(path, { clock })
    await store.createKey(aKey('one'))
    expect([path, `${path}-wal`, `${path}-shm`].map((file) => statSync(file).mode & 0o777)).toEqual([
      0o600, 0o600, 0o600,
    ])
    await store.close()
  })

  test('holds no word of an erased session, also not where earlier writes have freed pages', async () => {
    const path = newPath()
    const store = openSqlite(path, { clock })
    const ended = { status: 'Completed', output: 'zebra', finishedAt: NOW } as const
    await store.start(aStart('a', ended, { busy: false }), NO_LIMITS)
    for (const times of [2000, 10])
      await store.labelSession(sessionId('a'), { metadata: { animal: 'zebra'.repeat(times) } })
    await store.eraseSession(sessionId('a'), NOW)
    for (const file of [path, `${path}-wal`]) expect(readFileSync(file).includes('zebra')).toBe(false)
    await store.close()
  })

  test('of something else is refused', () => {
    const noDatabase = newPath()
    writeFileSync(noDatabase, 'Dear diary, '.repeat(500))
    const foreign = newPath()
    connectSqlite(foreign, {}).exec('create table diary (entry text)').close()
    for (const [path, why] of [
      [noDatabase, 'file is not a database'],
      [foreign, 'it is a database of another program'],
    ] as const)
      expect(() => openSqlite(path, { clock })).toThrow(
        expect.objectContaining({ code: 'store_unreadable', message: `${path} cannot be used as a store: ${why}.` }),
      )
  })

  test('of a newer svc is refused', async () => {
    const path = newPath()
    await openSqlite(path, { clock }).close()
    const db = connectSqlite(path, {})
    db.pragma('user_version = 99')
    db.close()
    expect(() => openSqlite(path, { clock })).toThrow('a newer svc wrote it (schema 99, this one knows')
  })

  test('that was left by a killed process and is damaged is refused', async () => {
    const path = newPath()
    const store = openSqlite(path, { clock })
    for (let index = 0; index < 200; index++) await store.start(aStart(`s${index}`), NO_LIMITS)
    await store.close()
    const bytes = readFileSync(path)
    // A page of the rows that were stored last, which opening the file does not read.
    const at = bytes.lastIndexOf(sessionId('s150').slice(0, 18)) & ~4095
    bytes.fill(0xff, at, at + 4096)
    writeFileSync(path, bytes)
    await openSqlite(path, { clock }).close()
    writeFileSync(`${path}-wal`, 'left')
    expect(() => openSqlite(path, { clock })).toThrow(/^.* cannot be used as a store: it is damaged/)
  })

  test('of a directory that is not there is not made', () => {
    const path = join(root, 'none', 'data.db')
    expect(() => openSqlite(path, { clock })).toThrow('there is no such file or directory')
  })
})

test('the schema after all migrations is test/store/schema.sql', async () => {
  const path = newPath()
  await openSqlite(path, { clock }).close()
  const db = connectSqlite(path, { readonly: true })
  const rows = db
    .prepare<[], { sql: string }>('select sql from sqlite_schema where sql is not null order by rowid')
    .all()
  db.close()
  expect(rows.map(({ sql }) => `${sql};\n`).join('\n')).toBe(
    readFileSync(resolve(import.meta.dirname, 'schema.sql'), 'utf8'),
  )
})

test('the words that are found are those of the runs, after every start, end, erasure and deletion', async () => {
  const path = newPath()
  const act = fc.constantFrom('go on', 'go on', 'end', 'end', 'erase', 'delete')
  const acts = fc.array(fc.tuple(fc.nat({ max: 1 }), act), { minLength: 4, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(acts, async (history) => {
      const store = openSqlite(path, { clock })
      await store.deleteAllRuns()
      for (const [at, act] of history) {
        const session = await store.session(sessionId(`s${at}`))
        const change = { status: 'Completed', finishedAt: NOW, output: `said\n${history.length}` } as const
        const begun = { status: 'Running', finishedAt: null, output: null } as const
        if (act === 'delete') await store.deleteEndedSessions(NOW + 1, 1)
        else if (!session) await store.start(aStart(`s${at}`, { input: { text: `asked\t${at}` } }), NO_LIMITS)
        else if (session.erasedAt !== undefined) continue
        else if (act === 'erase') await store.eraseSession(session.id, NOW).catch(() => undefined)
        else {
          const next = { ...session, ...(act === 'end' ? change : begun) }
          await store.save(anUpdate(next, { runs: [aRun(next)], busy: act !== 'end' }))
        }
      }
      await store.close()
      const db = connectSqlite(path, {})
      for (const index of ['run_input', 'run_output'])
        db.exec(`insert into ${index} (${index}, rank) values ('integrity-check', 1)`)
      db.close()
    }),
    { numRuns: cases(40) },
  )
})

test('an erasure leaves none of the words that were searched in the file', async () => {
  const path = newPath()
  const store = openSqlite(path, { clock })
  for (const name of ['a', 'b', 'c']) {
    await store.start(aStart(name, { input: { animal: `zebrafish${name}` } }), NO_LIMITS)
    const ended = {
      ...(await store.session(sessionId(name)))!,
      status: 'Completed',
      finishedAt: NOW,
      output: `axolotl${name}`,
    }
    await store.save(anUpdate(ended as Session, { runs: [aRun(ended as Session)], busy: false }))
  }
  await store.eraseSession(sessionId('b'), NOW)
  await store.close()
  const text = readFileSync(path, 'latin1')
  expect(text).toContain('zebrafisha')
  expect(text).not.toMatch(/(?:zebrafish|axolotl)b/)
  const db = connectSqlite(path, { readonly: true })
  const words = ['run_input', 'run_output'].flatMap((index) => {
    db.exec(`create virtual table temp.${index}_words using fts5vocab (main, ${index}, row)`)
    return db.prepare<[], string>(`select term from temp.${index}_words`).pluck().all()
  })
  db.close()
  expect(words.filter((word) => /zebrafish|axolotl/.test(word))).toEqual([
    'zebrafisha',
    'zebrafishc',
    'axolotla',
    'axolotlc',
  ])
})

test('the last use of a key is written every ten seconds, and at the end', async () => {
  const path = newPath()
  const store = openSqlite(path, { clock })
  const reader = connectSqlite(path, { readonly: true })
  const written = () => reader.prepare('select last_used_at from api_key').pluck().all()
  await store.createKey(aKey('one'))
  const uses = [NOW, NOW + 9_999, NOW + 10_000, NOW + 10_001]
  const seen = []
  for (const [index, at] of uses.entries()) {
    store.touchKey(keyId('one'), at)
    await store.start(aStart(`s${index}`), NO_LIMITS)
    seen.push(...written())
  }
  await store.close()
  expect([...seen, ...written()]).toEqual([NOW, NOW, NOW + 10_000, NOW + 10_000, NOW + 10_001])
  reader.close()
})

test('a large result is written once, and deleted with the last step that has it', async () => {
  const path = newPath()
  const store = openSqlite(path, { clock })
  const session = aSession('a')
  const content = { result: 'x'.repeat(300_000) }
  const steps = [1, 2].map((ordinal) => aStep(session, ordinal, { type: 'ToolResult', content }))
  await store.start(aStart('a', {}, { steps }), NO_LIMITS)
  await store.close()
  const db = connectSqlite(path, {})
  const kept = () => db.prepare<[], number>('select length(result) from large_result').pluck().all()
  expect(db.prepare('select content from step').pluck().all()).toEqual(['{"result":null}', '{"result":null}'])
  expect(kept()).toEqual([300_002])
  db.exec('delete from step where ordinal = 1')
  expect(kept()).toEqual([300_002])
  db.exec('delete from step')
  expect(kept()).toEqual([])
  db.close()
})

test('published versions, events and steps cannot be changed, not even by SQL', async () => {
  const path = newPath()
  const store = openSqlite(path, { clock })
  await store.publish(
    aPublication([aSnapshot('pay.clerk', '1.0.0')], {
      documents: [{ kind: 'Tool', id: 'a.b', version: '1', digest: 'sha256:1', document: {} }],
    }),
  )
  const session = aSession('a')
  await store.start(aStart('a', {}, { steps: [aStep(session, 1)] }), NO_LIMITS)
  await store.close()
  const db = connectSqlite(path, {})
  for (const sql of [
    `update version set snapshot = '{}'`,
    `update document set document = '{}'`,
    `update event set data = '{}'`,
  ])
    expect(() => db.exec(sql)).toThrow(/never changes/)
  expect(() => db.exec(`update step set content = '{}'`)).toThrow('of a step only its end is written later')
  db.close()
})
