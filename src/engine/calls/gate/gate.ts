/**
 * Authorizes calls: checks binding and arguments, evaluates policies, and asks a person where they require it.
 * Source: docs/design/policies.md#when-a-call-is-decided
 */
import { comparesFact } from '../../../policy/condition/condition.ts'
import { EFFECT_REPEATED } from '../../../policy/effect-guard.ts'
import { isExternalModel } from '../../../spec/external.ts'
import type { ToolCall } from '../../../spec/run/run.ts'
import { DEFAULT_MAX_TOOL_CALLS } from '../../../spec/snapshot.ts'
import type { DispatchTrigger } from '../../limits/facts.ts'
import type { CallHandle } from '../../transaction/call-handle.ts'
import { askPerson, isCoveredByApproval } from './approval.ts'
import { openOutcomeReview } from '../../review/review.ts'
import { awaitEarlierCall, callEffectOf, settleWithEarlier } from './effect.ts'
import { decideCall, recordDecision } from './decide-call.ts'
import { settleWithError, toolError } from '../settle.ts'
import { findArgumentProblems, findTarget } from './target.ts'

/**
 * Authorizes a proposed call: `ready` when it may be sent now, `awaiting` when a person is asked, else settled with an error
 * for the model. An approved call is authorized again, and passes only if the approval covers what is required now.
 */
export function authorizeCall(call: CallHandle): ToolCall {
  const { run, record } = call
  const most = run.snapshot.maxToolCalls ?? DEFAULT_MAX_TOOL_CALLS
  // A client's calls have no common answer; those under way are counted where they are handed in.
  if (record.index >= most && !isExternalModel(run.snapshot.model)) {
    const message = `One answer may make ${most} calls (svc/max-tool-calls). This call was not made; make it in your next answer.`
    return settleWithError(call, 'invalid', toolError('limit:max_tool_calls', message, { value: most }))
  }
  const target = findTarget(call)
  if ('error' in target) return settleWithError(call, 'invalid', target.error)
  const problems = findArgumentProblems(target, record.arguments)
  if (problems.length > 0) {
    const details = problems.map(({ path, message }) => ({ path, message }))
    const error = toolError('invalid_arguments', `The arguments of ${record.name} are not valid.`, { details })
    return settleWithError(call, 'invalid', error)
  }
  if (target.isBuiltin) return call.to({ at: 'ready' })
  const waiting = awaitEarlierCall(call, callEffectOf(call))
  if (waiting) return waiting
  const decided = decideCall(call, target)
  const { decision, effect } = decided
  const approved = record.state.at === 'proposed' ? record.state.approved : undefined
  if (approved && decision.decision !== 'deny' && isCoveredByApproval(call, approved, decided)) {
    const repeated = effect?.previous?.id
    return (
      settleWithEarlier(call, effect) ??
      call.to({ at: 'ready' }, { approval: approved, ...(repeated !== undefined && { repeats: repeated }) })
    )
  }
  const recorded = recordDecision(call, decided)
  if (decision.decision === 'deny') {
    const message = decision.message ?? decision.explanation
    // The model must not read that it was not made.
    if (record.inDoubt)
      return openOutcomeReview(recorded, `It may have been executed before, and is denied now: ${message}`)
    const repeated = decision.reasons.includes(EFFECT_REPEATED) ? { reason: EFFECT_REPEATED } : {}
    const error = toolError('denied', message, { decision_id: recorded.record.decisionId!, ...repeated })
    return settleWithError(recorded, 'denied', error)
  }
  if (decision.decision === 'allow') return settleWithEarlier(recorded, effect) ?? recorded.to({ at: 'ready' })
  return askPerson(recorded, decided, target.tool)
}

/**
 * Asks a person about a call that could not be carried out, if a policy of type escalate or require_approval that tests
 * `svc.dispatch` says so. Undefined if none does. Source: docs/design/policies.md#facts
 */
export function routeToPerson(call: CallHandle, trigger: DispatchTrigger): ToolCall | undefined {
  const routing = call.run.snapshot.policies.entries.filter(
    ({ when }) => when !== undefined && comparesFact(when, 'svc', 'dispatch'),
  )
  const target = routing.length > 0 ? findTarget(call) : undefined
  if (!target || 'error' in target) return undefined
  const decided = decideCall(call, target, trigger)
  const { decision } = decided
  const decider = decision.policies[0]
  const isRouted =
    (decision.decision === 'escalate' || decision.decision === 'require_approval') &&
    decider?.matched === true &&
    routing.some((entry) => entry.policy === decider.id)
  return isRouted ? askPerson(recordDecision(call, decided), decided, target.tool, 'dispatch') : undefined
}
