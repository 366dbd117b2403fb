/**
 * Effect keys of calls: which call holds a key, what this means for another call, and how a call takes its key. A key is
 * taken in the transaction that records the dispatch, and given back only when the call certainly did not happen.
 * Source: docs/design/policies.md#effect-keys
 */
import { toIsoText, type Instant } from '../../../base/clock.ts'
import { factsOfTool } from '../../../policy/callee-facts.ts'
import { isGivenEarlierResult } from '../../../policy/effect-guard.ts'
import { effectKeyOf, effectWindowOf, type EffectKey } from '../../../policy/condition/effect-key.ts'
import type { CallFacts } from '../../../policy/condition/decision.ts'
import { previousAsJson, type EffectRecord, type PreviousEffect } from '../../../spec/effect.ts'
import type { ToolCall } from '../../../spec/run/run.ts'
import type { TaskRecord } from '../../../spec/task.ts'
import type { CallHandle } from '../../transaction/call-handle.ts'
import { undoKeyOf } from '../../session/undone.ts'
import { settleCall } from '../settle.ts'

export interface CallEffect {
  /** Absent where the call lacks an argument of the key. */
  readonly key?: EffectKey
  /** Another call that holds the key. */
  readonly previous?: EffectRecord
  /** This call, which has taken the key before. */
  readonly own?: EffectRecord
}

/** Undefined for a call of a tool without an effect key, unless it undoes another call. */
export function callEffectOf({ tx, run, record, tool }: CallHandle): CallEffect | undefined {
  if (!tool || tool.builtin) return undefined
  const key = effectKeyOf(tool.labels, record.arguments) ?? undoKeyOf(run.record)
  if (!key) return undefined
  if ('missing' in key) return {}
  const standing = tx.effects.ofKey(key.key)
  const own = standing.find(({ runId, callId }) => runId === run.id && callId === record.id)
  if (own) return { key, own }
  const [previous] = standing
  return { key, ...(previous && { previous }) }
}

/** The facts `effect.…` of a call. */
export function effectFacts(
  effect: CallEffect,
  { tx, record }: CallHandle,
): NonNullable<CallFacts['effect']> | undefined {
  if (!effect.key) return undefined
  const { previous } = effect
  return {
    key: effect.key.shown,
    repeated: previous !== undefined,
    ...(previous && {
      previous: toPrevious(previous, record, tx.now),
      hasResult: previous.result !== undefined,
    }),
  }
}

const toPrevious = (
  { tool, runId, agent, agentVersion, at, state, argumentsDigest, approvedBy }: EffectRecord,
  call: Pick<ToolCall, 'argumentsDigest'>,
  now: Instant,
): PreviousEffect => ({
  tool,
  run_id: runId,
  agent,
  version: agentVersion,
  at: toIsoText(at),
  age_seconds: Math.max(0, Math.floor((now - at) / 1000)),
  outcome: state === 'not_made' ? 'unknown' : state,
  same_args: argumentsDigest === call.argumentsDigest,
  approved_by: approvedBy,
})

/** The key and the earlier call, as the approval card shows them. */
export function effectOfTask(call: CallHandle, effect: CallEffect | undefined): TaskRecord['effect'] {
  const facts = effect && effectFacts(effect, call)
  if (!facts) return undefined
  return { key: facts.key, ...(facts.previous && { previous: previousAsJson(facts.previous) }) }
}

/** The earlier call whose result this one gets; undefined if it is to be made. */
function earlierResult(call: CallHandle, effect: CallEffect): EffectRecord | undefined {
  const facts = effectFacts(effect, call)
  const tool = call.tool && factsOfTool(call.tool)
  return facts && tool && isGivenEarlierResult({ tool, effect: facts }) ? effect.previous : undefined
}

/** Settles a repetition with the result of the earlier call, marked as such; undefined where the call is to be made. */
export function settleWithEarlier(call: CallHandle, effect: CallEffect | undefined): ToolCall | undefined {
  const earlier = effect && earlierResult(call, effect)
  if (!earlier) return undefined
  return settleCall(call, { outcome: 'skipped', result: earlier.result ?? null, repeats: earlier })
}

/** How often a call checks whether an earlier one in another process has ended. */
const LOOK_AGAIN_MS = 5000

/**
 * Lets a call wait while an earlier one with its key is under way, up to the time of the call.
 * @returns the waiting call; undefined where it does not wait
 */
export function awaitEarlierCall(call: CallHandle, effect: CallEffect | undefined): ToolCall | undefined {
  const { tx, run, record, tool } = call
  const isUnderWay = effect?.previous?.state === 'in_flight' && effect.previous.id !== record.repeats
  if (!isUnderWay) {
    if (record.effectWait !== undefined) run.setTimer('effect_wait', record.id, null)
    return undefined
  }
  const patience = (tool && tx.context.routeOf(run.snapshot, tool)?.timeoutMs) ?? 0
  const until = record.effectWait ?? tx.now + patience
  if (tx.now >= until) return undefined
  run.setTimer('effect_wait', record.id, Math.min(until, tx.now + LOOK_AGAIN_MS))
  return record.effectWait === until ? record : call.with({ effectWait: until }).record
}

/** True for a call that was allowed before another one took its key: it is decided again. */
export function isOvertaken(call: CallHandle): boolean {
  const previous = callEffectOf(call)?.previous
  return previous !== undefined && previous.id !== call.record.repeats
}

/** True if the approver saw the same earlier call, or if there is none. */
export function approvedRepetition(
  call: CallHandle,
  effect: CallEffect | undefined,
  shown: NonNullable<TaskRecord['effect']>['previous'],
): boolean {
  // A repetition that gets the earlier result has no effect.
  if (!effect?.previous || earlierResult(call, effect)) return true
  const { run_id, at, outcome } = toPrevious(effect.previous, call.record, call.tx.now)
  return shown?.['run_id'] === run_id && shown['at'] === at && shown['outcome'] === outcome
}

/** Takes the key of a call that leaves with this transaction. */
export function takeEffect(call: CallHandle, notAfter: Instant): void {
  const { tx, run, record } = call
  const tool = call.tool!
  const effect = callEffectOf(call)
  if (!effect?.key) return
  if (effect.own) return tx.effects.extend(effect.own, notAfter)
  const windowMs = effectWindowOf(tool.labels)
  tx.effects.take({
    id: tx.context.ids.next(),
    workspaceId: tx.session.workspaceId,
    ...effect.key,
    sessionId: tx.session.id,
    runId: run.id,
    callId: record.id,
    tool: tool.id,
    toolVersion: tool.version,
    agent: run.record.agentName,
    agentVersion: run.record.versionLabel,
    argumentsDigest: record.argumentsDigest,
    at: tx.now,
    notAfter,
    expiresAt: windowMs === undefined ? null : tx.now + windowMs,
    state: 'in_flight',
    holds: true,
    approvedBy: record.approvedBy ?? [],
    replaces: effect.previous?.id ?? null,
  })
}
