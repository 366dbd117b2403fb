import type { PlanChange } from '../../session-update.ts'

/** Completions that begin and end, in the form that the counting function reads. */
export const toPlanColumns = ({ cap, reserves, frees }: PlanChange) => ({
  max_tokens: cap.tokens ?? null,
  max_cost: cap.cost?.amount ?? null,
  currency: cap.cost?.currency ?? null,
  frees,
  reserves: reserves.map(({ runId, tokens, cost }) => ({
    run_id: runId,
    tokens,
    amount: cost?.amount ?? null,
    currency: cost?.currency ?? null,
  })),
})
