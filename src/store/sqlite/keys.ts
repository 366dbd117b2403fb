import type { Instant } from '../../base/clock.ts'
import type { KeyId } from '../../base/ids.ts'
import type { ApiKey } from '../../spec/people/key.ts'
import { API_KEYS, WRITE_USES_EVERY_MS } from '../nouns/people/api-keys.ts'
import { createRowCache } from './database/row-cache.ts'
import type { Database } from 'better-sqlite3'

/** The keys that requests bring, and their uses until they are written. */
export interface KeyUses {
  /** @param hash SHA-256 of the secret, hexadecimal */
  readonly find: (hash: string) => ApiKey | undefined
  /** With the last use, written or not. */
  readonly withUse: (key: ApiKey) => ApiKey
  readonly touch: (id: KeyId, at: Instant) => void
  /** Must be called by every write of a key. */
  readonly clear: () => void
  /** Writes the recorded uses if the last write of uses is long enough ago. */
  readonly writeDueUses: () => void
  /** Writes all recorded uses. */
  readonly writeAllUses: () => void
}

export function openKeyUses(db: Database): KeyUses {
  const { select, toRecord } = API_KEYS
  const byHash = db.prepare<[string], object>(`${select} where hash = ?`)
  const cache = createRowCache((hash) => {
    const row = byHash.get(hash)
    return row && toRecord(row)
  })
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
  const withUse = (key: ApiKey): ApiKey => ({ ...key, lastUsedAt: uses.get(key.id) ?? key.lastUsedAt })

  return {
    find(hash) {
      const key = cache.get(hash)
      return key && withUse(key)
    },
    withUse,
    touch(id, at) {
      uses.set(id, at)
      newest = at
    },
    clear: () => cache.clear(),
    writeDueUses() {
      // The absolute value, so that uses are written too after the clock was set back.
      if (Math.abs(newest - written) >= WRITE_USES_EVERY_MS) writeAllUses()
    },
    writeAllUses,
  }
}
