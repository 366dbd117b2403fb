/** The starter of a run, as policies and approvers of its calls need to know. */
import type { RunStarter } from '../../spec/starter.ts'
import type { RunHandle } from './transaction.ts'

/**
 * The starter of the root run above, since a session that goes on may be started by one and continued by another; for an
 * undoing run, who requested the undo.
 */
export const starterOfRun = (run: RunHandle): RunStarter =>
  [run, ...run.ancestors()].find(({ record }) => record.starter)?.record.starter ?? run.tx.session
