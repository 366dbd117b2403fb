/** Browsers that are signed in to the console. */
import { fail } from '../../../base/failure.ts'
import type { ConsoleSession } from '../../../spec/people/key.ts'
import type { Dialect } from '../../dialect.ts'
import { readRow, readRows, writeRows, type NounWork } from '../../statement.ts'
import { defineTable } from '../record-table.ts'

export const CONSOLE_SESSIONS = defineTable<ConsoleSession>('console_session', {
  id: 'text',
  workspaceId: 'text',
  hash: 'text',
  operator: 'text',
  keyId: 'text',
  purpose: 'text',
  provider: 'json',
  signIn: 'text',
  browser: 'text',
  createdAt: 'integer',
  lastUsedAt: 'integer',
  expiresAt: 'integer',
  endedAt: 'integer',
})

export function prepareConsoleSessions({
  insertionOrder,
}: Dialect): NounWork<
  'consoleSessionByHash' | 'consoleSessions',
  'createConsoleSession' | 'touchConsoleSession' | 'endConsoleSession' | 'endConsoleSessionsOf'
> {
  const { select, insert, toValues, toRecord } = CONSOLE_SESSIONS
  const byHash = `${select} where hash = :hash`
  const ofWorkspace = `${select} where workspace_id = :workspaceId
    order by created_at desc, ${insertionOrder} desc limit :limit`
  const newOfSignIn = `${insert} on conflict (sign_in) do nothing`
  return {
    reads: {
      *consoleSessionByHash(hash) {
        const row = yield* readRow(byHash, { hash })
        return row && toRecord(row)
      },
      *consoleSessions(workspaceId, limit) {
        return (yield* readRows(ofWorkspace, { workspaceId, limit })).map(toRecord)
      },
    },
    writes: {
      *createConsoleSession(session) {
        if ((yield* writeRows(newOfSignIn, toValues(session))) === 0)
          throw fail('sign_in_refused', { why: 'this sign-in was finished before' })
      },
      *touchConsoleSession(id, at) {
        yield* writeRows('update console_session set last_used_at = :at where id = :id', { id, at })
      },
      *endConsoleSession(id, at) {
        const sql = 'update console_session set ended_at = coalesce(ended_at, :at) where id = :id'
        if ((yield* writeRows(sql, { id, at })) === 0) throw fail('not_found', { what: 'session of the console' })
      },
      *endConsoleSessionsOf(workspaceId, operator, at) {
        const sql = `update console_session set ended_at = :at
          where workspace_id = :workspaceId and operator = :operator and ended_at is null`
        return (yield* writeRows(sql, { workspaceId, operator, at })) > 0
      },
    },
    transactions: {},
  }
}
