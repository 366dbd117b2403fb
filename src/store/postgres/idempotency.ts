import type { IdempotencyClaim } from '../start-outcome.ts'
import { toColumnText, toObject } from '../rows/json-column.ts'
import type { Store } from '../store.ts'
import type { PostgresPool } from './database/pool.ts'

export const idempotencyReads = (db: PostgresPool): Pick<Store, 'findEarlierStart'> => ({
  async findEarlierStart(principal, route, key, bodyDigest, now) {
    const row = await db.row<{ body_digest: string; response: string }>(
      `select body_digest, response
       from idempotency
       where principal = :principal and route = :route and key = :key and expires_at > :now`,
      { principal, route, key, now },
    )
    if (!row) return undefined
    return row.body_digest === bodyDigest
      ? { outcome: 'replayed', response: toObject(row.response) }
      : { outcome: 'key_reused' }
  },
})

export const toClaimColumns = (claim: IdempotencyClaim) => ({
  principal: claim.principal,
  route: claim.route,
  key: claim.key,
  body_digest: claim.bodyDigest,
  response: toColumnText(claim.response),
  expires_at: claim.expiresAt,
})
