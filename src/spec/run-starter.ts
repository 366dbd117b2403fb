import type { Run } from './run.ts'
import type { RunStarter } from './starter.ts'

/**
 * Who started the root run above a run: a session may be started by one principal and continued by another. For an undoing
 * run, who requested the undo.
 * @param runs of the session
 */
export function starterAbove(run: Run, runs: readonly Run[], session: RunStarter): RunStarter {
  const byId = new Map(runs.map((each) => [each.id, each]))
  for (let at: Run | undefined = run; at; at = at.parentRunId === null ? undefined : byId.get(at.parentRunId))
    if (at.starter) return at.starter
  return session
}
