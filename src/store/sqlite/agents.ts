import type { AgentId, WorkspaceId } from '../../base/ids.ts'
import type { Database } from 'better-sqlite3'
import { gatherSums, type GroupMemory } from './database/group-memory.ts'
import { createRowCache } from './database/row-cache.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

export interface AgentCounts {
  readonly n: number
  readonly sessions: number
  readonly runs: number
}

export interface AgentTable {
  /** Runs and sessions that were counted. */
  readonly sums: GroupMemory
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
  const count = db.prepare<[number, number, number]>(
    'update agent set sessions = sessions + ?, runs = runs + ? where n = ?',
  )
  const counts = gatherSums<AgentCounts>(
    (a, b) => ({ n: a.n, sessions: a.sessions + b.sessions, runs: a.runs + b.runs }),
    ({ n, sessions, runs }) => count.run(sessions, runs, n),
  )
  /** Never changes, and no agent is deleted; but the transaction that inserts one may be rolled back. */
  const numbers = createRowCache<number>((key) => {
    const [id = '', workspaceId = ''] = key.split(' ')
    return find.get(id, workspaceId)?.n
  })
  return {
    sums: {
      write: counts.write,
      drop() {
        counts.drop()
        numbers.clear()
      },
    },
    numberOf: (id, workspaceId, name) =>
      numbers.get(`${id} ${workspaceId}`) ??
      expectDefined(insert.get(id, workspaceId, name), 'an insertion gives its row').n,
    find: (id, workspaceId) => find.get(id, workspaceId),
    totals: (workspaceId) => expectDefined(totals.get(workspaceId), 'a sum always gives a row'),
    countSession: (n) => counts.add(String(n), { n, sessions: 1, runs: 0 }),
    countRun: (n) => counts.add(String(n), { n, sessions: 0, runs: 1 }),
  }
}
