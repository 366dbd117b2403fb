import type { Database } from 'better-sqlite3'
import type { Digest } from '../../base/digest.ts'
import type { Instant } from '../../base/clock.ts'
import type { IdempotencyClaim, StartOutcome } from '../store.ts'
import { toObject, toText } from './database/json-column.ts'

type Answered = Extract<StartOutcome, { outcome: 'replayed' | 'key_reused' }>

export interface IdempotencyTable {
  /** What an earlier start with this key was answered with. */
  find(principal: string, route: string, key: string, bodyDigest: Digest, now: Instant): Answered | undefined
  /** Keeps a claim, and drops some that have expired. */
  keep(claim: IdempotencyClaim, now: Instant): void
}

/** Expired claims deleted with each new one; more than one, so that they never pile up. */
const SWEPT = 20

export function openIdempotency(db: Database): IdempotencyTable {
  const find = db.prepare<[string, string, string, number], { body_digest: string; response: string }>(
    `select body_digest, response
     from idempotency
     where principal = ? and route = ? and key = ? and expires_at > ?`,
  )
  const keep = db.prepare(
    `insert into idempotency (principal, route, key, body_digest, response, expires_at)
     values (:principal, :route, :key, :bodyDigest, :response, :expiresAt)
     on conflict (principal, route, key) do update
     set body_digest = excluded.body_digest, response = excluded.response, expires_at = excluded.expires_at`,
  )
  const sweep = db.prepare<[number, number]>(
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
    keep({ principal, route, key, bodyDigest, response, expiresAt }, now) {
      sweep.run(now, SWEPT)
      keep.run({ principal, route, key, bodyDigest, response: toText(response), expiresAt })
    },
  }
}
