/**
 * Reserves tokens for completions in flight. Before it is sent, a completion reserves the most it can use in each token budget
 * that it draws on, and frees it with its outcome; without enough left it waits for those in flight. So children that share a
 * budget exceed it by one completion at most, as a single run does. Source: decisions, section 15; security, S31.
 */
import type { RunId } from '../../base/ids.ts'
import type { RunState } from '../../spec/run.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { tokenBudget } from './limits.ts'
import { asksAboutLimit } from './on-limit.ts'
import { mostTokens } from '../session/prompt.ts'
import { tokensOf } from '../session/usage.ts'

type ReservingRun = Extract<RunState, { at: 'thinking' }>

/** The state of a run whose completion is sent now with its reservation, or waits as `unsent`. */
export function reserveTokens(tx: SessionTransaction, id: RunId, here: ReservingRun): ReservingRun {
  const { reserved: _reserved, unsent: _unsent, ...wanted } = here
  if (!tx.context.maySend || isCrowdedOut(tx, id)) return { ...wanted, unsent: true }
  // A single run shares its budget with nobody.
  if (tx.runs().length === 1 || budgetsOf(tx, id).length === 0) return wanted
  return { ...wanted, reserved: mostTokens(tx, id, wanted) }
}

/** The first run whose waiting completion may be sent now. */
export function nextInLine(tx: SessionTransaction): RunId | undefined {
  if (!tx.context.maySend) return undefined
  return tx.runs().find(({ id, state }) => state.at === 'thinking' && state.unsent === true && !isCrowdedOut(tx, id))
    ?.id
}

function isCrowdedOut(tx: SessionTransaction, id: RunId): boolean {
  return budgetsOf(tx, id).some(({ owner, value }) => {
    const inFlight = reservedBelow(tx, owner, id)
    return inFlight > 0 && tokensOf(tx, owner) + inFlight >= value
  })
}

/** Tokens left in the budgets that would end the run, less what others have reserved; Infinity without such budgets. */
export const tokensLeft = (tx: SessionTransaction, id: RunId): number =>
  Math.min(
    Infinity,
    ...budgetsOf(tx, id)
      .filter(({ owner }) => !asksAboutLimit(tx, owner, 'max_tokens_per_run'))
      .map(({ owner, value }) => value - tokensOf(tx, owner) - reservedBelow(tx, owner, id)),
  )

/** Token budgets that a run draws on: its own and those of its ancestors. */
function budgetsOf(tx: SessionTransaction, id: RunId): { readonly owner: RunId; readonly value: number }[] {
  const budgets: { owner: RunId; value: number }[] = []
  for (let owner: RunId | null = id; owner !== null; owner = tx.run(owner).parentRunId) {
    const value = tokenBudget(tx, owner)
    if (value !== undefined) budgets.push({ owner, value })
  }
  return budgets
}

/** Tokens reserved by a run and its descendants, except one of them. */
function reservedBelow(tx: SessionTransaction, id: RunId, except: RunId): number {
  const { state } = tx.run(id)
  const own = state.at === 'thinking' && id !== except ? (state.reserved ?? 0) : 0
  return tx.childrenOf(id).reduce((sum, child) => sum + reservedBelow(tx, child.id, except), own)
}
