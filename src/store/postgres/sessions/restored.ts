import type { Instant } from '../../../base/clock.ts'
import type { SessionId, TriggerId } from '../../../base/ids.ts'
import type { StoreRestore } from '../../../spec/run/restore.ts'
import type { Store } from '../../store.ts'
import type { PostgresPool } from '../database/pool.ts'

export const restoredMethods = (
  db: PostgresPool,
): Pick<Store, 'lastRestore' | 'restoredAt' | 'restored' | 'releaseRestored'> => ({
  lastRestore: () =>
    db.row<StoreRestore>(
      `select at, backed_up_at as "backedUpAt", released_at as "releasedAt", asks_until as "asksUntil" from restore`,
    ),
  async restoredAt(id) {
    const row = await db.row<{ at: Instant | null }>(
      `select coalesce(
         (select restored_at from session where id = :id::uuid),
         (select restored_at from run_trigger where id = :id::uuid::text)
       ) as at`,
      { id },
    )
    return row?.at ?? undefined
  },
  async restored(workspaceId) {
    const sessions = await db.rows<{ id: SessionId }>(
      `select id from session
       where workspace_id = :workspaceId and restored_at is not null and finished_at is null
       order by started_at, n`,
      { workspaceId },
    )
    const triggers = await db.rows<{ id: TriggerId }>(
      `select id from run_trigger
       where workspace_id = :workspaceId and restored_at is not null
       order by created_at, n`,
      { workspaceId },
    )
    return { sessions: sessions.map(({ id }) => id), triggers: triggers.map(({ id }) => id) }
  },
  async releaseRestored(sessions, triggers, whole) {
    await db.run(
      `with released as (
         update run_trigger set restored_at = null
         where restored_at is not null and (:isWhole::boolean or id = any (:triggers::text[]))
       ), store as (
         update restore set released_at = coalesce(released_at, :at::bigint), asks_until = :asksUntil::bigint
         where :isWhole::boolean
       )
       update session set restored_at = null
       where restored_at is not null and (
         :isWhole::boolean
         or id = any (:sessions::uuid[])
         or (trigger_id = any (:triggers::text[]) and finished_at is not null)
       )`,
      {
        sessions,
        triggers,
        isWhole: whole !== undefined,
        at: whole?.at ?? null,
        asksUntil: whole?.asksUntil ?? null,
      },
    )
  },
})
