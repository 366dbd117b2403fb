/** Lists of runs by what they took: the order, the least that they took, and how far such a list looks back. */
import type { RunFilter } from '../queries.ts'
import { joinClauses } from './filter.ts'

/** Runs that are compared, the newest that the other filters let through: what a run took has no index. */
export const MOST_RANKED = 10_000

export const isRanked = ({ sort, minDurationMs, minTokens, minCost }: RunFilter): boolean =>
  (sort !== undefined && sort !== 'started') || [minDurationMs, minTokens, minCost].some((each) => each !== undefined)

/** Which of the compared runs are listed, of a table with the columns `began`, `duration`, `tokens`, `cost` and `n`. */
export const keptOfRanked = ({ minDurationMs, minTokens, minCost }: RunFilter) =>
  joinClauses([
    ['duration >= :minDurationMs', minDurationMs],
    ['tokens >= :minTokens', minTokens],
    ['cost >= :minCost', minCost],
  ])

/** The largest first; of equal ones the newest. */
export const orderOfRanked = ({ sort = 'started' }: RunFilter): string =>
  `${sort === 'started' ? '' : `${sort} desc, `}began desc, n desc`
