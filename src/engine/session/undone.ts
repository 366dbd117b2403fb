/** The calls that runs undo. Source: decisions, section 18, "Undo". */
import { boundedKey, type EffectKey } from '../../policy/condition/effect-key.ts'
import { isTerminal, undoneCallOf, type CallReference, type Run } from '../../spec/run.ts'
import type { CallRow } from '../../store/session-update.ts'

/**
 * The effect key of the call that undoes another one, where its tool has none of its own: it names the call that is undone, so
 * that this is not done twice. Undefined for a run that undoes nothing.
 */
export function undoKeyOf(run: Pick<Run, 'origin'>): EffectKey | undefined {
  const undone = undoneCallOf(run)
  return undone && boundedKey(`undo:${undone.runId}:${undone.callId}`)
}

/** What became of the undoing of a call. */
export type UndoState =
  /** Nobody has tried, or what was tried was certainly not made. `failed` is the newest run that tried. */
  | { readonly at: 'open'; readonly failed?: Run }
  | { readonly at: 'under_way'; readonly run: Run }
  /** Nobody knows whether it was made. */
  | { readonly at: 'unknown'; readonly run: Run }
  | { readonly at: 'undone'; readonly run: Run }

/**
 * @param runs all runs of the session
 * @param rows all calls of the session
 */
export function undoStateOf(call: CallReference, runs: readonly Run[], rows: readonly CallRow[]): UndoState {
  const run = runs.findLast((each) => {
    const undone = undoneCallOf(each)
    return undone?.runId === call.runId && undone.callId === call.callId
  })
  if (!run) return { at: 'open' }
  if (!isTerminal(run.status)) return { at: 'under_way', run }
  const state = rows.find(({ runId }) => runId === run.id)?.state
  if (run.status === 'Completed' || state === 'executed') return { at: 'undone', run }
  return state === 'unknown' ? { at: 'unknown', run } : { at: 'open', failed: run }
}

/** True where something that these runs did was undone, is being undone, or may have been. */
export const isPartlyUndone = (runs: readonly Run[], rows: readonly CallRow[]): boolean =>
  runs.some((run) => {
    const undone = undoneCallOf(run)
    return undone !== undefined && undoStateOf(undone, runs, rows).at !== 'open'
  })
