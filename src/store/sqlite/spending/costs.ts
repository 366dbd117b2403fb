import type { Instant } from '../../../base/clock.ts'
import type { WorkspaceId } from '../../../base/ids.ts'
import { addDecimals } from '../../../base/json/decimal.ts'
import { dayOf, toCostRow, type StoredCost } from '../../rows/cost-rows.ts'
import type { CompletionSpend } from '../../session-update.ts'
import type { Store } from '../../store.ts'
import type { Database } from 'better-sqlite3'
import { gatherSums, type GroupMemory } from '../database/group-memory.ts'

export interface CostTable {
  readonly reads: Pick<Store, 'costs'>
  readonly sums: GroupMemory
  /** Adds a completion to the sums of its day. @param version label of the agent's version */
  add(workspaceId: WorkspaceId, agentN: number, version: string, spend: CompletionSpend, now: Instant): void
  /** Money of one day in one currency. */
  spentOn(workspaceId: WorkspaceId, day: number, currency: string): string
}

export function openCosts(db: Database): CostTable {
  const key =
    'workspace_id = ? and day = ? and agent_n = ? and version = ? and provider = ? and model = ? and currency = ?'
  type Key = [string, number, number, string, string, string, string]
  /** Completions, those of unknown price, and their tokens. */
  type Amounts = [number, number, number, number, number, number, number]
  interface Sum {
    readonly key: Key
    readonly amounts: Amounts
    readonly money: string
  }
  const amountOf = db.prepare<Key, string>(`select amount from cost_day where ${key}`).pluck()
  const put = db.prepare<[...Key, ...Amounts, string]>(
    `insert into cost_day values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict do update set completions = completions + excluded.completions, unpriced = unpriced + excluded.unpriced,
       input_tokens = input_tokens + excluded.input_tokens,
       cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
       cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
       output_tokens = output_tokens + excluded.output_tokens,
       reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens,
       amount = excluded.amount`,
  )
  const sums = gatherSums<Sum>(
    (a, b) => ({
      key: a.key,
      amounts: a.amounts.map((each, at) => each + b.amounts[at]!) as Amounts,
      money: addDecimals(a.money, b.money),
    }),
    // Read and added here: no arithmetic of SQLite is exact for money.
    ({ key, amounts, money }) => put.run(...key, ...amounts, addDecimals(amountOf.get(...key) ?? '0', money)),
  )
  const amountsOn = db
    .prepare<[string, number, string], string>(
      'select amount from cost_day where workspace_id = ? and day = ? and currency = ?',
    )
    .pluck()
  const range = db.prepare<[string, number, number, number], StoredCost>(
    `select c.*, a.name as agent from cost_day c join agent a on a.n = c.agent_n
     where c.workspace_id = ? and c.day >= ? and c.day <= ?
     order by c.day, a.name, c.version, c.provider, c.model, c.currency
     limit ?`,
  )
  return {
    reads: {
      async costs(workspaceId, from, to, limit) {
        return range.all(workspaceId, dayOf(from), dayOf(to), limit).map(toCostRow)
      },
    },
    add(workspaceId, agentN, version, { provider, model, usage, cost }, now) {
      const currency = cost?.currency ?? ''
      const key: Key = [workspaceId, dayOf(now), agentN, version, provider, model, currency]
      const amounts: Amounts = [
        1,
        cost === null ? 1 : 0,
        usage.input_tokens,
        usage.cached_input_tokens ?? 0,
        usage.cache_write_tokens ?? 0,
        usage.output_tokens,
        usage.reasoning_tokens ?? 0,
      ]
      sums.add(key.join('\0'), { key, amounts, money: cost?.amount ?? '0' })
    },
    spentOn(workspaceId, day, currency) {
      sums.write()
      return amountsOn.all(workspaceId, day, currency).reduce(addDecimals, '0')
    },
    sums,
  }
}
