import type { Database } from 'better-sqlite3'
import type { Instant } from '../../../base/clock.ts'
import { fail } from '../../../base/failure.ts'
import type { RunId, WorkspaceId } from '../../../base/ids.ts'
import { toScaled } from '../../../base/json/decimal.ts'
import type { PlanChange, PlanReservation, SpendCap } from '../../session-update.ts'
import { MS_OF_DAY } from '../../rows/cost-rows.ts'
import type { CostTable } from './costs.ts'
import type { QuotaTable } from './quotas.ts'

export interface PlanTable {
  /**
   * Frees what ended, then reserves what begins. A completion begins while the day's spending and what others have reserved are
   * below the cap, so that those in flight together exceed it by one completion at most. Source: docs/design/models-and-tools.md#limits
   * @throws Failure `plan_spent`, with the time until the next day, or `plan_reserved`
   */
  apply(workspaceId: WorkspaceId, change: PlanChange, numberOf: (run: RunId) => number, now: Instant): void
}

export function openPlan(db: Database, quotas: QuotaTable, costs: CostTable): PlanTable {
  const free = db.prepare<[number]>('delete from plan_reservation where run_n = ?')
  const put = db.prepare<[number, string, number, string | null, string | null]>(
    `insert into plan_reservation (run_n, workspace_id, tokens, amount, currency) values (?, ?, ?, ?, ?)
     on conflict (run_n) do update set tokens = excluded.tokens, amount = excluded.amount, currency = excluded.currency`,
  )
  const others = db.prepare<[string, number], { tokens: number; amount: string | null; currency: string | null }>(
    'select tokens, amount, currency from plan_reservation where workspace_id = ? and run_n <> ?',
  )

  function checkRoom(workspaceId: WorkspaceId, cap: SpendCap, run: number, now: Instant): void {
    const reserved = others.all(workspaceId, run)
    const check = (limit: string, spent: bigint, held: bigint, most: bigint): void => {
      const retryAfterSeconds = Math.ceil((MS_OF_DAY - (now % MS_OF_DAY)) / 1000)
      if (spent >= most) throw fail('plan_spent', { limit }, { retryAfterSeconds })
      if (held > 0n && spent + held >= most) throw fail('plan_reserved', { limit })
    }
    if (cap.tokens !== undefined) {
      const held = reserved.reduce((sum, { tokens }) => sum + tokens, 0)
      check('tokens_per_day', BigInt(quotas.usedOn(workspaceId, now).tokens), BigInt(held), BigInt(cap.tokens))
    }
    if (cap.cost) {
      const { amount, currency } = cap.cost
      const held = reserved.flatMap((each) =>
        each.currency === currency && each.amount !== null ? [toScaled(each.amount)] : [],
      )
      const spent = toScaled(costs.spentOn(workspaceId, Math.floor(now / MS_OF_DAY), currency))
      check(
        'cost_per_day',
        spent,
        held.reduce((sum, each) => sum + each, 0n),
        toScaled(amount),
      )
    }
  }

  const reserve = (workspaceId: WorkspaceId, run: number, { tokens, cost }: PlanReservation): void =>
    void put.run(run, workspaceId, tokens, cost?.amount ?? null, cost?.currency ?? null)

  return {
    apply(workspaceId, { cap, reserves, frees }, numberOf, now) {
      for (const id of frees) free.run(numberOf(id))
      for (const each of reserves) {
        const run = numberOf(each.runId)
        checkRoom(workspaceId, cap, run, now)
        reserve(workspaceId, run, each)
      }
    },
  }
}
