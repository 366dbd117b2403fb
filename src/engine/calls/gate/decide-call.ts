/**
 * Decides a call by the policies of its run and of the run's ancestors, and records the decision.
 * Source: docs/design/policies.md#when-a-call-is-decided
 */
import type { DecisionId } from '../../../base/ids.ts'
import type { JsonObject } from '../../../base/json/json.ts'
import type { CallFacts, PolicyDecision } from '../../../policy/condition/decision.ts'
import { previousAsJson } from '../../../spec/effect.ts'
import { newDecisionBudget } from '../../../policy/condition/attributable.ts'
import { recordReads, type HistorySeen, type SourcesSeen } from '../../../policy/condition/recorded-reads.ts'
import { decideByPolicies } from '../../../policy/decide.ts'
import { callFactsOf, type DispatchTrigger } from '../../limits/facts.ts'
import { undoneCallOf } from '../../../spec/run/run.ts'
import type { CallRow } from '../../../store/session-update.ts'
import type { CallHandle } from '../../transaction/call-handle.ts'
import { effectFacts, callEffectOf, type CallEffect } from './effect.ts'
import { guardRepetition } from './earlier-call.ts'
import { sourcesOf } from './sources.ts'
import type { CallTarget } from './target.ts'

/** A decision and the facts it was made from. */
export interface GateDecision {
  readonly decision: PolicyDecision
  readonly facts: CallFacts
  readonly history: HistorySeen
  readonly sources: SourcesSeen
  /** Absent for a tool without an effect key. */
  readonly effect?: CallEffect
  /** The call that this one may repeat, though no effect key says so. */
  readonly earlier?: CallRow
}

export function decideCall(call: CallHandle, target: CallTarget, trigger: DispatchTrigger = 'none'): GateDecision {
  const { run, record } = call
  const effect = callEffectOf(call)
  const searches = newDecisionBudget()
  const known = callFactsOf(run, record, target.tool, {
    trigger,
    effect: effect && effectFacts(effect, call),
    source: (segments) => sourcesOf(call, segments, target.schemas, searches),
  })
  const { facts, seen, sources } = recordReads(known)
  // An undoing call is decided by the same policies as the call itself: its parent is the run that made that call.
  const above = undoneCallOf(run.record) ? run.ancestors().slice(1) : run.ancestors()
  // Only inherited gates of the ancestors' policies apply.
  const policySets = { own: run.snapshot.policies, ancestors: above.map(({ snapshot }) => snapshot.policies) }
  const decision = decideByPolicies(policySets, record.name, facts)
  return {
    ...guardRepetition(decision, call, effect),
    facts,
    history: seen,
    sources,
    ...(effect && { effect }),
  }
}

/**
 * Records a decision with those facts that cannot be derived later.
 * @returns the call with the id of the decision, which is that of its step
 */
export function recordDecision(
  call: CallHandle,
  { decision, facts: known, history, sources }: GateDecision,
): CallHandle {
  const { run, session, tool, svc, effect } = known
  const { trigger } = svc.dispatch
  const { iteration, elapsed_seconds, tokens_used, taint } = run
  const facts = {
    run: { iteration, elapsed_seconds, tokens_used, taint },
    session: { ...session },
    ...(trigger !== 'none' && { dispatch: trigger }),
    ...(effect && { effect: effectAsJson(effect) }),
    ...(Object.keys(history).length > 0 && { history: { ...history } }),
    ...(Object.keys(sources).length > 0 && { sources: toSourceTexts(sources) }),
    // A delegation may reach another version later.
    ...(tool.kind === 'agent' && { tool: { version: tool.version, labels: { ...tool.labels } } }),
  }
  const content = {
    tool_call_id: call.record.id,
    name: call.record.name,
    decision: decision.decision,
    policies: decision.policies.map((each): JsonObject => ({ ...each })),
    explanation: decision.explanation,
    ...(decision.error !== undefined && { reason: decision.error }),
  }
  const step = call.run.addStep('PolicyDecision', content, { hidden: { facts } })
  return call.with({ decisionId: step.id as string as DecisionId })
}

const effectAsJson = ({ key, repeated, previous }: NonNullable<CallFacts['effect']>): JsonObject => ({
  key,
  repeated,
  ...(previous && { previous: previousAsJson(previous) }),
})

/** Names by path; `unknown` = the sources cannot be determined. */
export const toSourceTexts = (sources: SourcesSeen): Record<string, string[]> =>
  Object.fromEntries(Object.entries(sources).map(([path, names]) => [path, names ? [...names] : ['unknown']]))
