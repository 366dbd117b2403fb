/** Credentials of people on the operator channel. */
import { fail } from '../../../base/failure.ts'
import type { OperatorKey } from '../../../spec/people/key.ts'
import type { Dialect } from '../../dialect.ts'
import { readRow, readRows, writeRows, type NounWork } from '../../statement.ts'
import { defineTable } from '../record-table.ts'

export const OPERATOR_KEYS = defineTable<OperatorKey>('operator_key', {
  id: 'text',
  workspaceId: 'text',
  email: 'text',
  roles: 'json',
  name: 'text',
  prefix: 'text',
  hash: 'text',
  createdAt: 'integer',
  expiresAt: 'integer',
  revokedAt: 'integer',
  lastUsedAt: 'integer',
})

export function prepareOperatorKeys({
  insertionOrder,
}: Dialect): NounWork<
  'operatorKeyByHash' | 'operatorKeys',
  'createOperatorKey' | 'revokeOperatorKey' | 'touchOperatorKey'
> {
  const { select, insert, toValues, toRecord } = OPERATOR_KEYS
  const byHash = `${select} where hash = :hash`
  const ofWorkspace = `${select} where workspace_id = :workspaceId order by created_at, ${insertionOrder}`
  return {
    reads: {
      *operatorKeyByHash(hash) {
        const row = yield* readRow(byHash, { hash })
        return row && toRecord(row)
      },
      *operatorKeys(workspaceId) {
        return (yield* readRows(ofWorkspace, { workspaceId })).map(toRecord)
      },
    },
    writes: {
      *createOperatorKey(key) {
        yield* writeRows(insert, toValues(key))
      },
      *revokeOperatorKey(id, at) {
        const sql = 'update operator_key set revoked_at = coalesce(revoked_at, :at) where id = :id'
        if ((yield* writeRows(sql, { id, at })) === 0) throw fail('not_found', { what: 'key' })
      },
      *touchOperatorKey(id, at) {
        yield* writeRows('update operator_key set last_used_at = :at where id = :id', { id, at })
      },
    },
    transactions: {},
  }
}
