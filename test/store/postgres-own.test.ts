/** What only a database that several processes share can show. */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { SessionHint } from '../../src/store/lease.ts'
import { migrateDatabase } from '../../src/store/postgres/migrate-database.ts'
import { openPool, type PostgresPool } from '../../src/store/postgres/database/pool.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import type { Store } from '../../src/store/store.ts'
import {
  AGENT,
  NOW,
  NO_LIMITS,
  WORKSPACE,
  aKey,
  aRun,
  aStart,
  aStep,
  anUpdate,
  keyId,
  runId,
  sessionId,
} from './makers.ts'
import { openPostgresProxy, REPLY_FAULTS, type PostgresProxy } from './postgres-proxy.ts'
import { startPostgres } from './postgres-server.ts'

const server = startPostgres()
afterAll(() => server?.stop())

describe.skipIf(!server)('a PostgreSQL that processes share', () => {
  let count = 0
  let database = ''
  let proxy: PostgresProxy
  let admin: PostgresPool
  const stores: Store[] = []
  const open = async (url = server!.url(database)): Promise<Store> => {
    const store = await openPostgres({ url, connections: 4 })
    stores.push(store)
    return store
  }
  beforeAll(async () => {
    proxy = await openPostgresProxy(server!.socket)
  })
  afterAll(() => proxy.close())
  beforeEach(async () => {
    database = `own_${count++}`
    await migrateDatabase(server!.url(database))
    admin = await openPool({ url: server!.url(database), schema: 'svc', name: 'admin', connections: 3 })
    return async () => {
      for (const store of stores.splice(0)) await store.close()
      await admin.close()
    }
  })

  const start = async (store: Store, name: string) => {
    expect(await store.start(aStart(name), NO_LIMITS)).toEqual({ outcome: 'started' })
    return (await store.session(sessionId(name)))!
  }

  describe('where the database does not answer', () => {
    test(
      'it answers again soon after the network does, though no connection has ended',
      { timeout: 120_000 },
      async () => {
        const store = await open(proxy.url(database))
        const readAll = () => Promise.allSettled(Array.from({ length: 4 }, () => store.keys(WORKSPACE)))
        await readAll()
        proxy.swallow(true)
        const stuck = readAll()
        await vi.waitFor(() => expect(proxy.swallowed()).toBe(4))
        proxy.swallow(false)
        const from = performance.now()
        await vi.waitFor(() => store.keys(WORKSPACE), { timeout: 60_000, interval: 100 })
        // Without a look at the connections it takes the 35 s of a statement.
        expect(performance.now() - from).toBeLessThan(25_000)
        await stuck
      },
    )

    test('a statement that takes long is left alone', { timeout: 120_000 }, async () => {
      const pool = await openPool({ url: proxy.url(database), schema: 'svc', name: 'slow', connections: 1 })
      expect(await pool.row('select 1 as done from pg_sleep(8)')).toEqual({ done: 1 })
      await pool.close()
    })

    test(
      'the listening connection is opened again, and told that hints may be lost',
      { timeout: 120_000 },
      async () => {
        const store = await open(proxy.url(database))
        const over = new AbortController()
        const hints = store.hints(over.signal)[Symbol.asyncIterator]()
        const first = hints.next()
        await vi.waitFor(async () => {
          const listening = await admin.rows(`select 1 from pg_stat_activity where query like 'listen%'`)
          expect(listening).toHaveLength(1)
        })
        proxy.swallow(true)
        await vi.waitFor(() => expect(proxy.swallowed('select 1')).toBeGreaterThan(0), { timeout: 60_000 })
        proxy.swallow(false)
        expect(await first).toEqual({ done: false, value: 'all' })
        over.abort()
        await hints.return?.(undefined)
      },
    )

    test('it can be closed', { timeout: 120_000 }, async () => {
      const store = await openPostgres({ url: proxy.url(database), connections: 4 })
      const over = new AbortController()
      const hints = store.hints(over.signal)[Symbol.asyncIterator]()
      const next = hints.next()
      await store.keys(WORKSPACE)
      proxy.swallow(true)
      const stuck = store.keys(WORKSPACE).catch((error: unknown) => error)
      over.abort()
      await store.close()
      expect(await stuck).toBeInstanceOf(Error)
      expect(await next).toEqual({ done: true, value: undefined })
      proxy.swallow(false)
    })
  })

  describe('where the connection breaks during a save', () => {
    test.each(REPLY_FAULTS)(
      'a commit is found out in spite of its %s, with the lease that the save gave',
      async (fault) => {
        const store = await open(proxy.url(database))
        const session = await start(store, 'a')
        proxy.loseNext('save_sessions', fault)
        expect(
          await store.save(anUpdate(session, { subjects: ['engine.run.paused'] }), { worker: 'ann', ttlMs: 9000 }),
        ).toEqual({
          sessionId: session.id,
          epoch: 1,
        })
        expect((await store.events(session.id, 0, 9)).map(({ seq }) => seq)).toEqual([1, 2, 3])
      },
    )

    test.each(REPLY_FAULTS)('a start whose answer meets a %s is no second start', async (fault) => {
      const store = await open(proxy.url(database))
      proxy.loseNext('start_sessions', fault)
      expect(await store.start(aStart('a'), NO_LIMITS)).toEqual({ outcome: 'started' })
      expect((await store.sessions({ workspaceId: WORKSPACE }, { skip: 0, take: 9 })).total).toBe(1)
    })

    test('a save that the server never got is reported as such', async () => {
      const store = await open(proxy.url(database))
      const session = await start(store, 'a')
      proxy.loseNext('save_sessions', 'statement')
      await expect(store.save(anUpdate(session))).rejects.toMatchObject({ code: 'store_unreachable' })
      expect((await store.session(session.id))!.version).toBe(1)
    })

    test('a save that still waits on the server is ended first, so that it never commits after the answer', async () => {
      const store = await open(proxy.url(database))
      const session = await start(store, 'a')
      let saved: Promise<unknown> | undefined
      await admin.transaction(async (tx) => {
        await tx.rows('select id from session where id = :id for update', { id: session.id })
        proxy.loseNext('save_sessions', 'connection')
        saved = store.save(anUpdate(session)).then(
          () => 'saved',
          (error: { code: string }) => error.code,
        )
        expect(await saved).toBe('store_unreachable')
      })
      expect((await store.session(session.id))!.version).toBe(1)
      await store.save(anUpdate(session))
      expect((await store.session(session.id))!.version).toBe(2)
    })
  })

  test('a release does not free the key of a call that took it meanwhile', async () => {
    const store = await open()
    const session = await start(store, 'a')
    const holds = async () =>
      (await store.effects({ workspaceId: WORKSPACE, key: 'k' }, { skip: 0, take: 9 })).map(({ holds: each }) => each)
    let released: Promise<readonly unknown[]> | undefined
    await admin.transaction(async (tx) => {
      // Lets the release read, and its change wait.
      await tx.rows('lock table effect in share row exclusive mode')
      released = store.releaseEffect(WORKSPACE, 'k', 'operator:ana', 'why', NOW)
      await vi.waitFor(async () => {
        const [waiting] = await admin.rows(`select 1 from pg_locks where not granted and relation = 'effect'::regclass`)
        expect(waiting).toBeDefined()
      }, 50_000)
      await tx.run(
        `insert into effect (
           id, workspace_id, key, shown, session_id, run_id, call_id, tool, tool_version, agent, agent_version,
           arguments_digest, at, not_after, state, approved_by, holds
         )
         values ('b', :workspaceId, 'k', 'k', :id, :runId, 'c', 't', '1', 'a', '1', 'd', :now, :now, 'in_flight', '[]', true)`,
        { workspaceId: WORKSPACE, id: session.id, runId: session.rootRunId, now: NOW },
      )
    })
    expect(await released).toEqual([])
    expect(await holds()).toEqual([true])
  })

  test('another process is told of a change at once, and whether the session is free', async () => {
    const [one, two] = [await open(), await open()]
    const stop = new AbortController()
    const hints = two.hints(stop.signal)[Symbol.asyncIterator]()
    const first = hints.next()
    const told: SessionHint[] = []
    // The listener may not listen yet: hints may get lost, so it is told until it hears.
    for (let n = 0; told.length === 0; n++) {
      await one.start(aStart(`s${n}`), NO_LIMITS, undefined, { worker: 'ann', ttlMs: 9000 })
      const heard = await Promise.race([first, new Promise<undefined>((resolve) => setTimeout(resolve, 50))])
      if (heard && !heard.done) told.push(heard.value)
    }
    expect(told[0]).toMatchObject({ isFree: false })
    const session = await start(one, 'free')
    const waitFor = async (isFree: boolean) => {
      for (;;) {
        const { value } = (await hints.next()) as { value: SessionHint }
        if (value !== 'all' && value.isFree === isFree && value.sessions.includes(session.id)) return true
      }
    }
    expect(await waitFor(true)).toBe(true)
    const lease = (await one.claimOne('ann', session.id, 9000))!
    await one.save(anUpdate(session), { worker: 'ann', ttlMs: 9000, epoch: lease.epoch })
    expect(await waitFor(false)).toBe(true)
    await one.release('ann', [lease])
    expect(await waitFor(true)).toBe(true)
    stop.abort()
    await hints.return?.()
  })

  test('2,000 parallel starts at limit 10 over four processes start exactly 10', async () => {
    const four = await Promise.all(Array.from({ length: 4 }, () => open()))
    const outcomes = await Promise.all(
      Array.from({ length: 2000 }, (_, n) =>
        four[n % 4]!.start(aStart(`s${n}`), { ...NO_LIMITS, maxConcurrentRuns: 10, ratePerMinute: 1500 }),
      ),
    )
    expect(outcomes.filter(({ outcome }) => outcome === 'started')).toHaveLength(10)
    expect((await four[0]!.runs({ workspaceId: WORKSPACE, agentId: AGENT }, { skip: 0, take: 1 })).total).toBe(10)
  })

  test.each([
    ['a rate of 30 a minute', { ratePerMinute: 30 }],
    ['a rate of 30 a day', { ratePerDay: 30 }],
    ['a plan of 30 runs a day', { planRunsPerDay: 30 }],
  ])('200 parallel starts over four processes at %s start exactly 30', async (_, limit) => {
    const four = await Promise.all(Array.from({ length: 4 }, () => open()))
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, n) => four[n % 4]!.start(aStart(`s${n}`), { ...NO_LIMITS, ...limit })),
    )
    expect(outcomes.filter(({ outcome }) => outcome === 'started')).toHaveLength(30)
  })

  test('of two processes that counted the same history, the slower one is refused', async () => {
    const two = [await open(), await open()]
    const sessions = await Promise.all(['a', 'b'].map((name) => start(two[0]!, name)))
    const seen = (await two[0]!.workspaceHistory(WORKSPACE)).version
    const outcomes = await Promise.all(
      sessions.map((session, at) =>
        two[at]!.save({ ...anUpdate(session), historySeen: seen }).then(
          () => 'saved',
          (error: { code: string }) => error.code,
        ),
      ),
    )
    expect(outcomes.toSorted()).toEqual(['history_moved_on', 'saved'])
    expect((await two[1]!.workspaceHistory(WORKSPACE)).version).toBe(seen + 1)
  })

  test('one key starts one run, whichever process is asked', async () => {
    const two = [await open(), await open()]
    const claim = {
      principal: 'key:1',
      route: 'start',
      key: 'k',
      bodyDigest: 'sha256:1' as never,
      response: {},
      expiresAt: Date.now() + 60_000,
    }
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, n) => two[n % 2]!.start(aStart(`s${n}`), NO_LIMITS, claim)),
    )
    expect(outcomes.filter(({ outcome }) => outcome === 'started')).toHaveLength(1)
    expect(outcomes.filter(({ outcome }) => outcome === 'replayed')).toHaveLength(99)
  })

  test('processes that save the same sessions in any order wait for no deadlock', async () => {
    const two = [await open(), await open()]
    const sessions = await Promise.all(Array.from({ length: 40 }, (_, n) => start(two[0]!, `s${n}`)))
    const outcomes = await Promise.all(
      two.map((store, index) =>
        Promise.allSettled(
          (index === 0 ? sessions : sessions.toReversed()).map((session) => store.save(anUpdate(session))),
        ),
      ),
    )
    const saved = outcomes.flat().filter(({ status }) => status === 'fulfilled')
    expect(saved).toHaveLength(40)
    const refused = outcomes
      .flat()
      .flatMap((each) => (each.status === 'rejected' ? [each.reason as { code: string }] : []))
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['run_moved_on']))
  })

  test('starts and saves that count for the same agent and day wait for no deadlock', async () => {
    const store = await open()
    const lanes = Array.from({ length: 30 }, async (_, lane) => {
      for (let n = 0; n < 20; n++) {
        const session = await start(store, `s${lane * 20 + n}`)
        await store.save(anUpdate({ ...session, status: 'WaitingForHITL', totalTokensUsed: 1 }))
        const waiting = (await store.session(session.id))!
        await store.save(anUpdate({ ...waiting, status: 'Completed', finishedAt: NOW, totalTokensUsed: 3 }))
      }
    })
    await Promise.all(lanes)
    await admin.run('select pg_stat_clear_snapshot()')
    expect(
      await admin.row('select deadlocks::int from pg_stat_database where datname = current_database()', {}),
    ).toEqual({ deadlocks: 0 })
    expect(await admin.rows('select runs::int, tokens::int from plan_day', {})).toEqual([{ runs: 600, tokens: 1800 }])
    expect(await admin.rows('select what, counted::int from agent_count where counted <> 0 order by what', {})).toEqual(
      [
        { what: 'Completed', counted: 600 },
        { what: 'runs', counted: 600 },
      ],
    )
  })

  test('a revoked key and a yanked version count at once in every process', async () => {
    const [one, two] = [await open(), await open()]
    await one.createKey(aKey('k'))
    expect((await two.keyByHash(aKey('k').hash))?.key.revokedAt).toBeNull()
    await one.revokeKey(keyId('k'), NOW)
    expect((await two.keyByHash(aKey('k').hash))?.key.revokedAt).toBe(NOW)
  })

  test('JSON stays as it was written but for halves of a pair; only a plain text loses what PostgreSQL cannot store', async () => {
    const store = await open()
    const session = await start(store, 'a')
    const content = { z: 'a\0b', a: '\ud800', 'k\\u0000': '\\', nested: [1.0, '"\\u0000"'] }
    await store.save(
      anUpdate(session, {
        steps: [aStep(session, 1, { content })],
        runs: [aRun(session, { output: content, error: 'x\0y\ud800z\\u0000' })],
      }),
    )
    const stored = JSON.stringify({ ...content, a: '\ufffd' })
    expect(JSON.stringify((await store.stepsOfSession(session.id))[0]!.content)).toBe(stored)
    const run = (await store.run(runId('a')))!
    expect(JSON.stringify(run.output)).toBe(stored)
    expect(run.error).toBe('x\ufffdy\ufffdz\\u0000')
  })

  test('a database that restarts loses nothing that was acknowledged, and is used again', async () => {
    const store = await open()
    let session = await start(store, 'a')
    await store.save(anUpdate(session))
    server!.restart()
    session = (await store.session(session.id))!
    expect(session.version).toBe(2)
    await store.save(anUpdate(session))
    expect((await store.session(session.id))!.version).toBe(3)
  })

  test('published versions, events and steps cannot be changed, not even by SQL', async () => {
    const store = await open()
    await store.start(
      aStart(
        'a',
        {},
        { steps: [aStep((await start(store, 'b'))!, 1, { sessionId: sessionId('a'), runId: runId('a') })] },
      ),
      NO_LIMITS,
    )
    await expect(admin.run(`update event set data = '{}'`)).rejects.toThrow('an event never changes')
    await expect(admin.run(`update step set content = '{}'`)).rejects.toThrow('of a step only its end is written later')
  })

  describe('is refused, in one sentence that says no secret,', () => {
    const refusal = (url: string) =>
      openPostgres({ url }).then(
        () => 'opened',
        (error: { code: string; message: string }) => [error.code, error.message],
      )

    test('where the clock of the machine is off', async () => {
      const now = vi.spyOn(Date, 'now').mockImplementation(() => performance.timeOrigin + performance.now() + 60_000)
      try {
        expect(await refusal(server!.url(database))).toMatchObject([
          'clock_off',
          expect.stringMatching(
            /^The clocks of this machine and of the database \S+ differ by (?:59|60)(?:\.\d+)? s\.$/,
          ),
        ])
      } finally {
        now.mockRestore()
      }
    })

    test('where nobody answers', async () => {
      expect(await refusal('postgres://svc:secret@127.0.0.1:1/db')).toEqual([
        'store_unreachable',
        'The database 127.0.0.1:1/db cannot be used now: connect ECONNREFUSED 127.0.0.1:1.',
      ])
    })

    test('where there is no such database or user', async () => {
      const [code, message] = await refusal(proxy.url('none').replace('svc@', 'svc:secret@'))
      expect([code, message]).toEqual(['store_unreachable', expect.stringContaining('database "none" does not exist')])
      expect(message).not.toContain('secret')
    })

    test('where it was not migrated, or a newer svc wrote it, or it belongs to another program', async () => {
      expect(await refusal(server!.url('postgres'))).toMatchObject(['store_not_migrated', expect.any(String)])
      await admin.run('update svc_schema set version = 99, min_reader = 99')
      expect(await refusal(server!.url(database))).toMatchObject([
        'store_unreadable',
        expect.stringMatching(/a newer svc wrote it \(schema 99, this one knows \d+\)/) as string,
      ])
      await admin.run('drop table svc_schema')
      expect(await refusal(server!.url(database))).toMatchObject([
        'store_unreadable',
        expect.stringContaining('belongs to another program'),
      ])
    })
  })
})
