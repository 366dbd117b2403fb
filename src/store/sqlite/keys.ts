import type { Database } from 'better-sqlite3'
import type { Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { AgentId, KeyId, TriggerId, WorkspaceId } from '../../base/ids.ts'
import type { ApiKey } from '../../spec/key.ts'
import type { Store } from '../store.ts'
import { createKept } from './database/row-cache.ts'

export interface KeyTable {
  readonly reads: Pick<Store, 'keyByHash' | 'keys' | 'touchKey'>
  insert(key: ApiKey): void
  /** Keeps the first moment when revoked twice. @throws Failure `not_found` */
  revoke(id: KeyId, at: Instant): void
  /** Writes the uses remembered since the last time, where that is long enough ago. */
  readonly writeUses: () => void
  /** Writes them all. */
  readonly writeAllUses: () => void
}

/** How long the last use of a key may be known to this process alone. */
const USES_EVERY_MS = 10_000

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
  const kept = createKept((hash) => byHash.get(hash))
  const ofWorkspace = db.prepare<[string], KeyRow>(`${SELECT} where workspace_id = ? order by created_at, rowid`)
  const revoke = db.prepare<[number, string]>('update api_key set revoked_at = coalesce(revoked_at, ?) where id = ?')
  const use = db.prepare<[number, string]>('update api_key set last_used_at = ? where id = ?')

  // A use is worth no commit of its own, nor a page of every one: it is written with one of the next, and known here until then.
  const uses = new Map<KeyId, Instant>()
  let newest: Instant = 0
  let written: Instant = 0
  const writeAllUses = (): void => {
    if (uses.size === 0) return
    kept.forget()
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
      async keyByHash(hash) {
        const row = kept.get(hash)
        return row && toKey(row)
      },
      async keys(workspaceId) {
        return ofWorkspace.all(workspaceId).map(toKey)
      },
      touchKey(id, at) {
        uses.set(id, at)
        newest = at
      },
    },
    insert: (key) => void insert.run({ ...key, allowUploads: key.allowUploads ? 1 : 0 }),
    revoke(id, at) {
      kept.forget()
      if (revoke.run(at, id).changes === 0) throw fail('not_found', { what: 'key' })
    },
    writeUses() {
      // A clock that was set back counts as long enough.
      if (Math.abs(newest - written) >= USES_EVERY_MS) writeAllUses()
    },
    writeAllUses,
  }
}

const SELECT = `
  select id, workspace_id, agent_id, trigger_id, name, person, prefix, hash, allow_uploads, created_at, expires_at,
    revoked_at, last_used_at
  from api_key`

interface KeyRow {
  id: KeyId
  workspace_id: WorkspaceId
  agent_id: AgentId
  trigger_id: TriggerId
  name: string | null
  person: string | null
  prefix: string
  hash: string
  allow_uploads: number
  created_at: number
  expires_at: number | null
  revoked_at: number | null
  last_used_at: number | null
}
