/**
 * Reserves tokens for completions in flight. Before it is sent, a completion reserves the most it can use in each token budget
 * that it draws on, and frees it with its outcome; without enough left it waits for those in flight. So children that share a
 * budget exceed it by one completion at most, as a single run does. Source: decisions, section 15; security, S31.
 */
import type { RunHandle, SessionTransaction, StateAt } from '../session/transaction.ts'
import { tokenBudget } from './limits.ts'
import { asksAboutLimit } from './on-limit.ts'
import { mostTokens } from '../session/prompt/prompt.ts'
import { tokensOf } from '../session/usage.ts'

/** The state of a run whose completion is sent now with its reservation, or waits as `unsent`. */
export function reserveTokens(run: RunHandle, here: StateAt<'thinking'>): StateAt<'thinking'> {
  const { reserved: _reserved, unsent: _unsent, ...wanted } = here
  if (!run.tx.context.maySend || mustWaitForTokens(run)) return { ...wanted, unsent: true }
  // A single run shares its budget with nobody.
  if (run.tx.runs().length === 1 || budgetsOf(run).length === 0) return wanted
  return { ...wanted, reserved: mostTokens(run, wanted) }
}

/** The first run whose waiting completion may be sent now. */
export function findNextToAdmit(tx: SessionTransaction): RunHandle | undefined {
  if (!tx.context.maySend) return undefined
  const next = tx
    .runs()
    .find(({ id, state }) => state.at === 'thinking' && state.unsent === true && !mustWaitForTokens(tx.run(id)))
  return next && tx.run(next.id)
}

/** True if a budget may not suffice for this completion and those in flight: it is sent when they have their outcome. */
const mustWaitForTokens = (run: RunHandle): boolean =>
  budgetsOf(run).some(({ owner, value }) => {
    const reserved = reservedBelow(owner, run)
    return reserved > 0 && tokensOf(owner) + reserved >= value
  })

/** Tokens left in the budgets that would end the run, less what others have reserved; Infinity without such budgets. */
export const tokensLeft = (run: RunHandle): number =>
  Math.min(
    Infinity,
    ...budgetsOf(run)
      .filter(({ owner }) => !asksAboutLimit(owner, 'max_tokens_per_run'))
      .map(({ owner, value }) => value - tokensOf(owner) - reservedBelow(owner, run)),
  )

/** Token budgets that a run draws on: its own and those of its ancestors. */
const budgetsOf = (run: RunHandle): readonly { readonly owner: RunHandle; readonly value: number }[] =>
  [run, ...run.ancestors()].flatMap((owner) => {
    const value = tokenBudget(owner)
    return value === undefined ? [] : [{ owner, value }]
  })

/** Tokens reserved by a run and its descendants, except one of them. */
function reservedBelow(run: RunHandle, except: RunHandle): number {
  const own = run.state.at === 'thinking' && run.id !== except.id ? (run.state.reserved ?? 0) : 0
  return run.children().reduce((sum, child) => sum + reservedBelow(child, except), own)
}
