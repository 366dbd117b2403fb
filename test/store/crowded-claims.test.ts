/** Claims where one trigger has far more sessions with work than anyone takes. Source: docs/design/several-processes.md#turns */
import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import type { TriggerId } from '../../src/base/ids.ts'
import { migrateDatabase } from '../../src/store/postgres/migrate-database.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { copySessions } from './filled-postgres.ts'
import { NO_LIMITS, NOW, aStart, sessionId } from './makers.ts'
import { startPostgres } from './postgres-server.ts'
import { cases } from '../cases.ts'

const server = startPostgres()
afterAll(() => server?.stop())

const TTL = 600_000
const CROWD = cases(100_000)
const BATCH = 100

test.skipIf(!server)(
  'the one session of a trigger is in the first claim, beside many older ones of another',
  { timeout: 120_000 },
  async () => {
    const url = server!.url('crowded')
    await migrateDatabase(url)
    const store = await openPostgres({ url })
    const admin = new pg.Pool({ connectionString: url, max: 1, options: '-c search_path=svc' })
    const last = { startedAt: NOW + CROWD + 1, triggerId: 'of-one' as TriggerId }
    const crowd = aStart('crowd')
    await store.start(crowd, NO_LIMITS)
    await copySessions(admin, crowd.session.id, CROWD)
    await store.start(aStart('free', last), NO_LIMITS)

    const claimed = await store.claim('ann', BATCH, TTL)
    // Half of the claim is for each of the two; the next one takes what is left.
    expect(claimed.length).toBe(BATCH / 2 + 1)
    expect(claimed[1]!.sessionId).toBe(sessionId('free'))

    // The same where a server has died that held them all.
    await store.start(aStart('held', last), NO_LIMITS, undefined, { worker: 'gone', ttlMs: TTL })
    await admin.query(`update session set owner = 'gone', lease_until = 1 where busy`)
    const second = await store.claim('bob', BATCH, TTL)
    expect(second.length).toBe(BATCH / 2 + 2)
    const ids = second.map((lease) => lease.sessionId)
    expect([ids.indexOf(sessionId('free')), ids.indexOf(sessionId('held'))].toSorted((a, b) => a - b)).toEqual([1, 3])
    await admin.end()
    await store.close()
  },
)
