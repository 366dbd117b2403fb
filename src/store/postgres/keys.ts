import type { Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { KeyId } from '../../base/ids.ts'
import type { ApiKey } from '../../spec/key.ts'
import type { KeyRow } from '../rows/key-rows.ts'
import { toTrigger, type TriggerRow } from '../rows/trigger-rows.ts'
import type { Store } from '../store.ts'
import type { PostgresPool } from './database/pool.ts'
import { SELECT_TRIGGER } from './triggers.ts'

export interface PostgresKeys extends Pick<Store, 'createKey' | 'keyByHash' | 'keys' | 'revokeKey' | 'touchKey'> {
  /** Writes the recorded uses. */
  readonly writeUses: () => Promise<void>
}

/** How long the last use of a key may be held in memory before it is written: nothing depends on it. */
const WRITE_USES_EVERY_MS = 10_000

/** Rows are read for each request, so that a revocation counts at once in every process. */
export function openPostgresKeys(db: PostgresPool): PostgresKeys {
  let uses = new Map<KeyId, Instant>()
  let timer: NodeJS.Timeout | undefined

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
  const writeUses = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    if (uses.size === 0) return
    const written = uses
    uses = new Map()
    // In the order of the ids, so that two processes which write at the same time do not wait for each other.
    const inOrder = [...written].sort(([a], [b]) => (a < b ? -1 : 1))
    await db.run(
      `update api_key k set last_used_at = greatest(k.last_used_at, u.at)
       from unnest(:ids::text[], :times::bigint[]) as u (id, at)
       where k.id = u.id`,
      { ids: inOrder.map(([id]) => id), times: inOrder.map(([, at]) => String(at)) },
    )
  }

  return {
    async createKey(key) {
      await db.run(
        `insert into api_key (
           id, workspace_id, agent_id, trigger_id, name, person, prefix, hash, allow_uploads, created_at, expires_at,
           revoked_at, last_used_at
         ) values (
           :id, :workspaceId, :agentId, :triggerId, :name, :person, :prefix, :hash, :allowUploads, :createdAt, :expiresAt,
           :revokedAt, :lastUsedAt
         )`,
        { ...key },
      )
    },
    async keyByHash(hash) {
      const row = await db.row<KeyRow & { trigger: TriggerRow | null; trigger_restored_at: Instant | null }>(
        `select k.*,
           (select row_to_json(t) from (${SELECT_TRIGGER}) t where t.id = k.trigger_id) as trigger,
           (select restored_at from run_trigger where id = k.trigger_id) as trigger_restored_at
         from (${SELECT} where hash = :hash) k`,
        { hash },
      )
      return (
        row && {
          key: toKey(row),
          trigger: row.trigger ? toTrigger(row.trigger) : undefined,
          triggerHeldAt: row.trigger_restored_at ?? undefined,
        }
      )
    },
    async keys(workspaceId) {
      const rows = await db.rows<KeyRow>(`${SELECT} where workspace_id = :workspaceId order by created_at, n`, {
        workspaceId,
      })
      return rows.map(toKey)
    },
    async revokeKey(id, at) {
      const revoked = await db.run('update api_key set revoked_at = coalesce(revoked_at, :at) where id = :id', {
        id,
        at,
      })
      if (revoked === 0) throw fail('not_found', { what: 'key' })
    },
    touchKey(id, at) {
      uses.set(id, at)
      timer ??= setTimeout(() => void writeUses().catch(ignoreUnwritten), WRITE_USES_EVERY_MS).unref()
    },
    writeUses,
  }
}

function ignoreUnwritten(): void {
  // The next use is written again.
}

const SELECT = `
  select id, workspace_id, agent_id, trigger_id, name, person, prefix, hash, allow_uploads::int as allow_uploads, created_at,
    expires_at, revoked_at, last_used_at
  from api_key`
