/**
 * The rules of a save stand twice: in TypeScript for SQLite, where the process is the only writer, and in the functions of PostgreSQL,
 * where one statement decides while it holds the locks. Any history of starts, saves, leases, spending and effects has the same
 * outcomes and leaves the same rows on both. Source: docs/design/several-processes.md#saves
 */
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { digestOf } from '../../src/base/digest.ts'
import { isFailure } from '../../src/base/failure.ts'
import { nameBasedId, type TriggerId } from '../../src/base/ids.ts'
import type { Money } from '../../src/spec/price.ts'
import type { Session } from '../../src/spec/run/session.ts'
import type { LeaseHolder, SessionLease } from '../../src/store/lease.ts'
import { migratePostgres } from '../../src/store/postgres/database/migrate.ts'
import { openPool } from '../../src/store/postgres/database/pool.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import type { EffectChange, SessionUpdate } from '../../src/store/session-update.ts'
import type { StartLimits } from '../../src/store/start-outcome.ts'
import type { Store } from '../../src/store/store.ts'
import { cases } from '../cases.ts'
import { aRun, aSession, anUpdate, NOW, runId, sessionId, WORKSPACE } from './makers.ts'
import { startPostgres } from './postgres-server.ts'

const server = startPostgres()
afterAll(() => server?.stop())

const NAMES = ['a', 'b', 'c', 'd', 'e'] as const
const TTL = 15_000
const MINUTE = 60_000

const name = fc.constantFrom(...NAMES)
const worker = fc.constantFrom('ann', 'ann', 'ann', 'bob')
const money = fc.constantFrom('0.1', '0.25', '0.4', '0.000001').map((amount): Money => ({ amount, currency: 'EUR' }))
const usually = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 })
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 2 })
/** Seldom true: most acts get past the version that they know. */
const rarely = fc.integer({ min: 0, max: 11 }).map((drawn) => drawn === 0)

const limits: fc.Arbitrary<StartLimits> = fc.record({
  ratePerMinute: orNull(fc.constantFrom(0, 1, 2, 3)),
  ratePerDay: orNull(fc.constantFrom(1, 3)),
  maxConcurrentRuns: orNull(fc.constantFrom(1, 2)),
  planRunsPerDay: orNull(fc.constantFrom(2, 4)),
  planTokensPerDay: orNull(fc.constantFrom(10, 60)),
  planCostPerDay: orNull(fc.constant({ amount: '0.5', currency: 'EUR' })),
})

const effect = fc.oneof(
  fc.record({
    act: fc.constant('take' as const),
    key: fc.constantFrom('k', 'l'),
    call: fc.constantFrom('c1', 'c2'),
    expires: fc.boolean(),
    replaces: fc.boolean(),
  }),
  fc.record({ act: fc.constant('extend' as const), call: fc.constantFrom('c1', 'c2') }),
  fc.record({
    act: fc.constant('end' as const),
    call: fc.constantFrom('c1', 'c2'),
    state: fc.constantFrom('done' as const, 'unknown' as const, 'not_made' as const),
  }),
)

const act = fc.oneof(
  fc.record({
    act: fc.constant('start' as const),
    name,
    trigger: orNull(fc.constantFrom('t0', 't1')),
    limits: fc.oneof(limits, fc.constant(undefined)),
    worker: usually(worker),
    key: usually(fc.record({ key: fc.constantFrom('x', 'y'), body: fc.constantFrom('1', '2') })),
    isStale: rarely,
    busy: fc.boolean(),
    follows: usually(name),
  }),
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('save' as const),
      name,
      isStale: rarely,
      worker: usually(worker),
      epoch: fc.constantFrom('none', 'own', 'own', 'own', 'own', 'other'),
      busy: fc.constantFrom(true, true, false),
      ends: fc.boolean(),
      tokens: fc.constantFrom(0, 0, 5, 30),
      spends: usually(money),
      seen: usually(fc.constantFrom(0, 1)),
      // A call takes or ends one key in a save.
      effects: fc.uniqueArray(effect, { maxLength: 2, selector: ({ call }) => call }),
      reserves: usually(fc.record({ tokens: fc.constantFrom(1, 20, 60), cost: usually(money) })),
      frees: fc.boolean(),
      caps: fc.record({ tokens: fc.constantFrom(undefined, 50, 100), cost: fc.constantFrom(undefined, '0.3', '1') }),
    }),
  },
  fc.record({
    act: fc.constant('time' as const),
    ms: fc.constantFrom(1, 999, 20_000, TTL, MINUTE, 43_200_000, 86_400_000),
  }),
  fc.record({ act: fc.constantFrom('claim' as const, 'renew' as const, 'give back' as const), worker }),
  fc.record({ act: fc.constant('claim one' as const), worker, name }),
  fc.record({ act: fc.constant('release effect' as const), key: fc.constantFrom('k', 'l') }),
  fc.record({ act: fc.constant('revoke' as const) }),
)
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never

/** Who does the acts of a history on one store: what it knows is what the store told it. */
function createActor(store: Store, now: () => number) {
  const leases = new Map<string, SessionLease>()
  let runs = 0

  const holderOf = (who: string | undefined, id: string, epoch: string): LeaseHolder | undefined => {
    if (who === undefined) return undefined
    const known = leases.get(`${who} ${id}`)?.epoch
    if (epoch === 'none' || known === undefined) return { worker: who, ttlMs: TTL }
    return { worker: who, ttlMs: TTL, epoch: epoch === 'own' ? known : known - 1 }
  }
  const keep = (who: string | undefined, lease: SessionLease | undefined): SessionLease | undefined => {
    if (who !== undefined && lease) leases.set(`${who} ${lease.sessionId}`, lease)
    return lease
  }
  const read = async (id: string): Promise<Session> =>
    (await store.session(sessionId(id))) ?? aSession(id, { version: 1 })

  async function start(given: Extract<Act, { act: 'start' }>): Promise<unknown> {
    const stored = await store.session(sessionId(given.name))
    const triggerId = given.trigger === null ? null : (nameBasedId('trigger', given.trigger) as TriggerId)
    const rootRunId = runId(`${given.name}${runs++}`)
    // Version 0 would be that of a new session.
    const version = (stored?.version ?? 0) - (stored && stored.version > 1 && given.isStale ? 1 : 0)
    const session: Session = stored
      ? { ...stored, version, rootRunId, status: 'Running', finishedAt: null, runCount: stored.runCount + 1 }
      : aSession(given.name, { triggerId, rootRunId, startedAt: now() })
    const starter = {
      triggerType: 'api',
      triggeredBy: 'key:1',
      person: null,
      triggerId,
      triggerName: given.trigger,
    } as const
    const run = aRun(session, { ...(stored && { starter }), startedAt: now() })
    const followed = given.follows !== undefined && given.follows !== given.name ? await read(given.follows) : undefined
    const update: SessionUpdate = {
      ...anUpdate(session, { runs: [run], subjects: ['engine.run.started'], busy: given.busy }),
      ...(followed && { follows: { sessionId: followed.id, version: followed.version } }),
    }
    const claim = given.key && {
      principal: 'key:1',
      route: 'start',
      key: given.key.key,
      bodyDigest: digestOf(given.key.body),
      response: { run: rootRunId },
      expiresAt: now() + MINUTE,
    }
    const holder = given.worker === undefined ? undefined : { worker: given.worker, ttlMs: TTL }
    const outcome = await store.start(update, given.limits ?? NONE, claim, holder)
    if (!stored && outcome.outcome === 'started' && given.busy) keep(given.worker, { sessionId: session.id, epoch: 1 })
    return outcome
  }

  async function save(given: Extract<Act, { act: 'save' }>): Promise<unknown> {
    const stored = await read(given.name)
    const end = given.ends ? ({ status: 'Completed', finishedAt: now() } as const) : {}
    const session: Session = {
      ...stored,
      ...end,
      version: stored.version - (given.isStale ? 1 : 0),
      totalTokensUsed: stored.totalTokensUsed + given.tokens,
    }
    const run = aRun(session, { startedAt: stored.startedAt })
    const { cost, tokens } = given.caps
    const cap = {
      ...(tokens !== undefined && { tokens }),
      ...(cost !== undefined && { cost: { amount: cost, currency: 'EUR' } }),
    }
    const reserves = given.reserves
      ? [{ runId: run.id, tokens: given.reserves.tokens, ...(given.reserves.cost && { cost: given.reserves.cost }) }]
      : []
    const update = anUpdate(session, {
      runs: [run],
      busy: given.busy,
      subjects: ['engine.run.changed'],
      effects: given.effects.map((each) => toChange(each, session, now())),
      ...(given.seen !== undefined && {
        historySeen: (await store.workspaceHistory(WORKSPACE)).version - given.seen,
      }),
      ...((given.reserves || given.frees) && { plan: { cap, reserves, frees: given.frees ? [run.id] : [] } }),
      spends:
        given.spends === undefined
          ? []
          : [
              {
                runId: run.id,
                provider: 'scripted',
                model: 'model-1',
                usage: { input_tokens: 3, output_tokens: 4 },
                cost: given.spends,
              },
            ],
    })
    return keep(given.worker, await store.save(update, holderOf(given.worker, session.id, given.epoch)))
  }

  async function doAct(given: Act): Promise<unknown> {
    switch (given.act) {
      case 'start':
        return start(given)
      case 'save':
        return save(given)
      case 'claim': {
        const claimed = await store.claim(given.worker, 99, TTL)
        for (const lease of claimed) keep(given.worker, lease)
        return claimed
      }
      case 'claim one':
        return keep(given.worker, await store.claimOne(given.worker, sessionId(given.name), TTL))
      case 'renew':
        return (await store.renew(given.worker, TTL)).toSorted((a, b) => (a.sessionId < b.sessionId ? -1 : 1))
      case 'give back':
        return store.release(
          given.worker,
          [...leases].flatMap(([key, lease]) => (key.startsWith(given.worker) ? [lease] : [])),
        )
      case 'release effect':
        return store.releaseEffect(WORKSPACE, given.key, 'operator:ann', 'test', now())
      case 'revoke':
        return store.setStandingRevoked(WORKSPACE, {
          name: 'small refunds',
          isRevoked: true,
          at: now(),
          by: 'operator:ann',
          reason: 'test',
        })
      case 'time':
        return undefined
    }
  }

  return {
    /** What came of an act: its value, or its refusal. */
    async tell(given: Act): Promise<unknown> {
      try {
        return { value: await doAct(given) }
      } catch (error) {
        if (!isFailure(error)) throw error
        const { code, message, extras } = error
        // Where the session and the one that it follows have both moved on, each store names one of them.
        const about = code === 'run_moved_on' ? '' : message
        return { code, about, retryAfterSeconds: extras.retryAfterSeconds }
      }
    },
    /** Everything that decisions depend on. */
    read: async (): Promise<unknown> => ({
      trees: await Promise.all(NAMES.map((each) => store.load(sessionId(each)))),
      events: await Promise.all(NAMES.map((each) => store.events(sessionId(each), 0, 999))),
      effects: await store.effects({ workspaceId: WORKSPACE }, { skip: 0, take: 99 }),
      history: await store.workspaceHistory(WORKSPACE),
      costs: await store.costs(WORKSPACE, NOW - 86_400_000, now(), 99),
      waiting: (await store.waitingSessions(99)).toSorted((a, b) => (a.sessionId < b.sessionId ? -1 : 1)),
      runs: await store.runs({ workspaceId: WORKSPACE }, { skip: 0, take: 99 }),
    }),
  }
}

const NONE: StartLimits = {
  ratePerMinute: null,
  ratePerDay: null,
  maxConcurrentRuns: null,
  planRunsPerDay: null,
  planTokensPerDay: null,
  planCostPerDay: null,
}

type PlannedChange = typeof effect extends fc.Arbitrary<infer T> ? T : never

function toChange(given: PlannedChange, { id, rootRunId }: Session, at: number): EffectChange {
  const effectId = (call: string): string => `${rootRunId} ${call}`
  if (given.act === 'end')
    return { end: { runId: rootRunId, callId: given.call, state: given.state, result: { paid: at } } }
  if (given.act === 'extend') return { extend: { id: effectId(given.call), notAfter: at + MINUTE } }
  return {
    take: {
      // Each call takes a key once: its id says when.
      id: `${effectId(given.call)} ${at}`,
      key: given.key,
      shown: given.key,
      sessionId: id,
      runId: rootRunId,
      callId: given.call,
      tool: 'pay.refund',
      toolVersion: '1.0.0',
      agent: 'pay.clerk',
      agentVersion: '1.0.0',
      argumentsDigest: digestOf(given.key),
      at,
      notAfter: at + 20_000,
      expiresAt: given.expires ? at + MINUTE : null,
      approvedBy: ['operator:ana'],
      replaces: given.replaces ? `${effectId('c1')} ${at - 1}` : null,
    },
  }
}

/** Each session exists before it is saved. */
const BEGINNING = NAMES.map((each, at): Act => ({
  act: 'start',
  name: each,
  trigger: at % 2 === 0 ? 't0' : null,
  limits: undefined,
  worker: 'ann',
  key: undefined,
  isStale: false,
  busy: true,
  follows: undefined,
}))

/** Does a history on both stores, side by side. */
async function compare(history: readonly Act[], differ?: (store: Store) => Store): Promise<void> {
  let now = NOW
  const clock = { now: () => now, monotonic: () => now }
  const stores = [openSqlite(':memory:', { clock }), await openEmpty(clock)] as const
  try {
    const [one, two] = [stores[0], differ ? differ(stores[1]) : stores[1]].map((store) => createActor(store, () => now))
    for (const given of [...BEGINNING, ...history]) {
      // No two acts have one moment, so that lists have one order.
      now += given.act === 'time' ? given.ms : 1
      expect(await two!.tell(given)).toEqual(await one!.tell(given))
    }
    expect(await two!.read()).toEqual(await one!.read())
  } finally {
    for (const store of stores) await store.close()
  }
}

let isMigrated = false
async function openEmpty(clock: { now: () => number; monotonic: () => number }): Promise<Store> {
  const pool = await openPool({ url: server!.url(), schema: 'svc', name: 'test', connections: 1 })
  if (!isMigrated) await migratePostgres(pool, 'svc')
  isMigrated = true
  const tables = await pool.rows<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'svc' and tablename <> 'svc_schema'`,
  )
  await pool.run(`truncate ${tables.map((each) => `"${each.name}"`).join(', ')}`)
  await pool.close()
  return openPostgres({ url: server!.url(), clock, connections: 2 })
}

describe.skipIf(!server)('the two stores', () => {
  const histories = fc.array(act, { minLength: 10, maxLength: 40, size: 'max' })

  test('decide every save and start of a history alike, and keep the same rows', async () => {
    await fc.assert(
      fc.asyncProperty(histories, (history) => compare(history)),
      { numRuns: cases(80), endOnFailure: true },
    )
  }, 600_000)

  test.each<[string, (store: Store) => Store]>([
    ['a lease for one moment more', (store) => ({ ...store, renew: (who, ms) => store.renew(who, ms + 1) })],
    [
      'a rate of one start more',
      (store) => ({
        ...store,
        start: (update, given, ...rest) =>
          store.start(
            update,
            { ...given, ratePerMinute: given.ratePerMinute === null ? null : given.ratePerMinute + 1 },
            ...rest,
          ),
      }),
    ],
    [
      'a plan without its cap',
      (store) => ({
        ...store,
        save: (update, holder) =>
          store.save({ ...update, ...(update.plan && { plan: { ...update.plan, cap: {} } }) }, holder),
      }),
    ],
    [
      'a history that nobody looks at',
      (store) => ({
        ...store,
        save(update, holder) {
          const { historySeen: _, ...unseen } = update
          return store.save(unseen, holder)
        },
      }),
    ],
  ])('would differ with %s', async (_, differ) => {
    const found = await fc.check(
      fc.asyncProperty(histories, (history) => compare(history, differ)),
      { numRuns: 40, endOnFailure: true },
    )
    expect(found.failed).toBe(true)
  })
})
