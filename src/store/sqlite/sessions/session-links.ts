import type { Database } from 'better-sqlite3'
import { CHAIN_START, hashAfter } from '../../../spec/hash-chain.ts'
import type { NewLink } from '../../rows/link-rows.ts'

export interface LinkTable {
  /** Adds a link after the last one of the session. */
  add(sessionN: number, link: NewLink): void
}

export function openSessionLinks(db: Database): LinkTable {
  const last = db
    .prepare<[number], string>('select hash from session_link where session_n = ? order by version desc limit 1')
    .pluck()
  const insert = db.prepare(
    `insert into session_link (session_n, version, seq, events, ordinal, steps, content_digest, salt, hash)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return {
    add(n, { version, seq, events, ordinal, steps, contentDigest, salt, record }) {
      const before = version === 1 ? CHAIN_START : (last.get(n) ?? CHAIN_START)
      insert.run(n, version, seq, events, ordinal, steps, contentDigest, salt, hashAfter(before, record))
    },
  }
}
