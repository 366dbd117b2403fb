import { claimCluster, type ClusterIdentity } from './cluster/identity.ts'
import { migratePostgres } from './database/migrate.ts'
import { openPool } from './database/pool.ts'
import { SCHEMA } from './open.ts'

/**
 * Brings a database to the schema of this program; safe while servers of the version before run on it.
 * @param claim makes the database belong to this cluster, whoever owned it before
 * @throws Failure `store_unreachable`, `store_unreadable`, `store_rights_missing`, `postgres_client_missing`
 */
export async function migrateDatabase(
  url: string,
  schema = SCHEMA,
  claim?: ClusterIdentity,
): Promise<{ readonly database: string; readonly from: number; readonly to: number }> {
  const pool = await openPool({ url, schema, name: 'svc migrate', connections: 2 })
  try {
    const { found, newest } = await migratePostgres(pool, schema)
    if (claim) await claimCluster(pool, claim)
    return { database: pool.database, from: found, to: Math.max(found, newest) }
  } finally {
    await pool.close()
  }
}
