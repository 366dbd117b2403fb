/** What a run may use. Source: authoring format, "Limits"; decisions, section 15. */
import type { RunId } from '../../base/ids.ts'
import type { LimitName, Run, RunState } from '../../spec/run.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { failedState } from './ending.ts'
import type { LimitBreach } from '../session/event.ts'
import { asksAboutLimit } from './on-limit.ts'
import { activeMs, tokensOf } from '../session/usage.ts'
import { endedWait } from '../session/waits.ts'

/** Nesting that is allowed where the agent says nothing. */
const DEFAULT_DEPTH = 5

/** What forbids another completion now, if anything does. */
export function beforeCompletion(draft: SessionTransaction, id: RunId): LimitBreach | undefined {
  return tokens(draft, id, (used, value) => used >= value) ?? wallClock(draft, id)
}

/** What a completion that has just been counted went beyond. @param calls true when it calls tools */
export function afterCompletion(draft: SessionTransaction, id: RunId, calls: boolean): LimitBreach | undefined {
  const { usage } = draft.run(id)
  const iterations = allowed(draft, id, 'max_loop_iterations')
  if (calls && iterations !== undefined && usage.iterations >= iterations) {
    return { limit: 'max_loop_iterations', value: iterations, used: usage.iterations }
  }
  return tokens(draft, id, (used, value) => used > value) ?? wallClock(draft, id)
}

/**
 * Tells the nearest ancestor whose token budget the tree below it has used up, and that stops at once when it is. It ends in
 * this same move, and the run with it.
 */
export function haltAncestor(
  draft: SessionTransaction,
  id: RunId,
  over: (used: number, value: number) => boolean,
): boolean {
  for (let above = draft.run(id).parentRunId; above !== null; above = draft.run(above).parentRunId) {
    if (draft.run(above).state.at !== 'calling') continue
    const breach = tokens(draft, above, over)
    if (!breach || asksAboutLimit(draft, above, breach.limit)) continue
    draft.tell(above, { type: 'exhausted', breach })
    return true
  }
  return false
}

/** The nearest ancestor that may use no more, with what is below it, until an operator grants it. */
function overdrawnAncestor(
  draft: SessionTransaction,
  id: RunId,
): { readonly run: RunId; readonly breach: LimitBreach } | undefined {
  for (let above = draft.run(id).parentRunId; above !== null; above = draft.run(above).parentRunId) {
    // One that is not calling asks for a grant by itself.
    if (draft.run(above).state.at !== 'calling') continue
    const breach = tokens(draft, above, (used, value) => used >= value) ?? wallClock(draft, above)
    if (breach && asksAboutLimit(draft, above, breach.limit)) return { run: above, breach }
  }
  return undefined
}

/** Holds a run whose ancestor has used up a limit that an operator may extend; undefined while there is none. */
export function holdForAncestor(draft: SessionTransaction, id: RunId, then: RunState): RunState | undefined {
  const overdrawn = overdrawnAncestor(draft, id)
  if (!overdrawn) return undefined
  const { run, breach } = overdrawn
  const asked = draft
    .tasks()
    .find((task) => task.runId === run && task.about === 'limit' && task.context?.['limit'] === breach.limit)
  // oxlint-disable-next-line unicorn/no-thenable -- `then` is the word of the state; no state is ever awaited
  return { at: 'held', task: asked?.id ?? escalateLimit(draft, run, breach), limit: breach.limit, then }
}

export function wallClock(draft: SessionTransaction, id: RunId): LimitBreach | undefined {
  const value = allowed(draft, id, 'max_wall_clock_seconds')
  const used = Math.round(activeMs(draft.run(id), draft.now) / 1000)
  return value !== undefined && activeMs(draft.run(id), draft.now) >= value * 1000
    ? { limit: 'max_wall_clock_seconds', value, used }
    : undefined
}

export function hitlWait(draft: SessionTransaction, id: RunId): LimitBreach | undefined {
  const value = allowed(draft, id, 'max_hitl_wait_minutes')
  const ms = endedWait(draft.run(id).usage, draft.now).waitedMs
  return value !== undefined && ms >= value * 60_000
    ? { limit: 'max_hitl_wait_minutes', value, used: Math.round(ms / 600) / 100 }
    : undefined
}

/** The first run, from the caller up, below which a child of `id` would be nested too deep. */
export function tooDeep(draft: SessionTransaction, id: RunId): LimitBreach | undefined {
  const depth = draft.run(id).depth + 1
  for (let above: RunId | null = id; above !== null; above = draft.run(above).parentRunId) {
    const value = draft.snapshot(above).limits.max_subagent_depth ?? DEFAULT_DEPTH
    const used = depth - draft.run(above).depth
    if (used > value) return { limit: 'max_subagent_depth', value, used }
  }
  return undefined
}

/** Stops the run, or puts the limit before an operator; `then` is where it goes on once more is granted. */
export function applyLimit(draft: SessionTransaction, id: RunId, breach: LimitBreach, then: RunState): RunState {
  if (!asksAboutLimit(draft, id, breach.limit)) return haltRun(draft, id, breach)
  // oxlint-disable-next-line unicorn/no-thenable -- `then` is the word of the state; no state is ever awaited
  return { at: 'held', task: escalateLimit(draft, id, breach), limit: breach.limit, then }
}

export function haltRun(draft: SessionTransaction, id: RunId, breach: LimitBreach): RunState {
  draft.step(id, 'LimitReached', { ...breach, action: 'halt' })
  return failedState('limit_exceeded', `${sayBreach(breach)}.`)
}

/** Opens the operator's task about a limit. */
export function escalateLimit(
  draft: SessionTransaction,
  id: RunId,
  breach: LimitBreach,
): Extract<RunState, { at: 'held' }>['task'] {
  draft.step(id, 'LimitReached', { ...breach, action: 'escalate' })
  return draft.openTask({
    runId: id,
    kind: 'escalation',
    about: 'limit',
    title: `${draft.run(id).agentName} has reached ${breach.limit}`,
    prompt: `${sayBreach(breach)}. Approve to grant ${breach.value / (1 + granted(draft.run(id), breach.limit))} more, reject to end the run.`,
    reason: `${sayBreach(breach)}.`,
    context: { ...breach },
  }).id
}

/** Grants the amount of a limit once more. */
export function grantLimit(draft: SessionTransaction, id: RunId, limit: LimitName): void {
  const { grants } = draft.run(id).usage
  draft.use(id, { grants: { ...grants, [limit]: (grants[limit] ?? 0) + 1 } })
}

const sayBreach = ({ limit, value, used }: LimitBreach): string =>
  `The limit ${limit} of ${value} is reached: ${used} used`

const granted = (run: Run, limit: LimitName): number => run.usage.grants[limit] ?? 0

function allowed(
  draft: SessionTransaction,
  id: RunId,
  limit: Exclude<LimitName, 'max_subagent_depth'>,
): number | undefined {
  const set =
    draft.snapshot(id).limits[limit] ?? (limit === 'max_loop_iterations' ? draft.world.maxIterations : undefined)
  return set === undefined ? undefined : set * (1 + granted(draft.run(id), limit))
}

/** Tokens that a run and its descendants may use, with what was granted on top; undefined where it has no such limit. */
export const tokenBudget = (draft: SessionTransaction, id: RunId): number | undefined =>
  allowed(draft, id, 'max_tokens_per_run')

function tokens(
  draft: SessionTransaction,
  id: RunId,
  over: (used: number, value: number) => boolean,
): LimitBreach | undefined {
  const value = tokenBudget(draft, id)
  if (value === undefined) return undefined
  const used = tokensOf(draft, id)
  return over(used, value) ? { limit: 'max_tokens_per_run', value, used } : undefined
}
