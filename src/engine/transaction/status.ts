/** Statuses of runs, as the API names them. Source: docs/design/runs-and-recovery.md#states-and-statuses */
import type { RunId } from '../../base/ids.ts'
import { taskOfState, type Run, type RunState, type RunStatusName } from '../../spec/run/run.ts'

const OUTCOMES = { completed: 'Completed', failed: 'Failed', cancelled: 'Cancelled' } as const

/** Status of each run: its own, and `WaitingForHITL` while a descendant waits for a person. */
export function statusesOf(runs: readonly Run[]): Map<RunId, RunStatusName> {
  const statuses = new Map(runs.map((run) => [run.id, ownStatus(run.state)]))
  const waiting = runs.filter(({ id }) => statuses.get(id) === 'WaitingForHITL')
  if (waiting.length === 0) return statuses
  const parents = new Map(runs.map((run) => [run.id, run.parentRunId]))
  for (const run of waiting) {
    for (let above = run.parentRunId; above !== null; above = parents.get(above) ?? null) {
      if (statuses.get(above) === 'Running') statuses.set(above, 'WaitingForHITL')
    }
  }
  return statuses
}

function ownStatus(state: RunState): RunStatusName {
  switch (state.at) {
    case 'thinking':
    case 'backing_off':
      return 'Running'
    case 'calling':
      if (state.calls.some((call) => taskOfState(call.state) !== undefined)) return 'WaitingForHITL'
      if (state.calls.some(({ state: { at } }) => at === 'listening')) return 'WaitingForResponse'
      return state.calls.some(({ state: { at } }) => at === 'asking') ? 'WaitingForAITL' : 'Running'
    case 'held':
    case 'reviewing':
      return 'WaitingForHITL'
    case 'done':
      return OUTCOMES[state.outcome]
  }
}
