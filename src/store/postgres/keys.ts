import type { Instant } from '../../base/clock.ts'
import type { KeyId } from '../../base/ids.ts'
import type { ApiKey } from '../../spec/people/key.ts'
import { API_KEYS, WRITE_USES_EVERY_MS } from '../nouns/people/api-keys.ts'
import { TRIGGERS } from '../nouns/triggers.ts'
import type { Store } from '../store.ts'
import type { PostgresPool } from './database/pool.ts'

export interface PostgresKeyUses extends Pick<Store, 'keyByHash' | 'touchKey'> {
  /** With the last use, written or not. */
  readonly withUse: (key: ApiKey) => ApiKey
  /** Writes the recorded uses. */
  readonly writeUses: () => Promise<void>
}

/** Rows are read for each request, so that a revocation counts at once in every process. */
export function openPostgresKeys(db: PostgresPool): PostgresKeyUses {
  let uses = new Map<KeyId, Instant>()
  let timer: NodeJS.Timeout | undefined

  const withUse = (key: ApiKey): ApiKey => ({ ...key, lastUsedAt: uses.get(key.id) ?? key.lastUsedAt })
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
      { ids: inOrder.map(([id]) => id), times: inOrder.map(([, at]) => at) },
    )
  }

  return {
    async keyByHash(hash) {
      const row = await db.row<{ trigger: object | null; heldAt: Instant | null }>(KEY_WITH_TRIGGER, { hash })
      if (!row) return undefined
      const { trigger, heldAt, ...key } = row
      return {
        key: withUse(API_KEYS.toRecord(key)),
        trigger: trigger ? TRIGGERS.toRecord(trigger) : undefined,
        triggerHeldAt: heldAt ?? undefined,
      }
    },
    touchKey(id, at) {
      uses.set(id, at)
      timer ??= setTimeout(() => void writeUses().catch(ignoreUnwritten), WRITE_USES_EVERY_MS).unref()
    },
    withUse,
    writeUses,
  }
}

function ignoreUnwritten(): void {
  // The next use is written again.
}

/** One round trip for each request. */
const KEY_WITH_TRIGGER = `
  select k.*,
    (select row_to_json(t) from (${TRIGGERS.select}) t where t.id = k."triggerId") as trigger,
    (select restored_at from run_trigger where id = k."triggerId") as "heldAt"
  from (${API_KEYS.select} where hash = :hash) k`
