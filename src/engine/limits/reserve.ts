/**
 * Reserves tokens and money for completions in flight. Before it is sent, a completion reserves the most it can use in each
 * budget that it draws on, and frees it with its outcome; without enough left it waits for those in flight. So children that share a
 * budget exceed it by one completion at most, as a single run does. Source: docs/design/models-and-tools.md#limits
 */
import type { RunHandle, SessionTransaction, StateAt } from '../transaction/transaction.ts'
import { formatDecimal, toScaled, type ScaledDecimal } from '../../base/json/decimal.ts'
import { mostCostOf, type ModelPrice } from '../../spec/price.ts'
import type { LimitName } from '../../spec/run/run.ts'
import { costBudget, sessionTokenBudget, tokenBudget } from './limits.ts'
import { asksAboutLimit } from './on-limit.ts'
import { pauseOfCompletion } from './pause.ts'
import { mostTokens, sentTokens } from '../prompt/prompt.ts'
import { costOfRun, tokensOf } from '../transaction/usage.ts'

/** The state of a run whose completion is sent now with its reservations, or waits as `unsent`. */
export function reserveBudgets(run: RunHandle, here: StateAt<'thinking'>): StateAt<'thinking'> {
  const {
    reserved: _reserved,
    reservedCost: _cost,
    reservedPlan: _plan,
    unsent: _unsent,
    paused,
    outside: _,
    ...wanted
  } = here
  if (pauseOfCompletion(run)) return { ...wanted, unsent: true, paused: paused ?? run.tx.now }
  if (!run.tx.context.maySend || mustWaitForBudget(run)) return { ...wanted, unsent: true }
  // A single run shares its budgets with nobody.
  if (run.tx.runs().length === 1) return wanted
  return {
    ...wanted,
    ...(budgetsOf(run).length > 0 && { reserved: mostTokens(run, wanted) }),
    ...(costBudgetsOf(run).length > 0 && { reservedCost: formatDecimal(mostCost(run, wanted)) }),
  }
}

/** The first run whose waiting completion may be sent now. */
export function findNextToAdmit(tx: SessionTransaction): RunHandle | undefined {
  if (!tx.context.maySend) return undefined
  const next = tx.runs().find(({ id, state }) => state.at === 'thinking' && isInLine(state) && mayBeSent(tx.run(id)))
  return next && tx.run(next.id)
}

/** True for a completion that is sent once there is room; one that waits for a client is not. */
const isInLine = ({ unsent, outside }: StateAt<'thinking'>): boolean => unsent === true && outside === undefined

const mayBeSent = (run: RunHandle): boolean => !pauseOfCompletion(run) && !mustWaitForBudget(run)

/** True if a budget may not suffice for this completion and those in flight: it is sent when they have their outcome. */
const mustWaitForBudget = (run: RunHandle): boolean =>
  budgetsOf(run).some(({ owner, value }) => {
    const reserved = reservedBelow(owner, run)
    return reserved > 0 && tokensOf(owner) + reserved >= value
  }) ||
  costBudgetsOf(run).some(({ owner, amount, currency }) => {
    const reserved = costReservedBelow(owner, run)
    return reserved > 0n && toScaled(costOfRun(owner).amounts[currency] ?? '0') + reserved >= amount
  })

/** Tokens left in the budgets that would end the run, less what others have reserved; Infinity without such budgets. */
export const tokensLeft = (run: RunHandle): number =>
  Math.min(
    Infinity,
    ...budgetsOf(run)
      .filter(({ owner, limit }) => !asksAboutLimit(owner, limit))
      .map(({ owner, value }) => value - tokensOf(owner) - reservedBelow(owner, run)),
  )

/** Token budgets that a run draws on: its own, those of its ancestors, and the session's. */
const budgetsOf = (run: RunHandle): readonly TokenBudget[] =>
  [run, ...run.ancestors()].flatMap((owner) => {
    const budgets = { max_tokens_per_run: tokenBudget(owner), max_tokens_per_session: sessionTokenBudget(owner) }
    return Object.entries(budgets).flatMap(([limit, value]) =>
      value === undefined ? [] : [{ owner, limit: limit as LimitName, value }],
    )
  })

interface TokenBudget {
  readonly owner: RunHandle
  readonly limit: LimitName
  readonly value: number
}

/** Tokens reserved by a run and its descendants, except one of them. */
function reservedBelow(run: RunHandle, except: RunHandle): number {
  const own = run.state.at === 'thinking' && run.id !== except.id ? (run.state.reserved ?? 0) : 0
  return run.children().reduce((sum, child) => sum + reservedBelow(child, except), own)
}

/** Budgets of money that a run draws on: its own and those of its ancestors. */
const costBudgetsOf = (run: RunHandle) =>
  [run, ...run.ancestors()].flatMap((owner) => {
    const budget = costBudget(owner)
    return budget ? [{ owner, ...budget }] : []
  })

/** Money reserved by a run and its descendants, except one of them. */
function costReservedBelow(run: RunHandle, except: RunHandle): ScaledDecimal {
  const own = run.state.at === 'thinking' && run.id !== except.id ? toScaled(run.state.reservedCost ?? '0') : 0n
  return run.children().reduce((sum, child) => sum + costReservedBelow(child, except), own)
}

/**
 * The most that a completion can cost, by the dearest of the models that may answer it.
 * @param currency counts no model that is billed in another one
 */
export function mostCost(run: RunHandle, wanted: StateAt<'thinking'>, currency?: string): ScaledDecimal {
  const { context } = run.tx
  const { model, fallback = [] } = run.snapshot
  const input = sentTokens(run, wanted)
  const output = wanted.room ?? context.mostOutput(run.snapshot)
  return [model, ...fallback]
    .map((each) => context.termsOf(each).price)
    .filter((price) => typeof price !== 'string' && (currency === undefined || price.currency === currency))
    .map((price) => mostCostOf(price as ModelPrice, input, output))
    .reduce((most, each) => (each > most ? each : most), 0n)
}
