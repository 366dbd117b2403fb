/**
 * Approvals of calls: the task that asks for one, what it covers, and edits of the arguments.
 * Source: docs/design/approvals.md#what-is-approved
 */
import { digestOfJson, type Digest } from '../../../base/digest.ts'
import { isJsonObject, textOf, type JsonObject } from '../../../base/json/json.ts'
import type { CallFacts, PolicyDecision } from '../../../policy/condition/decision.ts'
import { summaryOf } from '../../../policy/condition/call-summary.ts'
import { undoneAsJson, undoneCallOf, type CallApproval, type ToolCall } from '../../../spec/run/run.ts'
import type { RunStep } from '../../../spec/step.ts'
import type { TaskRecord } from '../../../spec/task.ts'
import type { CallRow } from '../../../store/session-update.ts'
import { agentNamed } from '../../session/bindings.ts'
import type { CallHandle } from '../../transaction/call-handle.ts'
import type { NewTask } from '../../transaction/transaction.ts'
import { describeGrounds } from './call-evidence.ts'
import { AFTER_RESTORE, DUPLICATE_CALL, earlierAsJson } from './earlier-call.ts'
import { decideCall, toSourceTexts, type GateDecision } from './decide-call.ts'
import { approvedRepetition, callEffectOf, effectOfTask } from './effect.ts'
import { findArgumentProblems, findTarget } from './target.ts'
import { splitRoles } from '../../../spec/people/approver-role.ts'
import { isProofAtLeast, PROOF_NAMES, type DecisionProof } from '../../../spec/people/decision-proof.ts'

/**
 * Opens the task in which people decide the call.
 * @param about `dispatch` if the call could not be executed
 */
export function askPerson(
  call: CallHandle,
  decided: GateDecision,
  tool: CallFacts['tool'],
  about?: 'dispatch',
): ToolCall {
  const task = call.run.openTask({ ...toApprovalTask(call, decided, tool), ...(about && { about }) })
  // The call could not be executed, so it gives its effect key back.
  if (about === 'dispatch') call.endEffect('not_made')
  return call.to({ at: 'awaiting', task: task.id })
}

function toApprovalTask(
  call: CallHandle,
  { decision, effect: found, sources, earlier }: GateDecision,
  tool: CallFacts['tool'],
): NewTask {
  const { tx, run, record } = call
  const { obligations } = decision
  const effect = effectOfTask(call, found)
  const escalation = decision.decision === 'escalate'
  const undone = undoneCallOf(run.record)
  const summary = summaryOf(call.tool?.labels, record.arguments)
  const timeout = escalation && obligations?.timeout?.default === 'escalate' ? undefined : obligations?.timeout
  return {
    kind: escalation ? 'escalation' : 'approval',
    ...(escalation && { about: 'policy' as const }),
    callId: record.id,
    title: undone
      ? `${run.record.agentName} undoes ${undone.tool} with ${record.name}`
      : `${run.record.agentName} wants to call ${record.name}`,
    prompt: decision.explanation,
    ...(decision.reasons.length > 0 && { reason: decision.reasons.join('; ') }),
    tool: {
      name: record.name,
      ref: record.ref,
      version: tool.version,
      side_effect_class: tool.side_effect_class ?? null,
    },
    ...(summary !== undefined && { summary }),
    ...describeGrounds(call),
    arguments: record.arguments,
    argumentsDigest: record.argumentsDigest,
    actionDigest: actionDigest(call),
    ...(effect && { effect }),
    ...(Object.keys(sources).length > 0 && { sources: toSourceTexts(sources) }),
    ...(record.decisionId && { decisionId: record.decisionId }),
    policies: decision.policies,
    ...(decision.authorityRef !== undefined && { authorityRef: decision.authorityRef }),
    approvalsRequired: escalation ? 1 : (obligations?.approvals_required ?? 1),
    ...(obligations?.comprehension_required && { comprehensionRequired: true }),
    ...(obligations?.bulk && { bulk: true }),
    ...(obligations?.approver_role !== undefined && { approverRole: obligations.approver_role }),
    ...(obligations?.separation_of_duties && { separationOfDuties: true }),
    ...(obligations?.approval_proof !== undefined && { approvalProof: obligations.approval_proof }),
    ...((run.usage.tainted || undone || earlier) && {
      context: {
        ...(run.usage.tainted && { tainted: true }),
        ...(undone && { undoes: undoneAsJson(undone) }),
        ...(earlier && { earlier_call: earlierAsJson(earlier) }),
      },
    }),
    onReject: obligations?.on_reject ?? 'return_to_agent',
    onModify: obligations?.on_modify ?? 'revalidate',
    ...(timeout && { onTimeout: timeout.default, expiresAt: tx.now + timeout.after_minutes * 60_000 }),
  }
}

/** True when the approved action is the one that would run, and policies require no more of people now than then. */
export function isCoveredByApproval(
  call: CallHandle,
  approved: CallApproval,
  { decision, effect, earlier: repeated }: GateDecision,
): boolean {
  if (actionDigest(call) !== approved.digest) return false
  if (decision.decision === 'allow') return true
  const request = call.run.lastStep(
    (step) => step.type === 'UserTaskReq' && step.content['user_task_id'] === approved.task,
  )
  // The approvers did not know of the earlier call, or that there may be one.
  const reasons = textOf(request?.content['reason']).split('; ')
  const isUntold = (reason: string): boolean => decision.reasons.includes(reason) && !reasons.includes(reason)
  if (isUntold(DUPLICATE_CALL) || isUntold(AFTER_RESTORE)) return false
  if (repeated && !wasShown(repeated, request)) return false
  const seen = request?.content['effect']
  const earlier = isJsonObject(seen) && isJsonObject(seen['previous']) ? seen['previous'] : undefined
  if (!approvedRepetition(call, effect, earlier)) return false
  const wasEscalated = request?.content['kind'] === 'escalation'
  if (decision.decision === 'escalate' && !wasEscalated) return false
  if (approved.timedOut && decision.obligations?.timeout?.default !== 'allow') return false
  const asked = {
    // An operator decides an escalation alone, whatever number of approvals is required.
    approvals: wasEscalated ? Infinity : Number(request?.content['approvals_required'] ?? 1),
    role: approved.role,
    separationOfDuties: approved.separationOfDuties === true,
    proof: approved.proof,
    comprehension: request?.content['comprehension_required'] === true,
  }
  return findFurtherNeed(decision, asked) === undefined
}

/** True if the request of an approval shows this call as the earlier one. */
function wasShown({ runId, callId }: CallRow, request: RunStep | undefined): boolean {
  const context = request?.content['context']
  const shown = isJsonObject(context) ? context['earlier_call'] : undefined
  return isJsonObject(shown) && shown['run_id'] === runId && shown['call_id'] === callId
}

/** Digest that identifies an action, so that only the approved action runs. */
function actionDigest({ tx, run, record, tool }: CallHandle): Digest {
  const agent = agentNamed(run.snapshot, record.name)
  const version = tool?.version ?? (agent && tx.context.childOf(agent)?.snapshot.version) ?? ''
  return digestOfJson({
    agent_version_id: run.record.agentVersionId,
    run_id: run.id,
    tool_call_id: record.id,
    tool: { id: record.ref, version },
    arguments: record.arguments,
    policy_set: run.snapshot.policies.digest,
  })
}

/** The task with edited arguments and, unless `onModify` is `accept`, the policies' decision about them. */
export function editTask(task: TaskRecord, call: CallHandle, edited: JsonObject, approver: string): TaskRecord {
  const changed = withEditedArguments(call, edited)
  const target = findTarget(call)
  const decision = task.onModify === 'accept' || 'error' in target ? undefined : decideCall(changed, target).decision
  const { argumentsDigest } = changed.record
  const { effect: _, bulk, summary: __, ...rest } = task
  const summary = summaryOf(call.tool?.labels, edited)
  const effect = effectOfTask(changed, callEffectOf(changed))
  return {
    ...rest,
    ...(summary !== undefined && { summary }),
    ...(effect && { effect }),
    // Other policies may be asked about other arguments.
    ...(bulk && decision?.obligations?.bulk && { bulk }),
    arguments: edited,
    argumentsDigest,
    actionDigest: actionDigest(changed),
    ...(decision && { policies: decision.policies }),
    // If the edited arguments need no approval, the original reason stays.
    ...(decision && decision.decision !== 'allow' && { prompt: decision.explanation }),
    edits: [
      ...(task.edits ?? []),
      { approver, at: call.tx.now, argumentsDigest, ...(decision && { decision: decision.decision }) },
    ],
  }
}

/** Why edited arguments are refused; undefined when they may be voted on. */
export function findEditProblem(task: TaskRecord, call: CallHandle, edited: JsonObject): string | undefined {
  if (task.onModify === 'reject') return 'The arguments of this call may not be edited.'
  const target = findTarget(call)
  if ('error' in target) return textOf(target.error['message'])
  const problem = findArgumentProblems(target, edited)[0]
  if (problem) return `The edited arguments are not valid: ${problem.path || 'they'} ${problem.message}.`
  if (task.onModify === 'accept') return undefined
  const { decision } = decideCall(withEditedArguments(call, edited), target)
  if (decision.decision === 'deny') return `The edited arguments are denied: ${decision.explanation}`
  if (decision.decision === 'escalate' && task.kind !== 'escalation')
    return `The edited arguments need an operator: ${decision.explanation}`
  const need = findFurtherNeed(decision, {
    approvals: task.approvalsRequired ?? 1,
    role: task.approverRole,
    separationOfDuties: task.separationOfDuties === true,
    proof: task.approvalProof,
    comprehension: task.comprehensionRequired === true,
  })
  return need === undefined ? undefined : `The edited arguments need ${need}: ${decision.explanation}`
}

export const withEditedArguments = (call: CallHandle, edited: JsonObject): CallHandle =>
  call.with({ arguments: edited, argumentsDigest: digestOfJson(edited) })

/** Requirements that approvers met, or have to meet. */
interface AskedOfApprovers {
  readonly approvals: number
  readonly role: string | undefined
  readonly separationOfDuties: boolean
  readonly proof: DecisionProof | undefined
  readonly comprehension: boolean
}

/** The first requirement of a decision beyond `asked`, worded to follow "needs"; undefined if there is none. */
function findFurtherNeed({ obligations }: PolicyDecision, asked: AskedOfApprovers): string | undefined {
  if (!obligations) return undefined
  const given = splitRoles(asked.role)
  if (obligations.approvals_required > asked.approvals) return 'more approvals'
  if (splitRoles(obligations.approver_role).some((role) => !given.includes(role)))
    return `an approver with the role ${obligations.approver_role}`
  const { approval_proof: proof = 'none' } = obligations
  if (!isProofAtLeast(asked.proof ?? 'none', proof)) return `an approval with ${PROOF_NAMES[proof] ?? proof}`
  if (obligations.separation_of_duties && !asked.separationOfDuties) return 'an approver who did not start the run'
  if (obligations.comprehension_required && !asked.comprehension) return 'a confirmation that they were read'
  return undefined
}
