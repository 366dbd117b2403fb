/** Sums over all runs of a session, kept by what changes: runs that are over are not read again. */
import { joinCosts, subtractCost, type CostSum } from '../../../spec/price.ts'
import type { Run } from '../../../spec/run.ts'
import type { Session } from '../../../spec/session.ts'
import type { SessionTotals } from './transaction.ts'

/**
 * @param before the runs as they were read
 * @param now the same runs, and new ones
 */
export function totalsOf(session: Session, before: readonly Run[], now: readonly Run[]): SessionTotals {
  const costs = costsOf(now)
  const cost =
    session.cost || costs.length > 0
      ? subtractCost(joinCosts([...(session.cost ? [session.cost] : []), ...costs]), joinCosts(costsOf(before)))
      : undefined
  return {
    runCount: session.runCount + now.length - before.length,
    totalTokensUsed: session.totalTokensUsed + tokensIn(now) - tokensIn(before),
    ...(cost && { cost }),
  }
}

const tokensIn = (runs: readonly Run[]): number =>
  runs.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0)

const costsOf = (runs: readonly Run[]): readonly CostSum[] => runs.flatMap(({ usage }) => usage.cost ?? [])
