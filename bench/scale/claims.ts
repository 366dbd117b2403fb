/** How long a claim takes as a database grows by sessions that wait for a person. */
import { performance } from 'node:perf_hooks'
import pg from 'pg'
import { migrateDatabase } from '../../src/store/postgres/migrate-database.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { copySessions } from '../../test/store/filled-postgres.ts'
import { aStart, NO_LIMITS } from '../../test/store/makers.ts'
import { percentile } from '../engine/report.ts'

/** Sessions with work that nobody holds, for each claim to find. */
const READY = 100
const CLAIMS = 500

/** @returns milliseconds of a claim of 10 sessions, 99th percentile */
export async function claimTime(url: string, open: number): Promise<number> {
  await migrateDatabase(url)
  const store = await openPostgres({ url })
  const pool = new pg.Pool({ connectionString: url, max: 1, options: '-c search_path=svc' })
  try {
    const parked = aStart('parked', {}, { busy: false })
    await store.start(parked, NO_LIMITS)
    await copySessions(pool, parked.session.id, open)
    for (let n = 0; n < READY; n++) await store.start(aStart(`ready-${n}`), NO_LIMITS)
    await pool.query('vacuum analyze session')
    const times: number[] = []
    for (let n = 0; n < CLAIMS; n++) {
      const from = performance.now()
      const leases = await store.claim('bench', 10, 600_000)
      times.push(performance.now() - from)
      if (leases.length !== 10) throw new Error(`A claim of 10 found ${leases.length}.`)
      await store.release('bench', leases)
    }
    // The first ones plan and warm.
    return percentile(times.slice(CLAIMS / 5), 0.99)
  } finally {
    await pool.end()
    await store.close()
  }
}
