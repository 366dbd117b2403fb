/** Requests that were answered before, by their idempotency key. */
import { toObject } from '../rows/json-column.ts'
import { readRow, type NounWork } from '../statement.ts'

const FIND = `select body_digest, response from idempotency
  where principal = :principal and route = :route and key = :key and expires_at > :now`

export const EARLIER_REQUESTS: NounWork<'findEarlierStart', never> = {
  reads: {
    *findEarlierStart(principal, route, key, bodyDigest, now) {
      const row = yield* readRow<{ body_digest: string; response: string }>(FIND, { principal, route, key, now })
      if (!row) return undefined
      return row.body_digest === bodyDigest
        ? { outcome: 'replayed', response: toObject(row.response) }
        : { outcome: 'key_reused' }
    },
  },
  writes: {},
  transactions: {},
}
