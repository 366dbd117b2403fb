import { afterAll, describe } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import { migratePostgres } from '../../src/store/postgres/database/migrate.ts'
import { openPool } from '../../src/store/postgres/database/pool.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { storeContract } from './contract.ts'
import { longSessionContract } from './long-session-contract.ts'
import { BACKED_UP_AT, RESTORED_AT, restoredContract } from './restored-contract.ts'
import { searchContract } from './search-contract.ts'
import { startPostgres } from './postgres-server.ts'
import { actContract } from './act-contract.ts'
import { noticeContract } from './notice-contract.ts'
import { chainContract } from './chain-contract.ts'
import { traceContract } from './trace-contract.ts'
import { sessionContract } from './session-contract.ts'

const server = startPostgres()
afterAll(() => server?.stop())

let isMigrated = false
/** A store whose tables are empty. */
async function openEmpty(clock: Clock) {
  const pool = await openPool({ url: server!.url(), schema: 'svc', name: 'test', connections: 1 })
  if (!isMigrated) await migratePostgres(pool, 'svc')
  isMigrated = true
  const tables = await pool.rows<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'svc' and tablename <> 'svc_schema'`,
  )
  await pool.run(`truncate ${tables.map(({ name }) => `"${name}"`).join(', ')}`)
  await pool.close()
  return openPostgres({ url: server!.url(), clock, connections: 5 })
}

describe.skipIf(!server)('on PostgreSQL', () => {
  storeContract('postgres', openEmpty)
  noticeContract('postgres', openEmpty)
  traceContract('postgres', openEmpty)
  chainContract('postgres', openEmpty)
  actContract('postgres', openEmpty)
  sessionContract('postgres', openEmpty)
  longSessionContract('postgres', openEmpty)
  searchContract('postgres', openEmpty)
  // What svc store copy brings from a data directory that was restored.
  restoredContract('postgres', openEmpty, async (store, clock) => {
    await store.close()
    const pool = await openPool({ url: server!.url(), schema: 'svc', name: 'test', connections: 1 })
    await pool.run('update session set restored_at = :at', { at: RESTORED_AT })
    await pool.run('update run_trigger set restored_at = :at', { at: RESTORED_AT })
    await pool.run('insert into restore (at, backed_up_at) values (:at, :from)', {
      at: RESTORED_AT,
      from: BACKED_UP_AT,
    })
    await pool.close()
    return openPostgres({ url: server!.url(), clock, connections: 5 })
  })
})
