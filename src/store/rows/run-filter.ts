/** The filter of a list of runs, and how its total is counted. */
import { isTerminal } from '../../spec/run/run.ts'
import type { RunFilter } from '../queries.ts'

/** Runs of a search that are counted. */
export const MOST_COUNTED = 10_000

export const matchesOnlyOpen = ({ status, waiting }: RunFilter): boolean =>
  waiting === true || (status !== undefined && !status.some(isTerminal))

/** False where the kept count of runs is the total. */
export const isFilteredRuns = (filter: RunFilter): boolean =>
  isRunSearch(filter) ||
  [filter.status, filter.waiting, filter.since, filter.until, filter.sessionId, filter.origin].some(
    (each) => each !== undefined,
  )

export const isRunSearch = (filter: RunFilter): boolean => {
  const { roots, text, tool, effect, versionLabel, trigger, person, approver, metadata } = filter
  return (
    roots === true ||
    [text, tool, effect, versionLabel, trigger, person, approver, metadata].some((each) => each !== undefined)
  )
}
