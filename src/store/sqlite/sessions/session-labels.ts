/** Title, metadata, tags and legal hold of sessions: set by people and products. No run reads or writes them. */
import type { SessionId } from '../../../base/ids.ts'
import type { SessionLabels } from '../../queries.ts'
import { toText } from '../../rows/json-column.ts'
import type { Database } from 'better-sqlite3'

export interface LabelTable {
  /** Sets what is given; a title of null is removed, empty tags and metadata are kept as such. @returns false for a session that is not there, or was erased */
  set(id: SessionId, labels: SessionLabels): boolean
}

interface LabelRow {
  n: number
  agent_n: number
  started_at: number
  title: string | null
  metadata: string | null
  tags: string | null
  legal_hold: 0 | 1
}

export function openLabels(db: Database): LabelTable {
  const one = db.prepare<[string], LabelRow>(
    `select n, agent_n, started_at, title, metadata, tags, legal_hold
     from session
     where id = ? and erased_at is null`,
  )
  const update = db.prepare(
    `update session
     set title = :title, metadata = :metadata, tags = :tags, legal_hold = :legalHold
     where n = :n`,
  )
  const deleteTag = db.prepare<[number, string, number, number]>(
    'delete from session_tag where agent_n = ? and tag = ? and started_at = ? and session_n = ?',
  )
  const insertTag = db.prepare<[number, string, number, number]>(
    'insert into session_tag (agent_n, tag, started_at, session_n) values (?, ?, ?, ?)',
  )

  return {
    set(id, { title, metadata, tags, legalHold }) {
      const row = one.get(id)
      if (!row) return false
      const { n, agent_n: agentN, started_at: startedAt } = row
      if (tags) {
        for (const tag of JSON.parse(row.tags ?? '[]') as string[]) deleteTag.run(agentN, tag, startedAt, n)
        for (const tag of tags) insertTag.run(agentN, tag, startedAt, n)
      }
      update.run({
        n,
        title: title === undefined ? row.title : title,
        metadata: metadata ? toText(metadata) : row.metadata,
        tags: tags ? toText(tags) : row.tags,
        legalHold: legalHold === undefined ? row.legal_hold : Number(legalHold),
      })
      return true
    },
  }
}
