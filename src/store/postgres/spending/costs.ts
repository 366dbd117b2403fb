import type { WorkspaceId } from '../../../base/ids.ts'
import { dayOf, toCostRow, type StoredCost } from '../../rows/cost-rows.ts'
import type { Run } from '../../../spec/run/run.ts'
import type { CompletionSpend } from '../../session-update.ts'
import type { Store } from '../../store.ts'
import type { PostgresPool } from '../database/pool.ts'

export const costReads = (db: PostgresPool): Pick<Store, 'costs'> => ({
  async costs(workspaceId, from, to, limit) {
    const rows = await db.rows<StoredCost>(
      `select c.day, a.name as agent, c.version, c.provider, c.model, c.currency, sum(c.completions)::bigint as completions,
         sum(c.unpriced)::bigint as unpriced, sum(c.input_tokens)::bigint as input_tokens,
         sum(c.cached_input_tokens)::bigint as cached_input_tokens,
         sum(c.cache_write_tokens)::bigint as cache_write_tokens, sum(c.output_tokens)::bigint as output_tokens,
         sum(c.reasoning_tokens)::bigint as reasoning_tokens, trim_scale(sum(c.amount))::text as amount
       from cost_day c join agent a on a.id = c.agent_id
       where c.workspace_id = :workspaceId and c.day >= :from and c.day <= :to
       group by c.day, a.name, c.version, c.provider, c.model, c.currency
       order by c.day, a.name, c.version, c.provider, c.model, c.currency
       limit :limit`,
      { workspaceId, from: dayOf(from), to: dayOf(to), limit },
    )
    return rows.map(toCostRow)
  },
})

/** The columns that one completion adds to the sums of its day. */
export const toCostColumns = (
  workspaceId: WorkspaceId,
  { agentId, versionLabel }: Pick<Run, 'agentId' | 'versionLabel'>,
  { provider, model, usage, cost }: CompletionSpend,
) => ({
  workspace_id: workspaceId,
  agent_id: agentId,
  version: versionLabel,
  provider,
  model,
  currency: cost?.currency ?? '',
  unpriced: cost === null ? 1 : 0,
  input_tokens: usage.input_tokens,
  cached_input_tokens: usage.cached_input_tokens ?? 0,
  cache_write_tokens: usage.cache_write_tokens ?? 0,
  output_tokens: usage.output_tokens,
  reasoning_tokens: usage.reasoning_tokens ?? 0,
  // As text: a number of JavaScript is not exact.
  amount: cost?.amount ?? '0',
})
