/** Requests completions, as far as limits and budgets allow. */
import type { JsonObject } from '../../base/json/json.ts'
import type { RunState } from '../../spec/run.ts'
import { isExternalModel } from '../../spec/external.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { awaitClient } from './await-client.ts'
import { shortenContext } from './context-window.ts'
import { describeMoney, describeUnpriced, type UnpricedModel } from '../../spec/price.ts'
import { failedState } from './ending.ts'
import { applyLimit, findBreachBeforeCompletion, findUnpriced, haltAncestor, holdForAncestor } from './limits.ts'
import { reservePlan } from './plan.ts'
import { reserveBudgets } from './reserve.ts'
import { takeUpMessages } from './steering.ts'

/** Requests the first completion of a turn. */
export const startTurn = (run: RunHandle, turn: number, note?: JsonObject): RunState =>
  requestCompletion(run, { at: 'thinking', turn, attempt: 1, ...(note && { note }) })

/** Requests a completion, unless a limit of the run or of an ancestor forbids it. */
export function requestCompletion(run: RunHandle, wanted: StateAt<'thinking'>): RunState {
  takeUpMessages(run)
  const breach = findBreachBeforeCompletion(run)
  if (breach) return applyLimit(run, breach, wanted)
  if (isExternalModel(run.snapshot.model)) return awaitClient(run, wanted)
  if (haltAncestor(run, (used, value) => used >= value)) return { ...wanted, unsent: true }
  const unpriced = findUnpriced(run)
  if (unpriced) return haltUnpriced(run, unpriced)
  const held = holdForAncestor(run, wanted)
  if (held) return held
  const shortened = shortenContext(run, wanted)
  return shortened.at === 'thinking' ? reservePlan(run, reserveBudgets(run, shortened)) : shortened
}

/** Fails a run whose cap cannot be enforced. Asks no operator: a grant would not make the price known. */
function haltUnpriced(run: RunHandle, unpriced: UnpricedModel): RunState {
  const value = describeMoney(unpriced.cap)
  run.addStep('LimitReached', { limit: 'max_cost_per_run', value, used: 'cost unknown', action: 'halt' })
  return failedState('limit_exceeded', describeUnpriced(unpriced))
}
