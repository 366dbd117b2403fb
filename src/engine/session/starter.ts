/** Who started a run, as policies and approvers of its calls need to know. */
import type { RunStarter } from '../../spec/starter.ts'
import { rootOfRun } from './usage.ts'
import type { RunHandle } from './transaction.ts'

/** The starter of the root run above: a session that goes on may be started by one and continued by another. */
export const starterOfRun = (run: RunHandle): RunStarter => rootOfRun(run).record.starter ?? run.tx.session
