import type { Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { KeyId } from '../../base/ids.ts'
import type { ApiKey } from '../../spec/key.ts'
import type { KeyRow } from '../rows/key-rows.ts'
import type { Store } from '../store.ts'
import { createRowCache } from './database/row-cache.ts'
import type { Database } from 'better-sqlite3'

export interface KeyTable {
  readonly reads: Pick<Store, 'keys' | 'touchKey'>
  /** @param hash SHA-256 of the secret, hexadecimal */
  find(hash: string): ApiKey | undefined
  insert(key: ApiKey): void
  /** A second revocation keeps the instant of the first. @throws Failure `not_found` */
  revoke(id: KeyId, at: Instant): void
  /** Writes the recorded uses if the last write of uses is long enough ago. */
  readonly writeDueUses: () => void
  /** Writes all recorded uses. */
  readonly writeAllUses: () => void
}

/** How long the last use of a key may be held in memory before it is written. */
const WRITE_USES_EVERY_MS = 10_000

export function openKeys(db: Database): KeyTable {
  const insert = db.prepare(
    `insert into api_key (
       id, workspace_id, agent_id, trigger_id, name, person, prefix, hash, allow_uploads, created_at, expires_at,
       revoked_at, last_used_at
     ) values (
       :id, :workspaceId, :agentId, :triggerId, :name, :person, :prefix, :hash, :allowUploads, :createdAt, :expiresAt,
       :revokedAt, :lastUsedAt
     )`,
  )
  const byHash = db.prepare<[string], KeyRow>(`${SELECT} where hash = ?`)
  const cache = createRowCache((hash) => byHash.get(hash))
  const ofWorkspace = db.prepare<[string], KeyRow>(`${SELECT} where workspace_id = ? order by created_at, rowid`)
  const revoke = db.prepare<[number, string]>('update api_key set revoked_at = coalesce(revoked_at, ?) where id = ?')
  const use = db.prepare<[number, string]>('update api_key set last_used_at = ? where id = ?')

  // A use justifies neither its own commit nor an extra page in every commit, so a later commit writes it.
  const uses = new Map<KeyId, Instant>()
  let newest: Instant = 0
  let written: Instant = 0
  const writeAllUses = (): void => {
    if (uses.size === 0) return
    cache.clear()
    for (const [id, at] of uses) use.run(at, id)
    uses.clear()
    written = newest
  }
  const toKey = (row: KeyRow): ApiKey => ({
    id: row.id,
    workspaceId: row.workspace_id,
    agentId: row.agent_id,
    triggerId: row.trigger_id,
    name: row.name,
    person: row.person,
    prefix: row.prefix,
    hash: row.hash,
    allowUploads: row.allow_uploads === 1,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: uses.get(row.id) ?? row.last_used_at,
  })

  return {
    reads: {
      async keys(workspaceId) {
        return ofWorkspace.all(workspaceId).map(toKey)
      },
      touchKey(id, at) {
        uses.set(id, at)
        newest = at
      },
    },
    find(hash) {
      const row = cache.get(hash)
      return row && toKey(row)
    },
    insert: (key) => void insert.run({ ...key, allowUploads: key.allowUploads ? 1 : 0 }),
    revoke(id, at) {
      cache.clear()
      if (revoke.run(at, id).changes === 0) throw fail('not_found', { what: 'key' })
    },
    writeDueUses() {
      // The absolute value, so that uses are written too after the clock was set back.
      if (Math.abs(newest - written) >= WRITE_USES_EVERY_MS) writeAllUses()
    },
    writeAllUses,
  }
}

const SELECT = `
  select id, workspace_id, agent_id, trigger_id, name, person, prefix, hash, allow_uploads, created_at, expires_at,
    revoked_at, last_used_at
  from api_key`
