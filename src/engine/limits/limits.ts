/** Limits of runs. Source: docs/design/models-and-tools.md#limits */
import { formatDecimal, toScaled, type ScaledDecimal } from '../../base/json/decimal.ts'
import { isExternalModel } from '../../spec/external.ts'
import { describeCost, describeMoney, isPricedIn, type UnpricedModel } from '../../spec/price.ts'
import type { LimitName, Run, RunState } from '../../spec/run/run.ts'
import type { RunHandle } from '../transaction/transaction.ts'
import { failedState } from './ending.ts'
import type { LimitBreach } from '../session/event.ts'
import { asksAboutLimit } from './on-limit.ts'
import { activeMs, costOfRun, rootOfRun, tokensOf } from '../transaction/usage.ts'
import { withWaitEnded } from '../transaction/waits.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

/** Maximum nesting of sub-agents where the agent sets none. */
const DEFAULT_DEPTH = 5

/** The limit that forbids another completion now, if any. */
export function findBreachBeforeCompletion(run: RunHandle): LimitBreach | undefined {
  return budgetBreach(run, (used, value) => used >= value) ?? wallClockBreach(run)
}

/** The limit that the completion just counted exceeded, if any. @param calls true when it calls tools */
export function findBreachAfterCompletion(run: RunHandle, calls: boolean): LimitBreach | undefined {
  const { usage } = run.record
  const iterations = limitWithGrants(run, 'max_loop_iterations')
  if (calls && iterations !== undefined && usage.iterations >= iterations) {
    return { limit: 'max_loop_iterations', value: iterations, used: usage.iterations }
  }
  return budgetBreach(run, (used, value) => used > value) ?? wallClockBreach(run)
}

/**
 * Halts the nearest ancestor whose budget of tokens or money is used up and that asks no operator. It ends in this transaction, and the run
 * with it.
 */
export function haltAncestor(run: RunHandle, over: IsOver): boolean {
  for (const ancestor of delegatingAncestors(run)) {
    const breach = budgetBreach(ancestor, over)
    if (!breach || asksAboutLimit(ancestor, breach.limit)) continue
    ancestor.queueEvent({ type: 'exhausted', breach })
    return true
  }
  return false
}

/** Holds a run whose ancestor has used up a limit that an operator may extend; undefined while there is none. */
export function holdForAncestor(run: RunHandle, then: RunState): RunState | undefined {
  for (const ancestor of delegatingAncestors(run)) {
    const breach = budgetBreach(ancestor, (used, value) => used >= value) ?? wallClockBreach(ancestor)
    if (!breach || !asksAboutLimit(ancestor, breach.limit)) continue
    const open = run.tx
      .pendingTasks()
      .find((task) => task.runId === ancestor.id && task.about === 'limit' && task.context?.['limit'] === breach.limit)
    // oxlint-disable-next-line unicorn/no-thenable -- `then` is a field of the state; no state is ever awaited
    return { at: 'held', task: open?.id ?? escalateLimit(ancestor, breach), limit: breach.limit, then }
  }
  return undefined
}

/** Ancestors that wait for a delegation, nearest first. One in another state opens its own task, or is ending. */
const delegatingAncestors = (run: RunHandle): readonly RunHandle[] =>
  run.ancestors().filter(({ state }) => state.at === 'calling')

export function wallClockBreach(run: RunHandle): LimitBreach | undefined {
  const value = limitWithGrants(run, 'max_wall_clock_seconds')
  const ms = activeMs(run.record, run.tx.now)
  return value !== undefined && ms >= value * 1000
    ? { limit: 'max_wall_clock_seconds', value, used: Math.round(ms / 1000) }
    : undefined
}

export function hitlWaitBreach(run: RunHandle): LimitBreach | undefined {
  const value = limitWithGrants(run, 'max_hitl_wait_minutes')
  const ms = withWaitEnded(run.usage, run.tx.now).waitedMs
  return value !== undefined && ms >= value * 60_000
    ? { limit: 'max_hitl_wait_minutes', value, used: Math.round(ms / 600) / 100 }
    : undefined
}

/** The limit of the run or of its nearest ancestor that forbids another level of children, if any. */
export function depthBreach(run: RunHandle): LimitBreach | undefined {
  for (const above of [run, ...run.ancestors()]) {
    const value = above.snapshot.limits.max_subagent_depth ?? DEFAULT_DEPTH
    const used = run.record.depth + 1 - above.record.depth
    if (used > value) return { limit: 'max_subagent_depth', value, used }
  }
  return undefined
}

/** The limit that forbids another run in the session, if any. It is that of the root's agent. */
export function sessionRunsBreach(run: RunHandle): LimitBreach | undefined {
  const value = rootOfRun(run).snapshot.sessionLimits?.runs
  const used = run.tx.totals().runCount
  return value !== undefined && used >= value ? { limit: 'max_runs_per_session', value, used } : undefined
}

/** Fails the run, or asks an operator to grant more; `then` is the state it continues in after the grant. */
export function applyLimit(run: RunHandle, breach: LimitBreach, then: RunState): RunState {
  if (!asksAboutLimit(run, breach.limit)) return haltRun(run, breach)
  // oxlint-disable-next-line unicorn/no-thenable -- `then` is a field of the state; no state is ever awaited
  return { at: 'held', task: escalateLimit(run, breach), limit: breach.limit, then }
}

export function haltRun(run: RunHandle, breach: LimitBreach): RunState {
  run.addStep('LimitReached', { ...breach, action: 'halt' })
  return failedState('limit_exceeded', `${describeBreach(breach)}.`)
}

/** Opens the operator's task about a limit. */
export function escalateLimit(run: RunHandle, breach: LimitBreach): Extract<RunState, { at: 'held' }>['task'] {
  run.addStep('LimitReached', { ...breach, action: 'escalate' })
  return run.openTask({
    kind: 'escalation',
    about: 'limit',
    title: `${run.record.agentName} has reached ${breach.limit}`,
    prompt: `${describeBreach(breach)}. ${choiceAbout(run, breach)}`,
    reason: `${describeBreach(breach)}.`,
    context: { ...breach },
  }).id
}

function choiceAbout(run: RunHandle, breach: LimitBreach): string {
  if (breach.limit !== 'context_window') return `Approve to grant ${amountOf(run, breach)} more, reject to end the run.`
  const act = run.snapshot.context?.summarise ? 'summarise' : 'leave out'
  return `Approve to ${act} the oldest messages, reject to end the run.`
}

/** Grants the amount of a limit once more. */
export function grantLimit(run: RunHandle, limit: LimitName): void {
  const { grants } = run.usage
  run.updateUsage({ grants: { ...grants, [limit]: (grants[limit] ?? 0) + 1 } })
}

const describeBreach = ({ limit, value, used }: LimitBreach): string =>
  `The limit ${limit} of ${value} is reached: ${used} used`

export const grantCount = (run: Run, limit: LimitName): number => run.usage.grants[limit] ?? 0

function limitWithGrants(
  run: RunHandle,
  limit: Exclude<LimitName, 'max_subagent_depth' | 'max_cost_per_run' | 'context_window' | SessionLimitName>,
): number | undefined {
  const set = run.snapshot.limits[limit] ?? (limit === 'max_loop_iterations' ? defaultIterations(run) : undefined)
  return set === undefined ? undefined : set * (1 + grantCount(run.record, limit))
}

/** A client is no model in a loop: it may call for as long as it likes where the author set no maximum. */
const defaultIterations = ({ snapshot, tx }: RunHandle): number | undefined =>
  isExternalModel(snapshot.model) ? undefined : tx.context.maxIterations

type SessionLimitName = 'max_tokens_per_session' | 'max_runs_per_session'

/** Tokens that all runs of a session may use, grants of its root runs included; undefined without a limit, and for a child. */
function sessionTokenLimit(run: RunHandle): number | undefined {
  const set = run.record.parentRunId === null ? run.snapshot.sessionLimits?.tokens : undefined
  return set === undefined ? undefined : set * (1 + grantCount(run.record, 'max_tokens_per_session'))
}

/** Grants of a session's limit pass on to each root run that follows. */
export function sessionGrants(root: Run | undefined): Run['usage']['grants'] {
  const granted = root?.usage.grants.max_tokens_per_session
  return granted === undefined ? {} : { max_tokens_per_session: granted }
}

/** Tokens that the session's limit leaves to a root run and its descendants; undefined without a limit, and for a child. */
export function sessionTokenBudget(run: RunHandle): number | undefined {
  const value = sessionTokenLimit(run)
  return value === undefined ? undefined : value - sessionTokens(run) + tokensOf(run)
}

const sessionTokens = (run: RunHandle): number => run.tx.totals().totalTokensUsed

/** Tokens that a run and its descendants may use, grants included; undefined without a limit. */
export const tokenBudget = (run: RunHandle): number | undefined => limitWithGrants(run, 'max_tokens_per_run')

/** Money that a run and its descendants may cost, grants included; undefined without a cap. */
export function costBudget(run: RunHandle): { readonly amount: ScaledDecimal; readonly currency: string } | undefined {
  const { maxCost } = run.snapshot
  if (!maxCost) return undefined
  const grants = grantCount(run.record, 'max_cost_per_run')
  return { amount: toScaled(maxCost.amount) * BigInt(1 + grants), currency: maxCost.currency }
}

/** The amount that one grant adds to a limit, as text. */
function amountOf(run: RunHandle, { limit, value }: LimitBreach): string {
  const { maxCost, sessionLimits } = run.snapshot
  if (typeof value !== 'number') return describeMoney(expectDefined(maxCost, 'money is what max_cost_per_run limits'))
  if (limit === 'max_tokens_per_session') return String(expectDefined(sessionLimits?.tokens, 'the limit is set'))
  return String(value / (1 + grantCount(run.record, limit)))
}

/** Compares what is used of a budget with the budget: both tokens, or both money. */
type IsOver = (used: number | bigint, value: number | bigint) => boolean

const budgetBreach = (run: RunHandle, isOver: IsOver): LimitBreach | undefined =>
  tokenBreach(run, isOver) ?? sessionTokenBreach(run, isOver) ?? costBreach(run, isOver)

function tokenBreach(run: RunHandle, isOver: IsOver): LimitBreach | undefined {
  const value = tokenBudget(run)
  if (value === undefined) return undefined
  const used = tokensOf(run)
  return isOver(used, value) ? { limit: 'max_tokens_per_run', value, used } : undefined
}

function sessionTokenBreach(run: RunHandle, isOver: IsOver): LimitBreach | undefined {
  const value = sessionTokenLimit(run)
  if (value === undefined) return undefined
  const used = sessionTokens(run)
  return isOver(used, value) ? { limit: 'max_tokens_per_session', value, used } : undefined
}

function costBreach(run: RunHandle, isOver: IsOver): LimitBreach | undefined {
  const budget = costBudget(run)
  if (!budget) return undefined
  const { amount, currency } = budget
  const { amounts, unpriced } = costOfRun(run)
  const value = describeMoney({ amount: formatDecimal(amount), currency })
  // An unknown cost cannot be capped.
  if (unpriced > 0 || Object.keys(amounts).some((each) => each !== currency))
    return { limit: 'max_cost_per_run', value, used: describeCost({ amounts, unpriced })! }
  const used = amounts[currency] ?? '0'
  return isOver(toScaled(used), amount)
    ? { limit: 'max_cost_per_run', value, used: describeMoney({ amount: used, currency }) }
    : undefined
}

/**
 * The model of a run whose price is not known in the currency of a cap that the run draws on: its own or an ancestor's. No
 * completion is sent then, since the cap could not be kept.
 */
export function findUnpriced(run: RunHandle): UnpricedModel | undefined {
  const { model, fallback = [] } = run.snapshot
  for (const { snapshot } of [run, ...run.ancestors()]) {
    const { maxCost } = snapshot
    if (!maxCost) continue
    const unpriced = [model, ...fallback].find(
      (each) => !isPricedIn(run.tx.context.termsOf(each).price, maxCost.currency),
    )
    if (unpriced) return { model: unpriced, cap: maxCost }
  }
  return undefined
}
