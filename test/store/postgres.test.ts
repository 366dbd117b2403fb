import { afterAll, describe } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import { migratePostgres } from '../../src/store/postgres/database/migrate.ts'
import { openPool } from '../../src/store/postgres/database/pool.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { storeContract } from './contract.ts'
import { longSessionContract } from './long-session-contract.ts'
import { searchContract } from './search-contract.ts'
import { startPostgres } from './postgres-server.ts'
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
  sessionContract('postgres', openEmpty)
  longSessionContract('postgres', openEmpty)
  searchContract('postgres', openEmpty)
})
