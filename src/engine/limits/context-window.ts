/** Shortens a conversation before a completion that would not fit, as `svc/context` says. Source: docs/design/steering.md#context */
import type { JsonObject } from '../../base/json/json.ts'
import { contextBudget, type ContextRule } from '../../spec/context-rule.ts'
import type { RunState } from '../../spec/run.ts'
import type { RunStep } from '../../spec/step.ts'
import { resultsOf } from '../prompt/call-results.ts'
import { cutsOf, dividedAt, leftOutOf, toLeftOutContent, type LeftOut } from '../prompt/left-out.ts'
import { messagesOf } from '../prompt/messages.ts'
import { sentTokens, summaryWanted } from '../prompt/prompt.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { applyLimit, grantCount } from './limits.ts'
import { asksAboutLimit } from './on-limit.ts'

/**
 * Requests the completion after leaving out what does not fit, or first a summary of that, or asks an operator. A prompt
 * that cannot be shortened stays as it is; its size is checked before it is sent.
 */
export function shortenContext(run: RunHandle, wanted: StateAt<'thinking'>): RunState {
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
