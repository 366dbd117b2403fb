import type { RunId } from '../../base/ids.ts'
import type { Run } from './run.ts'
import type { RunStarter } from './starter.ts'

export type RunsById = ReadonlyMap<RunId, Run>

export const runsById = (runs: readonly Run[]): RunsById => new Map(runs.map((run) => [run.id, run]))

/**
 * Who started the root run above a run: a session may be started by one principal and continued by another. For an undoing
 * run, who requested the undo.
 * @param runs of the session, those above the run at least
 */
export function starterAbove(run: Run, runs: RunsById, session: RunStarter): RunStarter {
  for (let at: Run | undefined = run; at; at = at.parentRunId === null ? undefined : runs.get(at.parentRunId))
    if (at.starter) return at.starter
  return session
}
