/** Keys of the API. Each database holds their uses for a while in a way of its own, since nothing depends on them. */
import { fail } from '../../../base/failure.ts'
import type { ApiKey } from '../../../spec/people/key.ts'
import type { Dialect } from '../../dialect.ts'
import { readRows, writeRows, type NounWork } from '../../statement.ts'
import { defineTable } from '../record-table.ts'

export const API_KEYS = defineTable<ApiKey>('api_key', {
  id: 'text',
  workspaceId: 'text',
  agentId: 'text',
  triggerId: 'text',
  name: 'text',
  person: 'text',
  prefix: 'text',
  hash: 'text',
  allowUploads: 'boolean',
  createdAt: 'integer',
  expiresAt: 'integer',
  revokedAt: 'integer',
  lastUsedAt: 'integer',
})

/** How long the last use of a key may be held in memory before it is written. */
export const WRITE_USES_EVERY_MS = 10_000

export function prepareApiKeys({ insertionOrder }: Dialect): NounWork<'keys', 'createKey' | 'revokeKey'> {
  const { select, insert, toValues, toRecord } = API_KEYS
  const ofWorkspace = `${select} where workspace_id = :workspaceId order by created_at, ${insertionOrder}`
  return {
    reads: {
      *keys(workspaceId) {
        return (yield* readRows(ofWorkspace, { workspaceId })).map(toRecord)
      },
    },
    writes: {
      *createKey(key) {
        yield* writeRows(insert, toValues(key))
      },
      *revokeKey(id, at) {
        // A second revocation keeps the instant of the first.
        const sql = 'update api_key set revoked_at = coalesce(revoked_at, :at) where id = :id'
        if ((yield* writeRows(sql, { id, at })) === 0) throw fail('not_found', { what: 'key' })
      },
    },
    transactions: {},
  }
}
