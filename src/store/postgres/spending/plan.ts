import type { PlanChange } from '../../session-update.ts'

/** What completions begin and end, as the function that counts them reads it. */
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
