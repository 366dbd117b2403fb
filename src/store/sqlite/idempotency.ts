import type { Instant } from '../../base/clock.ts'
import type { Digest } from '../../base/digest.ts'
import { toObject, toText } from '../rows/json-column.ts'
import type { IdempotencyClaim, RepeatedRequest } from '../start-outcome.ts'
import type { Database } from 'better-sqlite3'

export interface IdempotencyTable {
  /** The outcome that a request repeated with this key gets; undefined when the key is new or expired. */
  find(principal: string, route: string, key: string, bodyDigest: Digest, now: Instant): RepeatedRequest | undefined
  /** Stores a claim and deletes some expired ones. */
  insert(claim: IdempotencyClaim, now: Instant): void
}

/** Expired claims deleted with each new claim; more than one, so that they never pile up. */
const DELETED_AT_ONCE = 20

export function openIdempotency(db: Database): IdempotencyTable {
  const find = db.prepare<[string, string, string, number], { body_digest: string; response: string }>(
    `select body_digest, response
     from idempotency
     where principal = ? and route = ? and key = ? and expires_at > ?`,
  )
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
    find(principal, route, key, bodyDigest, now) {
      const row = find.get(principal, route, key, now)
      if (!row) return undefined
      return row.body_digest === bodyDigest
        ? { outcome: 'replayed', response: toObject(row.response) }
        : { outcome: 'key_reused' }
    },
    insert({ principal, route, key, bodyDigest, response, expiresAt }, now) {
      deleteExpired.run(now, DELETED_AT_ONCE)
      insert.run({ principal, route, key, bodyDigest, response: toText(response), expiresAt })
    },
  }
}
