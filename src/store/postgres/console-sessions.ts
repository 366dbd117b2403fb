import { fail } from '../../base/failure.ts'
import { toConsoleSession, type ConsoleSessionRow } from '../rows/key-rows.ts'
import type { Store } from '../store.ts'
import type { PostgresPool } from './database/pool.ts'

type ConsoleSessionMethods = Pick<
  Store,
  'createConsoleSession' | 'consoleSessionByHash' | 'consoleSessions' | 'touchConsoleSession' | 'endConsoleSession'
>

export const consoleSessionMethods = (db: PostgresPool): ConsoleSessionMethods => ({
  async createConsoleSession(session) {
    await db.run(
      `insert into console_session (
         id, workspace_id, hash, operator, key_id, browser, created_at, last_used_at, ended_at
       ) values (
         :id, :workspaceId, :hash, :operator, :keyId, :browser, :createdAt, :lastUsedAt, :endedAt
       )`,
      { ...session },
    )
  },
  async consoleSessionByHash(hash) {
    const row = await db.row<ConsoleSessionRow>(`${SELECT} where hash = :hash`, { hash })
    return row && toConsoleSession(row)
  },
  async consoleSessions(workspaceId, limit) {
    const rows = await db.rows<ConsoleSessionRow>(
      `${SELECT} where workspace_id = :workspaceId order by created_at desc, n desc limit :limit`,
      { workspaceId, limit },
    )
    return rows.map(toConsoleSession)
  },
  async touchConsoleSession(id, at) {
    await db.run('update console_session set last_used_at = :at where id = :id', { id, at })
  },
  async endConsoleSession(id, at) {
    const ended = await db.run('update console_session set ended_at = coalesce(ended_at, :at) where id = :id', {
      id,
      at,
    })
    if (ended === 0) throw fail('not_found', { what: 'session of the console' })
  },
})

const SELECT = `
  select id, workspace_id, hash, operator, key_id, browser, created_at, last_used_at, ended_at
  from console_session`
