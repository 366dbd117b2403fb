import type { Database } from 'better-sqlite3'
import { CHAIN_START, hashAfter } from '../../../spec/chain/hash-chain.ts'
import { dropOldest } from '../../../base/values/collections.ts'
import type { NewLink } from '../../rows/link-rows.ts'
import type { GroupMemory } from '../database/group-memory.ts'

const MAX_HEADS = 1000

export interface LinkTable {
  /** The last hashes of sessions at work. */
  readonly heads: GroupMemory
  /** Adds a link after the last one of the session. */
  add(sessionN: number, link: NewLink): void
}

export function openSessionLinks(db: Database): LinkTable {
  const last = db
    .prepare<[number], string>('select hash from session_link where session_n = ? order by version desc limit 1')
    .pluck()
  const insert = db.prepare(
    `insert into session_link (session_n, version, seq, events, ordinal, steps, content_digest, salt, row_digests, hash)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const heads = new Map<number, string>()
  return {
    heads: { write() {}, drop: () => heads.clear() },
    add(n, { version, seq, events, ordinal, steps, contentDigest, salt, rowDigests, record }) {
      // The number of a deleted session may come again, with version 1.
      const before = version === 1 ? CHAIN_START : (heads.get(n) ?? last.get(n) ?? CHAIN_START)
      const hash = hashAfter(before, record)
      insert.run(n, version, seq, events, ordinal, steps, contentDigest, salt, rowDigests, hash)
      heads.delete(n)
      heads.set(n, hash)
      dropOldest(heads, MAX_HEADS)
    },
  }
}
