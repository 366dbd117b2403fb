import type { Instant } from '../../base/clock.ts'
import { toText } from '../rows/json-column.ts'
import type { IdempotencyClaim } from '../start-outcome.ts'
import type { Database } from 'better-sqlite3'

export interface IdempotencyTable {
  /** Stores a claim and deletes some expired ones. */
  insert(claim: IdempotencyClaim, now: Instant): void
}

/** Expired claims deleted with each new claim; more than one, so that they never pile up. */
const DELETED_AT_ONCE = 20

export function openIdempotency(db: Database): IdempotencyTable {
  const insert = db.prepare(
    `insert into idempotency (principal, route, key, body_digest, response, expires_at)
     values (:principal, :route, :key, :bodyDigest, :response, :expiresAt)
     on conflict (principal, route, key) do update
     set body_digest = excluded.body_digest, response = excluded.response, expires_at = excluded.expires_at`,
  )
  const deleteExpired = db.prepare<[number, number]>(
    `delete from idempotency
     where (principal, route, key) in
       (select principal, route, key from idempotency where expires_at <= ? order by expires_at limit ?)`,
  )

  return {
    insert({ principal, route, key, bodyDigest, response, expiresAt }, now) {
      deleteExpired.run(now, DELETED_AT_ONCE)
      insert.run({ principal, route, key, bodyDigest, response: toText(response), expiresAt })
    },
  }
}
