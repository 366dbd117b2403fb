import type { AgentId, WorkspaceId } from '../../base/ids.ts'
import { joinClauses } from '../rows/filter.ts'
import type { PostgresPool } from './database/pool.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

const COUNTED = { runs: `what = 'runs'`, sessions: `what <> 'runs'`, statuses: 'what = any (:statuses)' }

/** Kept counts of an agent, or of all agents of a workspace: of runs, of sessions, or of sessions of some statuses. */
export async function countOf(
  db: PostgresPool,
  { workspaceId, agentId }: { readonly workspaceId: WorkspaceId; readonly agentId?: AgentId | undefined },
  what: keyof typeof COUNTED,
  statuses: readonly string[] = [],
): Promise<number> {
  const { where, values } = joinClauses([
    ['workspace_id = :workspaceId', workspaceId],
    ['agent_id = :agentId', agentId],
    [COUNTED[what], what === 'statuses' ? statuses : true],
  ])
  const found = await db.row<{ total: number }>(
    `select coalesce(sum(counted), 0)::bigint as total from agent_count where ${where}`,
    values,
  )
  return expectDefined(found, 'a sum always gives a row').total
}
