import type { Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { ConsoleSessionId } from '../../base/ids.ts'
import type { ConsoleSession } from '../../spec/key.ts'
import { toConsoleSession, type ConsoleSessionRow } from '../rows/key-rows.ts'
import type { Store } from '../store.ts'
import type { Database } from 'better-sqlite3'

export interface ConsoleSessionTable {
  readonly reads: Pick<Store, 'consoleSessionByHash' | 'consoleSessions'>
  insert(session: ConsoleSession): void
  touch(id: ConsoleSessionId, at: Instant): void
  /** A second end keeps the instant of the first. @throws Failure `not_found` */
  end(id: ConsoleSessionId, at: Instant): void
}

export function openConsoleSessions(db: Database): ConsoleSessionTable {
  const insert = db.prepare(
    `insert into console_session (
       id, workspace_id, hash, operator, key_id, browser, created_at, last_used_at, ended_at
     ) values (
       :id, :workspaceId, :hash, :operator, :keyId, :browser, :createdAt, :lastUsedAt, :endedAt
     )`,
  )
  const byHash = db.prepare<[string], ConsoleSessionRow>(`${SELECT} where hash = ?`)
  const ofWorkspace = db.prepare<[string, number], ConsoleSessionRow>(
    `${SELECT} where workspace_id = ? order by created_at desc, rowid desc limit ?`,
  )
  const touch = db.prepare<[number, string]>('update console_session set last_used_at = ? where id = ?')
  const end = db.prepare<[number, string]>('update console_session set ended_at = coalesce(ended_at, ?) where id = ?')
  return {
    reads: {
      async consoleSessionByHash(hash) {
        const row = byHash.get(hash)
        return row && toConsoleSession(row)
      },
      async consoleSessions(workspaceId, limit) {
        return ofWorkspace.all(workspaceId, limit).map(toConsoleSession)
      },
    },
    insert: (session) => void insert.run({ ...session }),
    touch: (id, at) => void touch.run(at, id),
    end(id, at) {
      if (end.run(at, id).changes === 0) throw fail('not_found', { what: 'session of the console' })
    },
  }
}

const SELECT = `
  select id, workspace_id, hash, operator, key_id, browser, created_at, last_used_at, ended_at
  from console_session`
