/** Requests completions, as far as limits and budgets allow. */
import type { JsonObject } from '../../base/json/json.ts'
import type { RunState } from '../../spec/run/run.ts'
import { isExternalModel } from '../../spec/external.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { awaitClient } from './await-client.ts'
import { describeMoney, describeUnpriced, type UnpricedModel } from '../../spec/price.ts'
import { failedState } from './ending.ts'
import {
  applyLimit,
  findBreachBeforeCompletion,
  findUnpriced,
  haltAncestor,
  holdForAncestor,
  grantCount,
} from './limits.ts'
import { reserveBudgets, mostCost } from './reserve.ts'
import { takeUpMessages } from './steering.ts'
import { contextBudget, type ContextRule } from '../../spec/context-rule.ts'
import type { RunStep } from '../../spec/step.ts'
import { resultsOf } from '../prompt/call-results.ts'
import { cutsOf, dividedAt, leftOutOf, toLeftOutContent, type LeftOut } from '../prompt/left-out.ts'
import { messagesOf } from '../prompt/messages.ts'
import { sentTokens, summaryWanted, mostTokens } from '../prompt/prompt.ts'
import { asksAboutLimit } from './on-limit.ts'
import { formatDecimal } from '../../base/json/decimal.ts'
import { PLAN_CAUSE } from '../../spec/run/outage.ts'
import { backOff } from './back-off.ts'
import { describeExpired, nextAttempt } from './outage.ts'

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

/**
 * Requests the completion after leaving out what does not fit, or first a summary of that, or asks an operator. A prompt
 * that cannot be shortened stays as it is; its size is checked before it is sent.
 */
function shortenContext(run: RunHandle, wanted: StateAt<'thinking'>): RunState {
  const { context: rule, model } = run.snapshot
  if (!rule || summaryWanted(wanted.note) || wanted.note?.['repair'] === true) return wanted
  const value = contextBudget(rule, run.tx.context.termsOf(model).contextWindow)
  const used = sentTokens(run, wanted)
  if (used <= value) return wanted
  const leftOut = chooseLeftOut(run, wanted, rule, value)
  if (!leftOut) return wanted
  const breach = { limit: 'context_window', value, used } as const
  if (asksAboutLimit(run, 'context_window') && grantCount(run.record, 'context_window') <= countShortened(run.steps()))
    return applyLimit(run, breach, wanted)
  if (rule.summarise)
    return { ...wanted, note: { ...wanted.note, summarise: { ...leftOut, value, used } as JsonObject } }
  run.addStep('LimitReached', { ...breach, action: 'leave_out', ...toLeftOutContent(leftOut) })
  return wanted
}

/** Each approval stands for one shortening. */
const countShortened = (steps: readonly RunStep[]): number =>
  steps.filter(({ content }) => content['limit'] === 'context_window' && content['left_out'] !== undefined).length

/**
 * The least that has to be left out for the prompt to take half of the budget, so that it is not shortened again at once; at most
 * all but the messages that the rule keeps. Undefined where nothing may be left out.
 */
function chooseLeftOut(
  run: RunHandle,
  wanted: StateAt<'thinking'>,
  { keep }: ContextRule,
  budget: number,
): LeftOut | undefined {
  const steps = run.steps()
  const results = resultsOf(steps)
  const count = (some: readonly RunStep[]): number =>
    messagesOf(some, results, new Map(), run.snapshot.model.name).length
  const before = leftOutOf(steps)
  const cuts = cutsOf(steps).filter(
    (through) => through > (before?.through ?? 0) && count(dividedAt(steps, through).newer) >= keep,
  )
  const toLeftOut = (through: number): LeftOut => ({
    through,
    messages: count(dividedAt(steps, through).older) + countEarlier(steps),
  })
  // Each cut leaves out more than the one before it.
  let [low, high] = [0, cuts.length - 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (sentTokens(run, wanted, toLeftOut(cuts[middle]!)) <= budget / 2) high = middle
    else low = middle + 1
  }
  const through = cuts[high]
  return through === undefined ? undefined : toLeftOut(through)
}

/** Messages of the session before the run. */
function countEarlier(steps: readonly RunStep[]): number {
  const earlier = steps.find(({ type }) => type === 'UserMessage')?.content['earlier'] as JsonObject | undefined
  return earlier ? Number(earlier['messages']) + Number(earlier['left_out']) : 0
}

/** Time until a run checks again whether completions in flight left budget. */
const LOOK_AGAIN_MS = 2000

/** The state of a run that reserves its completion; or that waits for what others leave, or for the next day. */
function reservePlan(run: RunHandle, here: StateAt<'thinking'>): RunState {
  const { plan, jitter } = run.tx.context
  if (!plan || here.unsent) return here
  const { cap, room } = plan
  if (room === 'free') return { ...here, reservedPlan: mostOf(run, here, cap.cost?.currency) }
  if (room === 'taken') return backOff(run, here, run.tx.now + Math.round(LOOK_AGAIN_MS * (1 + jitter)), here.outage)
  return holdUntilNextDay(run, here, room.spentForMs)
}

function mostOf(run: RunHandle, here: StateAt<'thinking'>, currency: string | undefined) {
  const tokens = mostTokens(run, here)
  const cost = currency === undefined ? 0n : mostCost(run, here, currency)
  return { tokens, ...(currency !== undefined && cost > 0n && { cost: { amount: formatDecimal(cost), currency } }) }
}

function holdUntilNextDay(run: RunHandle, here: StateAt<'thinking'>, spentForMs: number): RunState {
  const { now } = run.tx
  const before = here.outage?.cause === PLAN_CAUSE ? here.outage : undefined
  const report = { reason: 'quota_spent', cause: PLAN_CAUSE, endsAt: now + spentForMs } as const
  const step = nextAttempt(run, before, report)
  if (step.outcome === 'wait') return backOff(run, here, step.until, step.outage)
  const error = 'The workspace has used up its plan of the day.'
  return step.expired && before
    ? failedState('outage', describeExpired(before, now, error))
    : failedState('limit_exceeded', error)
}
