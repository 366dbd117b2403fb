/** Requests completions, as far as limits and budgets allow. */
import type { JsonObject } from '../../base/json.ts'
import type { RunState } from '../../spec/run.ts'
import type { RunHandle, StateAt } from '../session/transaction.ts'
import { applyLimit, findBreachBeforeCompletion, haltAncestor, holdForAncestor } from './limits.ts'
import { reserveTokens } from './reserve.ts'

/** Requests the first completion of a turn. */
export const startTurn = (run: RunHandle, turn: number, note?: JsonObject): RunState =>
  requestCompletion(run, { at: 'thinking', turn, attempt: 1, ...(note && { note }) })

/** Requests a completion, unless a limit of the run or of an ancestor forbids it. */
export function requestCompletion(run: RunHandle, wanted: StateAt<'thinking'>): RunState {
  const breach = findBreachBeforeCompletion(run)
  if (breach) return applyLimit(run, breach, wanted)
  if (haltAncestor(run, (used, value) => used >= value)) return { ...wanted, unsent: true }
  return holdForAncestor(run, wanted) ?? reserveTokens(run, wanted)
}
