/** Counts measures of history over recorded decisions, for policies that ask what the recorded ones did not. */
import type { JsonValue } from '../../base/json/json.ts'
import type { RecordedDecision } from '../../operations/decisions.ts'
import type { CallFacts } from '../condition/decision.ts'
import type { HistoryMeasure, HistoryScope, HistorySubject } from '../condition/history.ts'
import { argumentAt, argumentText } from '../condition/path.ts'
import { countLeading } from '../../base/values/collections.ts'

/** Final states of calls that had no effect and do not add to a sum. */
const WITHOUT_EFFECT = new Set(['denied', 'rejected', 'failed', 'invalid', 'not_sent', 'skipped'])

export interface RecordedCalls {
  /**
   * A measure as it was when `decision` was recorded, over calls in their final states; undefined = unknown.
   * @param args of the call itself
   */
  measure(decision: RecordedDecision, args: JsonValue, ...measure: Parameters<CallFacts['history']>): number | undefined
}

/** @param all every recorded decision, oldest first */
export function indexRecordedCalls(all: readonly RecordedDecision[]): RecordedCalls {
  const groups = new Map<string, Map<string, RecordedDecision[]>>()
  /** Decisions that share a key with the given one, oldest first. */
  const groupOf = (name: string, keyOf: (each: RecordedDecision) => string, decision: RecordedDecision) => {
    const group = groups.get(name) ?? groupBy(all, keyOf)
    groups.set(name, group)
    return group.get(keyOf(decision)) ?? []
  }
  const candidates = (scope: HistoryScope, whose: HistorySubject, decision: RecordedDecision) => {
    const keyOf = (each: RecordedDecision): string =>
      `${ofScope(scope, each)}\0${whose === 'all_tools' ? '' : each.ref}\0${whose === 'same_args' ? each.argsDigest : ''}`
    return groupOf(`${scope} ${whose}`, keyOf, decision)
  }
  return {
    measure(decision, args, scope, whose, measure, windowMs, by) {
      const key = by === undefined ? undefined : argumentText(args, by)
      if (by !== undefined && key === undefined) return undefined
      const isCurrent = (each: RecordedDecision): boolean =>
        each.runId === decision.runId && each.toolCallId === decision.toolCallId
      const since = Date.parse(decision.recordedAt) - (windowMs ?? 0)
      const isBounded = scope === 'window' || scope === 'workspace'
      // A call may have been decided more than once: the last decision stands for it.
      const calls = new Map<string, RecordedDecision>()
      const found = candidates(scope, whose, decision)
      const until = countLeading(found, ({ recordedAt }) => recordedAt <= decision.recordedAt)
      for (const each of found.slice(0, until).reverse()) {
        if (isBounded && Date.parse(each.recordedAt) < since) break
        const id = `${each.runId} ${each.toolCallId}`
        if (calls.has(id)) continue
        if (by !== undefined && argumentText(isCurrent(each) ? args : each.arguments, by) !== key) continue
        calls.set(id, each)
      }
      return countMeasure([...calls.values()], isCurrent, args, measure)
    },
  }
}

function ofScope(scope: HistoryScope, { runId, sessionId, agent }: RecordedDecision): string {
  if (scope === 'run') return runId
  if (scope === 'session') return sessionId
  return scope === 'window' ? agent : ''
}

function groupBy(
  all: readonly RecordedDecision[],
  keyOf: (each: RecordedDecision) => string,
): Map<string, RecordedDecision[]> {
  const groups = new Map<string, RecordedDecision[]>()
  for (const each of all) {
    const key = keyOf(each)
    const group = groups.get(key)
    if (group) group.push(each)
    else groups.set(key, [each])
  }
  return groups
}

function countMeasure(
  calls: readonly RecordedDecision[],
  isCurrent: (each: RecordedDecision) => boolean,
  args: JsonValue,
  measure: HistoryMeasure,
): number | undefined {
  // The current call was not decided yet at that time, whatever its final state.
  const counts = calls.filter((each) => isCurrent(each) || !WITHOUT_EFFECT.has(each.state))
  if (measure === 'attempts') return calls.length
  if (measure === 'executed') return counts.length
  if (typeof measure === 'string') return calls.filter((each) => !isCurrent(each) && each.state === measure).length
  let total = 0
  for (const each of counts) {
    const value = argumentAt(isCurrent(each) ? args : each.arguments, measure.total)
    if (typeof value !== 'number') return undefined
    total += value
  }
  return total
}
