/** Which effects of a run an operator's pause holds. Source: docs/design/steering.md#pauses */
import { findPause, type EffectSubject, type PauseAct } from '../../spec/steer/pause.ts'
import type { RunHandle } from '../transaction/transaction.ts'

/** A pause of an agent or version holds its runs and all work below them. */
export function subjectOf(run: RunHandle, target: Pick<EffectSubject, 'tool' | 'provider'>): EffectSubject {
  const line = [run, ...run.ancestors()].map(({ snapshot }) => snapshot)
  return {
    agents: line.map(({ id }) => id),
    versions: line.map(({ id, version }) => `${id}@${version}`),
    ...target,
  }
}

/** The pause that holds the next completion of a run. */
export const pauseOfCompletion = (run: RunHandle): PauseAct | undefined =>
  run.tx.context.pauses.length === 0
    ? undefined
    : findPause(run.tx.context.pauses, subjectOf(run, { provider: run.snapshot.model.provider }))

/** The pause that holds a call of a run. */
export const pauseOfCall = (run: RunHandle, tool: string): PauseAct | undefined =>
  run.tx.context.pauses.length === 0 ? undefined : findPause(run.tx.context.pauses, subjectOf(run, { tool }))
