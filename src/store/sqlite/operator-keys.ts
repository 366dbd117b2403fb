import type { Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { KeyId } from '../../base/ids.ts'
import type { OperatorKey } from '../../spec/key.ts'
import { toOperatorKey, type OperatorKeyRow } from '../rows/key-rows.ts'
import type { Store } from '../store.ts'
import type { Database } from 'better-sqlite3'

export interface OperatorKeyTable {
  readonly reads: Pick<Store, 'operatorKeyByHash' | 'operatorKeys'>
  insert(key: OperatorKey): void
  /** A second revocation keeps the instant of the first. @throws Failure `not_found` */
  revoke(id: KeyId, at: Instant): void
  touch(id: KeyId, at: Instant): void
}

export function openOperatorKeys(db: Database): OperatorKeyTable {
  const insert = db.prepare(
    `insert into operator_key (
       id, workspace_id, email, roles, name, prefix, hash, created_at, expires_at, revoked_at, last_used_at
     ) values (
       :id, :workspaceId, :email, :roles, :name, :prefix, :hash, :createdAt, :expiresAt, :revokedAt, :lastUsedAt
     )`,
  )
  const byHash = db.prepare<[string], OperatorKeyRow>(`${SELECT} where hash = ?`)
  const ofWorkspace = db.prepare<[string], OperatorKeyRow>(
    `${SELECT} where workspace_id = ? order by created_at, rowid`,
  )
  const revoke = db.prepare<[number, string]>(
    'update operator_key set revoked_at = coalesce(revoked_at, ?) where id = ?',
  )
  const touch = db.prepare<[number, string]>('update operator_key set last_used_at = ? where id = ?')
  return {
    reads: {
      async operatorKeyByHash(hash) {
        const row = byHash.get(hash)
        return row && toOperatorKey(row)
      },
      async operatorKeys(workspaceId) {
        return ofWorkspace.all(workspaceId).map(toOperatorKey)
      },
    },
    insert: (key) => void insert.run({ ...key, roles: JSON.stringify(key.roles) }),
    revoke(id, at) {
      if (revoke.run(at, id).changes === 0) throw fail('not_found', { what: 'key' })
    },
    touch: (id, at) => void touch.run(at, id),
  }
}

const SELECT = `
  select id, workspace_id, email, roles, name, prefix, hash, created_at, expires_at, revoked_at, last_used_at
  from operator_key`
