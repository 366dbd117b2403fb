/** Moves a waiting run to another version of its agent. Source: docs/design/steering.md#migrate */
import { migrateCalls } from '../calls/steer/migrate.ts'
import { requestCompletion } from '../limits/request-completion.ts'
import { setBudgetTimers } from '../transaction/derive.ts'
import type { TransitionEventOf } from '../session/event.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import type { RunState } from '../../spec/run/run.ts'

type MovableState = StateAt<'thinking' | 'backing_off' | 'calling' | 'held' | 'reviewing'>

/** Why a run cannot be moved now; undefined if it can. Work in flight was decided by its present version. */
export function whyNotMovable({ state }: RunHandle): string | undefined {
  if (state.at === 'done') return 'it has ended'
  if (state.at === 'thinking' && !state.unsent) return 'its completion is under way'
  if (state.at !== 'calling') return undefined
  const sent = state.calls.find((call) => call.state.at === 'sent')
  if (sent) return `its call of ${sent.ref} is under way`
  // Sub-agents have authority of their own, from the version that the delegation chose.
  const child = state.calls.find((call) => call.state.at === 'delegated' || call.state.at === 'asking')
  return child && `its sub-agent ${child.ref} is at work`
}

export function migrateRun(
  run: RunHandle,
  here: MovableState,
  { version: { id, snapshot }, by, reason }: TransitionEventOf<'migrated'>,
): RunState {
  const { versionLabel: before, status } = run.record
  run.update({ agentVersionId: id, versionLabel: snapshot.version, llmModel: snapshot.model.name })
  run.addStep('RunResumed', {
    resumed_by: by,
    reason,
    status,
    error: null,
    version: snapshot.version,
    from_version: before,
  })
  setBudgetTimers(run)
  if (here.at === 'calling') return migrateCalls(run, here)
  return here.at === 'thinking' ? requestCompletion(run, here) : here
}
