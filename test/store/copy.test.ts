/** Moving everything between SQLite and PostgreSQL. */
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { digestOf } from '../../src/base/digest.ts'
import { openDatabase } from '../../src/store/sqlite/database/database.ts'
import { movedTo } from '../../src/store/sqlite/database/moved.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { lockDirectory } from '../../src/store/sqlite/database/lock.ts'
import { copyStore, type CopyProgress } from '../../src/store/copy/copy-store.ts'
import type { CopyTarget } from '../../src/store/copy/copy-side.ts'
import { openPostgresSource, openPostgresTarget, reopenDatabase } from '../../src/store/copy/postgres-side.ts'
import { openSqliteSource, openSqliteTarget, reopenDirectory } from '../../src/store/copy/sqlite-side.ts'
import { migrateDatabase } from '../../src/store/postgres/migrate-database.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import type { Store } from '../../src/store/store.ts'
import { dumpSqlite, fillSqlite } from './filled-sqlite.ts'
import {
  AGENT,
  aFile,
  aKey,
  anOperatorKey,
  aPublication,
  aSnapshot,
  aStart,
  aStep,
  aTrigger,
  anUpdate,
  NO_LIMITS,
  NOW,
  runId,
  sessionId,
  WORKSPACE,
} from './makers.ts'
import { anAct, verifySetup } from './act-contract.ts'
import { setUpEverything } from './set-up.ts'
import { startPostgres } from './postgres-server.ts'
import { removeDirectory } from '../remove-directory.ts'

const server = startPostgres()
afterAll(() => server?.stop())

describe.skipIf(!server)('a copy', () => {
  let count = 0
  let url = ''
  let parent = ''
  const clock = { now: () => Date.now(), monotonic: () => performance.now() }
  beforeEach(() => {
    url = server!.url(`copy_${count++}`)
    parent = mkdtempSync(join(tmpdir(), 'svc-copy-'))
    return () => removeDirectory(parent)
  })
  const place = (name: string): string => join(parent, name)
  /** A data directory with what `fill` writes. */
  function directoryWith(fill: (file: string) => void, name = 'from'): string {
    const directory = place(name)
    lockDirectory(directory).release()
    fill(join(directory, 'data.db'))
    return directory
  }
  const filled = (): string =>
    directoryWith((file) => {
      const db = openDatabase(file)
      fillSqlite(db)
      db.close()
    })
  const dump = (directory: string) => {
    const db = openDatabase(join(directory, 'data.db'))
    try {
      return dumpSqlite(db)
    } finally {
      db.close()
    }
  }
  const toPostgres = async (directory: string, seen: CopyProgress[] = []) => {
    const source = openSqliteSource(directory)
    let target: CopyTarget | undefined
    try {
      target = await openPostgresTarget(url, 'svc')
      return await copyStore(source, target, (progress) => seen.push(progress))
    } finally {
      await target?.close()
      await source.close()
    }
  }
  const toSqlite = async (directory: string) => {
    const source = await openPostgresSource(url, 'svc')
    const target = openSqliteTarget(directory)
    try {
      return await copyStore(source, target, () => {})
    } finally {
      await target.close()
      await source.close()
    }
  }

  test('to PostgreSQL and back has every value of every table, and one digest', async () => {
    const directory = filled()
    const original = dump(directory)
    // Every column has a value somewhere, so that the comparison would miss none.
    const empty = Object.entries(original).flatMap(([table, rows]) =>
      Object.keys(rows[0]!)
        .filter((column) => rows.every((row) => (row as Record<string, unknown>)[column] === null))
        .map((column) => `${table}.${column}`),
    )
    expect(empty).toEqual(['session.owner', 'session.lease_until'])
    const there = await toPostgres(directory)
    expect(existsSync(place('back'))).toBe(false)
    const back = await toSqlite(place('back'))
    expect(back).toEqual(there)
    expect(dump(place('back'))).toEqual(original)
  })

  test('is read as the original is: what was published with its files, triggers, keys and acts of operators', async () => {
    const directory = directoryWith(() => {})
    const reads = async (store: Store): Promise<readonly unknown[]> => [
      await store.agents(WORKSPACE),
      await store.versions(AGENT),
      await store.sources(WORKSPACE, { kind: 'Agent', id: 'pay.clerk', version: '1.0.0' }),
      await store.triggers(WORKSPACE),
      await store.keyByHash(aKey('one').hash),
      await store.operatorKeys(WORKSPACE),
      await store.pauses(WORKSPACE),
      await store.workspaceHistory(WORKSPACE),
      await store.effects({ workspaceId: WORKSPACE }, { skip: 0, take: 9 }),
      await store.files(WORKSPACE, { skip: 0, take: 9 }),
    ]
    const still = { now: () => NOW, monotonic: () => NOW }
    const store = openSqlite(join(directory, 'data.db'), { clock: still })
    const files = [{ path: 'agents/clerk.yaml', text: 'kind: Agent # "pay"\n' }]
    await store.publish(
      aPublication([aSnapshot('pay.clerk', '1.0.0')], { written: { closureDigest: digestOf('closure'), files } }),
    )
    await store.createTrigger(aTrigger({ input: { a: 1 } }))
    await store.createKey(aKey('one'))
    await store.createOperatorKey(anOperatorKey('ann'))
    const act = { at: NOW, by: 'operator:ann', reason: 'test' }
    await store.setPaused(WORKSPACE, { ...act, kind: 'tool', name: 'pay.refund', isPaused: true })
    await store.setStandingRevoked(WORKSPACE, { ...act, name: 'small refunds', isRevoked: true })
    const ids = { sessionId: sessionId('outside'), runId: runId('outside') }
    await store.recordKnownEffects(WORKSPACE, { ...act, ...ids, keys: [{ id: 'e1', key: 'k', shown: 'k' }] })
    await store.presignFile(aFile('a.txt'), null)
    await store.finalizeFile(aFile('a.txt').id, 7, NOW)
    const original = await reads(store)
    await store.close()
    expect(original[2]).toMatchObject({ files: [{ path: 'agents/clerk.yaml', text: 'kind: Agent # "pay"\n' }] })
    await toPostgres(directory)
    const copy = await openPostgres({ url, clock: still })
    expect(await reads(copy)).toEqual(original)
    await copy.close()
  })

  test('has what operators set up as their acts say, whichever database wrote the acts', async () => {
    const still = { now: () => NOW, monotonic: () => NOW }
    const directory = directoryWith(() => {})
    const store = openSqlite(join(directory, 'data.db'), { clock: still })
    await setUpEverything(store, anAct)
    const rows = await store.setupRows(WORKSPACE, undefined, 1000)
    await store.close()
    await toPostgres(directory)
    const copy = await openPostgres({ url, clock: still })
    expect(await copy.setupRows(WORKSPACE, undefined, 1000)).toEqual(rows)
    expect(await verifySetup(copy)).toEqual({ offence: undefined, checked: rows.length })
    await copy.close()
  })

  test('is marked at its source, which is then neither copied nor served again, until it is reopened', async () => {
    const directory = filled()
    await toPostgres(directory)
    expect(movedTo(directory)).toMatch(/copy_\d+$/)
    await expect(toPostgres(directory)).rejects.toMatchObject({ code: 'store_moved' })
    await toSqlite(place('back'))
    await expect(openPostgres({ url })).rejects.toMatchObject({ code: 'store_moved' })
    await expect(toSqlite(place('again'))).rejects.toMatchObject({ code: 'store_moved' })
    expect(await reopenDatabase(url, 'svc')).toBe(place('back'))
    await (await openPostgres({ url })).close()
    expect(reopenDirectory(directory)).toMatch(/copy_\d+$/)
    expect(reopenDirectory(directory)).toBeUndefined()
  })

  test('is refused where the target has rows, or the source is held, served or not there', async () => {
    const directory = filled()
    const lock = lockDirectory(directory)
    await expect(toPostgres(directory)).rejects.toMatchObject({ code: 'store_locked' })
    lock.release()
    await expect(toPostgres(place('nowhere'))).rejects.toMatchObject({ code: 'store_absent' })
    await migrateDatabase(url)
    const store = await openPostgres({ url })
    await store.report({
      id: 'host:1:a',
      version: '1',
      startedAt: 0,
      url: null,
      peerUrl: null,
      isDraining: false,
      ports: [],
      addresses: [],
    })
    await expect(toPostgres(directory)).rejects.toMatchObject({ code: 'store_served' })
    await expect(toSqlite(place('back'))).rejects.toMatchObject({ code: 'store_served' })
    await store.forgetWorker('host:1:a')
    await store.start(aStart('a'), NO_LIMITS)
    await store.close()
    await expect(toPostgres(directory)).rejects.toMatchObject({
      code: 'store_not_empty',
      message: expect.stringContaining('has rows already (in agent)'),
    })
    expect(movedTo(directory)).toBeUndefined()
  })

  test('that differs, or fails half-way, leaves nothing and closes nothing', async () => {
    const directory = filled()
    const attempt = async (weaken: (target: CopyTarget) => CopyTarget) => {
      const source = openSqliteSource(directory)
      const target = await openPostgresTarget(url, 'svc')
      try {
        return await copyStore(source, weaken(target), () => {})
      } finally {
        await target.close()
        await source.close()
      }
    }
    // Negative controls: a row that is lost, and one that is changed.
    const losing = (target: CopyTarget): CopyTarget => ({
      ...target,
      write: (table, rows) => target.write(table, table.name === 'vote' ? rows.slice(1) : rows),
    })
    await expect(attempt(losing)).rejects.toMatchObject({
      code: 'store_copy_differs',
      message: expect.stringContaining('The rows of vote'),
    })
    const breaking = (target: CopyTarget): CopyTarget => ({
      ...target,
      write: (table, rows) =>
        table.name === 'effect' ? Promise.reject(new Error('the disk is full')) : target.write(table, rows),
    })
    await expect(attempt(breaking)).rejects.toThrow('the disk is full')
    expect(movedTo(directory)).toBeUndefined()
    expect((await attempt((target) => target)).rows).toBeGreaterThan(90)
  })

  test('while it is made, nobody writes to its source', async () => {
    await migrateDatabase(url)
    const store = await openPostgres({ url })
    await store.start(aStart('a'), NO_LIMITS)
    const source = await openPostgresSource(url, 'svc')
    let isWritten = false
    const written = store.start(aStart('b'), NO_LIMITS).then(() => (isWritten = true))
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(isWritten).toBe(false)
    await source.close()
    await written
    await store.close()
  })

  test('gives the store what is not copied: counts, words and an order', async () => {
    const store = await new Promise<Store>((resolve) => {
      directoryWith((file) => resolve(openSqlite(file, { clock })))
    })
    for (const name of ['ann', 'bob', 'cid']) {
      await store.start(aStart(name), NO_LIMITS)
      const session = (await store.session(sessionId(name)))!
      await store.save(anUpdate(session, { steps: [aStep(session, 1)], busy: false }))
    }
    await store.presignFile(aFile('f'), null)
    const seen = async (each: Store) => ({
      found: (await each.runs({ workspaceId: WORKSPACE, text: 'bob' }, { skip: 0, take: 9 })).items,
      total: (await each.sessions({ agentId: AGENT, workspaceId: WORKSPACE }, { skip: 0, take: 9 })).total,
      order: (await each.runs({ workspaceId: WORKSPACE }, { skip: 0, take: 9 })).items.map(({ id }) => id),
      steps: await each.stepsOfSession(sessionId('ann')),
      events: await each.events(sessionId('ann'), 0, 9),
    })
    const before = await seen(store)
    expect([before.found.length, before.total]).toEqual([1, 3])
    await store.close()
    const progress: CopyProgress[] = []
    await toPostgres(place('from'), progress)
    expect(progress.at(-1)!.doing).toBe('comparing')
    const copied = await openPostgres({ url })
    expect(await seen(copied)).toEqual(before)
    await copied.close()
    await toSqlite(place('back'))
    const back = openSqlite(join(place('back'), 'data.db'), { clock })
    expect(await seen(back)).toEqual(before)
    await back.close()
  })
})
