/**
 * Tokens of completions in flight. A completion takes the most it can use from every token budget above it before it is asked
 * for, and gives it back with its outcome; what finds nothing left beside those in flight waits for them. So children that share
 * a budget go beyond it by one completion at most, as one run alone does. Source: decisions, section 15; security, S31.
 */
import type { RunId } from '../../base/ids.ts'
import type { RunState } from '../../spec/run.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { tokenBudget } from './limits.ts'
import { asksAboutLimit } from './on-limit.ts'
import { mostTokens } from '../session/prompt.ts'
import { tokensOf } from '../session/usage.ts'

type ReservingRun = Extract<RunState, { at: 'thinking' }>

/** The completion as it is asked for now, or as it waits. */
export function reserveTokens(tx: SessionTransaction, id: RunId, here: ReservingRun): ReservingRun {
  const { reserved: _reserved, unsent: _unsent, ...wanted } = here
  if (!tx.context.maySend || isCrowdedOut(tx, id)) return { ...wanted, unsent: true }
  // A run that is alone has nobody to share with.
  if (tx.runs().length === 1 || budgetsOf(tx, id).length === 0) return wanted
  return { ...wanted, reserved: mostTokens(tx, id, wanted) }
}

/** The first run whose completion waited and may be asked for now. */
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

/** Tokens that are left of the budgets that end the run, beside what others have reserved; Infinity where there is none. */
export const tokensLeft = (tx: SessionTransaction, id: RunId): number =>
  Math.min(
    Infinity,
    ...budgetsOf(tx, id)
      .filter(({ owner }) => !asksAboutLimit(tx, owner, 'max_tokens_per_run'))
      .map(({ owner, value }) => value - tokensOf(tx, owner) - reservedBelow(tx, owner, id)),
  )

/** Token budgets that a run draws on: its own, and those of the runs it works for. */
function budgetsOf(tx: SessionTransaction, id: RunId): { readonly owner: RunId; readonly value: number }[] {
  const budgets: { owner: RunId; value: number }[] = []
  for (let owner: RunId | null = id; owner !== null; owner = tx.run(owner).parentRunId) {
    const value = tokenBudget(tx, owner)
    if (value !== undefined) budgets.push({ owner, value })
  }
  return budgets
}

/** What a run and its descendants have reserved, apart from one of them. */
function reservedBelow(tx: SessionTransaction, id: RunId, but: RunId): number {
  const { state } = tx.run(id)
  const own = state.at === 'thinking' && id !== but ? (state.reserved ?? 0) : 0
  return tx.childrenOf(id).reduce((sum, child) => sum + reservedBelow(tx, child.id, but), own)
}
