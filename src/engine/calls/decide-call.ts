/** Decides a call by the policies of its run and of the run's ancestors, and records the decision. Source: policies, sections 1 and 4. */
import type { DecisionId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json/json.ts'
import type { CallFacts, PolicyDecision } from '../../policy/condition/decision.ts'
import { previousAsJson } from '../../spec/effect.ts'
import { newDecisionBudget } from '../../policy/condition/attributable.ts'
import { recordReads, type HistorySeen, type SourcesSeen } from '../../policy/condition/recorded-reads.ts'
import { decideByPolicies } from '../../policy/decide.ts'
import { requireApproval } from '../../policy/require-approval.ts'
import { callFactsOf, type DispatchTrigger } from '../limits/facts.ts'
import { undoneCallOf } from '../../spec/run.ts'
import type { CallRow } from '../../store/session-update.ts'
import { isUnsafeCall } from '../session/bindings.ts'
import type { CallHandle } from '../session/transaction/call-handle.ts'
import { effectFacts, callEffectOf, type CallEffect } from './effect.ts'
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
  const duplicate = describeDuplicate(call)
  const guarded = duplicate === undefined ? decision : guardDuplicate(decision, duplicate)
  return { decision: guarded, facts, history: seen, sources, ...(effect && { effect }) }
}

/** States that make a later equal call a duplicate; calls that failed for certain or never ran are left out. */
const MAY_HAVE_HAPPENED = new Set([
  'executed',
  'sent',
  'unknown',
  'waiting',
  'ready',
  'retrying',
  'awaiting',
  'approved',
])

/**
 * How an unsafe call was made before, in its run or in one that does the same work: models sometimes make the same call twice.
 * The end of a sentence that begins with "the"; undefined for a call that was not.
 * Source: reliability, "Duplicate guard".
 */
function describeDuplicate({ tx, run, record }: CallHandle): string | undefined {
  if (!isUnsafeCall(run.snapshot, record)) return undefined
  // Calls that only await a person count too, so that the card of the second one names the first. For an approved call they do not:
  // it is about to leave, and only calls that may have been made matter.
  const isApproved = record.state.at === 'proposed' && record.state.approved !== undefined
  const isSame = (row: CallRow): boolean =>
    row.ref === record.ref &&
    row.argumentsDigest === record.argumentsDigest &&
    MAY_HAVE_HAPPENED.has(row.state) &&
    !(isApproved && row.state === 'awaiting')
  // Each undoing call has a run of its own; for repetitions these count like the calls of one run.
  const undoing = new Set(
    undoneCallOf(run.record) ? tx.runs().flatMap((each) => (undoneCallOf(each) ? each.id : [])) : [],
  )
  const isNear = (row: CallRow): boolean => (row.runId === run.id ? row.callId !== record.id : undoing.has(row.runId))
  const own = tx.callRows().find((row) => isNear(row) && isSame(row))
  if (own) return madeBeforeIn(own.runId === run.id ? 'this run' : `run ${own.runId}`)
  // A call of another run that awaits a person is decided again before it leaves, and then finds this one.
  const { calls, isWhole } = tx.context.relatedCalls
  const other = calls.find(({ row }) => row.state !== 'awaiting' && isSame(row))
  if (other) {
    const how = other.isRepeated ? 'which this one repeats' : 'which repeats this one or the same run'
    return madeBeforeIn(`run ${other.row.runId}, ${how}`)
  }
  return isWhole
    ? undefined
    : 'same call may have been made before: more runs do the same work as this one than are looked through.'
}

/** The reason of a decision about a call that was made before. */
export const DUPLICATE_CALL = 'duplicate_call'

const madeBeforeIn = (where: string): string => `same tool was called with the same arguments before in ${where}.`

/** @param what from `describeDuplicate` */
function guardDuplicate(decision: PolicyDecision, what: string): PolicyDecision {
  const guarded = requireApproval(decision, DUPLICATE_CALL, `the ${what}`)
  // A person whom a policy asks anyway must read of the earlier call, too.
  return decision.decision === 'require_approval' || decision.decision === 'escalate'
    ? { ...guarded, explanation: `${decision.explanation} The ${what}` }
    : guarded
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
