import { fail } from '../../base/failure.ts'
import { toOperatorKey, type OperatorKeyRow } from '../rows/key-rows.ts'
import type { Store } from '../store.ts'
import type { PostgresPool } from './database/pool.ts'

type OperatorKeyMethods = Pick<
  Store,
  'createOperatorKey' | 'operatorKeyByHash' | 'operatorKeys' | 'revokeOperatorKey' | 'touchOperatorKey'
>

export const operatorKeyMethods = (db: PostgresPool): OperatorKeyMethods => ({
  async createOperatorKey(key) {
    await db.run(
      `insert into operator_key (
         id, workspace_id, email, roles, name, prefix, hash, created_at, expires_at, revoked_at, last_used_at
       ) values (
         :id, :workspaceId, :email, :roles, :name, :prefix, :hash, :createdAt, :expiresAt, :revokedAt, :lastUsedAt
       )`,
      { ...key, roles: JSON.stringify(key.roles) },
    )
  },
  async operatorKeyByHash(hash) {
    const row = await db.row<OperatorKeyRow>(`${SELECT} where hash = :hash`, { hash })
    return row && toOperatorKey(row)
  },
  async operatorKeys(workspaceId) {
    const rows = await db.rows<OperatorKeyRow>(`${SELECT} where workspace_id = :workspaceId order by created_at, n`, {
      workspaceId,
    })
    return rows.map(toOperatorKey)
  },
  async revokeOperatorKey(id, at) {
    const revoked = await db.run('update operator_key set revoked_at = coalesce(revoked_at, :at) where id = :id', {
      id,
      at,
    })
    if (revoked === 0) throw fail('not_found', { what: 'key' })
  },
  async touchOperatorKey(id, at) {
    await db.run('update operator_key set last_used_at = :at where id = :id', { id, at })
  },
})

const SELECT = `
  select id, workspace_id, email, roles, name, prefix, hash, created_at, expires_at, revoked_at, last_used_at
  from operator_key`
