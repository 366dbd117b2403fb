import type { AgentId, WorkspaceId } from '../../base/ids.ts'
import type { Database } from 'better-sqlite3'
import { expectDefined } from '../../base/values/expect-defined.ts'

export interface AgentCounts {
  readonly n: number
  readonly sessions: number
  readonly runs: number
}

export interface AgentTable {
  /** Row number of an agent; inserts a row for an agent that is not stored yet. */
  numberOf(id: AgentId, workspaceId: WorkspaceId, name: string): number
  find(id: AgentId, workspaceId: WorkspaceId): AgentCounts | undefined
  /** Sums over the agents of a workspace. */
  totals(workspaceId: WorkspaceId): Omit<AgentCounts, 'n'>
  countSession(n: number): void
  countRun(n: number): void
}

export function openAgents(db: Database): AgentTable {
  const find = db.prepare<[string, string], AgentCounts>(
    'select n, sessions, runs from agent where id = ? and workspace_id = ?',
  )
  const insert = db.prepare<[string, string, string], { n: number }>(
    'insert into agent (id, workspace_id, name) values (?, ?, ?) returning n',
  )
  const totals = db.prepare<[string], Omit<AgentCounts, 'n'>>(
    `select coalesce(sum(sessions), 0) as sessions, coalesce(sum(runs), 0) as runs
     from agent
     where workspace_id = ?`,
  )
  const countSession = db.prepare<[number]>('update agent set sessions = sessions + 1 where n = ?')
  const countRun = db.prepare<[number]>('update agent set runs = runs + 1 where n = ?')
  return {
    numberOf: (id, workspaceId, name) =>
      expectDefined(find.get(id, workspaceId) ?? insert.get(id, workspaceId, name), 'an insertion gives its row').n,
    find: (id, workspaceId) => find.get(id, workspaceId),
    totals: (workspaceId) => expectDefined(totals.get(workspaceId), 'a sum always gives a row'),
    countSession: (n) => void countSession.run(n),
    countRun: (n) => void countRun.run(n),
  }
}
