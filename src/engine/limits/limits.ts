/** Limits of runs. Source: authoring format, "Limits"; decisions, section 15. */
import type { RunId } from '../../base/ids.ts'
import type { LimitName, Run, RunState } from '../../spec/run.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { failedState } from './ending.ts'
import type { LimitBreach } from '../session/event.ts'
import { asksAboutLimit } from './on-limit.ts'
import { activeMs, tokensOf } from '../session/usage.ts'
import { withWaitEnded } from '../session/waits.ts'

/** Maximum nesting of sub-agents where the agent sets none. */
const DEFAULT_DEPTH = 5

/** The limit that forbids another completion now, if any. */
export function beforeCompletion(tx: SessionTransaction, id: RunId): LimitBreach | undefined {
  return tokenBreach(tx, id, (used, value) => used >= value) ?? wallClockBreach(tx, id)
}

/** The limit that the completion just counted exceeded, if any. @param calls true when it calls tools */
export function afterCompletion(tx: SessionTransaction, id: RunId, calls: boolean): LimitBreach | undefined {
  const { usage } = tx.run(id)
  const iterations = limitWithGrants(tx, id, 'max_loop_iterations')
  if (calls && iterations !== undefined && usage.iterations >= iterations) {
    return { limit: 'max_loop_iterations', value: iterations, used: usage.iterations }
  }
  return tokenBreach(tx, id, (used, value) => used > value) ?? wallClockBreach(tx, id)
}

/**
 * Halts the nearest ancestor whose token budget is used up and that asks no operator. It ends in this transaction, and the run
 * with it.
 */
export function haltAncestor(
  tx: SessionTransaction,
  id: RunId,
  over: (used: number, value: number) => boolean,
): boolean {
  for (let above = tx.run(id).parentRunId; above !== null; above = tx.run(above).parentRunId) {
    if (tx.run(above).state.at !== 'calling') continue
    const breach = tokenBreach(tx, above, over)
    if (!breach || asksAboutLimit(tx, above, breach.limit)) continue
    tx.queueEvent(above, { type: 'exhausted', breach })
    return true
  }
  return false
}

/** The nearest ancestor that has used up a limit, together with its descendants, and asks an operator for more. */
function overdrawnAncestor(
  tx: SessionTransaction,
  id: RunId,
): { readonly run: RunId; readonly breach: LimitBreach } | undefined {
  for (let above = tx.run(id).parentRunId; above !== null; above = tx.run(above).parentRunId) {
    // An ancestor in another state opens its own task.
    if (tx.run(above).state.at !== 'calling') continue
    const breach = tokenBreach(tx, above, (used, value) => used >= value) ?? wallClockBreach(tx, above)
    if (breach && asksAboutLimit(tx, above, breach.limit)) return { run: above, breach }
  }
  return undefined
}

/** Holds a run whose ancestor has used up a limit that an operator may extend; undefined while there is none. */
export function holdForAncestor(tx: SessionTransaction, id: RunId, then: RunState): RunState | undefined {
  const overdrawn = overdrawnAncestor(tx, id)
  if (!overdrawn) return undefined
  const { run, breach } = overdrawn
  const open = tx
    .pendingTasks()
    .find((task) => task.runId === run && task.about === 'limit' && task.context?.['limit'] === breach.limit)
  // oxlint-disable-next-line unicorn/no-thenable -- `then` is a field of the state; no state is ever awaited
  return { at: 'held', task: open?.id ?? escalateLimit(tx, run, breach), limit: breach.limit, then }
}

export function wallClockBreach(tx: SessionTransaction, id: RunId): LimitBreach | undefined {
  const value = limitWithGrants(tx, id, 'max_wall_clock_seconds')
  const used = Math.round(activeMs(tx.run(id), tx.now) / 1000)
  return value !== undefined && activeMs(tx.run(id), tx.now) >= value * 1000
    ? { limit: 'max_wall_clock_seconds', value, used }
    : undefined
}

export function hitlWaitBreach(tx: SessionTransaction, id: RunId): LimitBreach | undefined {
  const value = limitWithGrants(tx, id, 'max_hitl_wait_minutes')
  const ms = withWaitEnded(tx.run(id).usage, tx.now).waitedMs
  return value !== undefined && ms >= value * 60_000
    ? { limit: 'max_hitl_wait_minutes', value, used: Math.round(ms / 600) / 100 }
    : undefined
}

/** The first run, from the caller up, below which a child of `id` would be nested too deep. */
export function depthBreach(tx: SessionTransaction, id: RunId): LimitBreach | undefined {
  const depth = tx.run(id).depth + 1
  for (let above: RunId | null = id; above !== null; above = tx.run(above).parentRunId) {
    const value = tx.snapshot(above).limits.max_subagent_depth ?? DEFAULT_DEPTH
    const used = depth - tx.run(above).depth
    if (used > value) return { limit: 'max_subagent_depth', value, used }
  }
  return undefined
}

/** Fails the run, or asks an operator to grant more; `then` is the state it continues in after the grant. */
export function applyLimit(tx: SessionTransaction, id: RunId, breach: LimitBreach, then: RunState): RunState {
  if (!asksAboutLimit(tx, id, breach.limit)) return haltRun(tx, id, breach)
  // oxlint-disable-next-line unicorn/no-thenable -- `then` is a field of the state; no state is ever awaited
  return { at: 'held', task: escalateLimit(tx, id, breach), limit: breach.limit, then }
}

export function haltRun(tx: SessionTransaction, id: RunId, breach: LimitBreach): RunState {
  tx.addStep(id, 'LimitReached', { ...breach, action: 'halt' })
  return failedState('limit_exceeded', `${describeBreach(breach)}.`)
}

/** Opens the operator's task about a limit. */
export function escalateLimit(
  tx: SessionTransaction,
  id: RunId,
  breach: LimitBreach,
): Extract<RunState, { at: 'held' }>['task'] {
  tx.addStep(id, 'LimitReached', { ...breach, action: 'escalate' })
  return tx.openTask({
    runId: id,
    kind: 'escalation',
    about: 'limit',
    title: `${tx.run(id).agentName} has reached ${breach.limit}`,
    prompt: `${describeBreach(breach)}. Approve to grant ${breach.value / (1 + grantCount(tx.run(id), breach.limit))} more, reject to end the run.`,
    reason: `${describeBreach(breach)}.`,
    context: { ...breach },
  }).id
}

/** Grants the amount of a limit once more. */
export function grantLimit(tx: SessionTransaction, id: RunId, limit: LimitName): void {
  const { grants } = tx.run(id).usage
  tx.updateUsage(id, { grants: { ...grants, [limit]: (grants[limit] ?? 0) + 1 } })
}

const describeBreach = ({ limit, value, used }: LimitBreach): string =>
  `The limit ${limit} of ${value} is reached: ${used} used`

const grantCount = (run: Run, limit: LimitName): number => run.usage.grants[limit] ?? 0

function limitWithGrants(
  tx: SessionTransaction,
  id: RunId,
  limit: Exclude<LimitName, 'max_subagent_depth'>,
): number | undefined {
  const set = tx.snapshot(id).limits[limit] ?? (limit === 'max_loop_iterations' ? tx.context.maxIterations : undefined)
  return set === undefined ? undefined : set * (1 + grantCount(tx.run(id), limit))
}

/** Tokens that a run and its descendants may use, grants included; undefined without a limit. */
export const tokenBudget = (tx: SessionTransaction, id: RunId): number | undefined =>
  limitWithGrants(tx, id, 'max_tokens_per_run')

function tokenBreach(
  tx: SessionTransaction,
  id: RunId,
  over: (used: number, value: number) => boolean,
): LimitBreach | undefined {
  const value = tokenBudget(tx, id)
  if (value === undefined) return undefined
  const used = tokensOf(tx, id)
  return over(used, value) ? { limit: 'max_tokens_per_run', value, used } : undefined
}
