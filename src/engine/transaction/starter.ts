/** The starter of a run, as policies and approvers of its calls need to know. */
import type { RunStarter } from '../../spec/run/starter.ts'
import type { RunHandle } from './transaction.ts'

/**
 * The starter of the root run above, since a session that goes on may be started by one and continued by another; for an
 * undoing run, who requested the undo.
 */
export const starterOfRun = (run: RunHandle): RunStarter =>
  [run, ...run.ancestors()].find(({ record }) => record.starter)?.record.starter ?? run.tx.session

/** The key or person that started the root run above, in the format of `approverOf`; undefined for a schedule. */
export function nameOfStarter(run: RunHandle): string | undefined {
  const { triggerType, triggeredBy, person } = starterOfRun(run)
  if (person !== null) return `operator:${person}`
  if (triggeredBy === null) return undefined
  return triggerType === 'api' ? `key:${triggeredBy}` : `operator:${triggeredBy}`
}
