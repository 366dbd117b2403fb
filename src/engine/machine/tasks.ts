/** Decides user tasks, by an answer or by a timeout. Source: docs/design/approvals.md#votes-and-quorums */
import { fail, Failure } from '../../base/failure.ts'
import type { RunId, TaskId } from '../../base/ids.ts'
import { isJsonObject, textOf, type JsonObject } from '../../base/json/json.ts'
import { toJson } from '../../base/json/typed-json.ts'
import type { MessageAccepted } from '../../spec/api.ts'
import { approverOf, mayApprove, type Principal } from '../../spec/people/key.ts'
import { withoutSecrets } from '../../spec/server-question.ts'
import {
  countApprovals,
  isOperatorOnly,
  type GivenAnswer,
  type TaskAnswer,
  type TaskRecord,
  type TaskVote,
} from '../../spec/task.ts'
import { editTask } from '../calls/gate/approval.ts'
import { changeCalls } from '../transaction/call-handle.ts'
import type { RunHandle, SessionTransaction } from '../transaction/transaction.ts'
import { advanceRun } from './advance.ts'
import { editedArguments, findAnswerProblem, findCallOfTask, hasVoted, isRepetition } from './answer-problem.ts'

/**
 * Applies an answer to a task of the run or of a descendant. One that comes before its time-out was applied is in time: when two
 * clocks can be compared only roughly, a person's word counts more than the default.
 * @param known the task as it was stored when the answer arrived
 * @returns undefined when the task was decided since `known` was read, and nothing has changed
 */
export function answerTask(
  tx: SessionTransaction,
  id: RunId,
  taskId: TaskId,
  answer: GivenAnswer,
  known: TaskRecord,
): MessageAccepted | undefined {
  const here = tx.pendingTasks().find((each) => each.id === taskId) ?? tx.changedTask(taskId)
  if (!here && known.status === 'pending') return undefined
  const task = here ?? known
  const accepted = (): MessageAccepted => ({ status: tx.run(id).statusNow(), userTaskId: taskId })
  const refuse = (failure: Failure): MessageAccepted => ({ ...accepted(), error: failure.message, code: failure.code })
  if (!isInSubtree(tx.run(task.runId), id)) return refuse(fail('task_not_found'))
  if (answer.by.type !== 'operator' && isOperatorOnly(task.kind)) return refuse(fail('operator_only'))
  if (isRepetition(task, answer)) return { ...accepted(), duplicate: true }
  if (task.status !== 'pending') return refuse(fail('task_already_completed'))
  checkMayApprove(task, answer.by)
  if (hasVoted(task, answer))
    return refuse(
      new Failure('task_already_completed', 'You have voted, and a vote is final; the task waits for others.', {}),
    )
  const failure = findAnswerProblem(tx, task, answer)
  if (failure) return refuse(failure)
  if (task.kind === 'approval' || task.kind === 'escalation') applyVote(tx, task, answer)
  else
    closeAndApply(tx, task, { ...toAnswer(task, answer), outcome: isRefusal(task, answer) ? 'rejected' : 'answered' })
  return accepted()
}

/**
 * The program that starts runs approves their calls only where its trigger says so. A person who acts through a key of one command
 * is no such program.
 * @throws Failure `approval_not_allowed`
 */
function checkMayApprove({ kind }: TaskRecord, by: Principal): void {
  if (kind !== 'approval' || by.type !== 'api_key' || mayApprove(by)) return
  throw fail('approval_not_allowed', undefined, { fix: `svc triggers update ${by.triggerId} --allow-approvals` })
}

/** Applies the timeout of a task that nobody answered in time. */
export function expireTask(tx: SessionTransaction, taskId: TaskId): boolean {
  const task = tx.pendingTasks().find((each) => each.id === taskId)
  if (!task || task.expiresAt === undefined || task.expiresAt > tx.now) return false
  if (task.onTimeout === 'escalate') {
    const expired: TaskRecord = { ...task, answer: { outcome: 'timed_out' } }
    tx.closeTask(expired, 'expired')
    recordAnswer(tx, expired)
    const { expiresAt: _, onTimeout: __, ...same } = task
    const run = tx.run(task.runId)
    replaceTask(run, task, run.openTask({ ...same, kind: 'escalation', about: 'timeout', approvalsRequired: 1 }))
    return true
  }
  closeAndApply(tx, task, { outcome: 'timed_out', approved: task.onTimeout === 'allow' }, 'expired')
  return true
}

/** Adds a step with the answer of a task. */
function recordAnswer(tx: SessionTransaction, task: TaskRecord): void {
  const { id, runId, answer, approvalsRequired, votes, voteOrigins, voteRoles } = task
  if (!answer) return
  const content: JsonObject = {
    user_task_id: id,
    outcome: answer.outcome,
    approved: answer.approved ?? null,
    selected_option_id: answer.selectedOptionId ?? null,
    text_value: answer.textValue ?? null,
    number_value: answer.numberValue ?? null,
    completed_by: answer.completedBy ?? null,
    comment: answer.comment ?? null,
    metadata: answer.metadata ?? null,
    ...(answer.claimedEmail !== undefined && { claimed_email: answer.claimedEmail }),
    ...(answer.origin && { channel: answer.origin.channel, proof: answer.origin.proof }),
    ...((approvalsRequired ?? 1) > 1 && { votes: votes.map((vote) => describeVote(vote, voteOrigins)) }),
  }
  // For an audit: what roles somebody has is not for all who read the timeline.
  tx.run(runId).addStep('UserTaskRes', content, voteRoles && { hidden: { roles: toJson(voteRoles) } })
}

const describeVote = ({ approver, approved }: TaskVote, origins: TaskRecord['voteOrigins']): JsonObject => {
  const origin = origins?.[approver]
  return { by: approver, approved, ...(origin && { channel: origin.channel, proof: origin.proof }) }
}

/** Lets the call that waited for one task wait for another. */
function replaceTask(run: RunHandle, from: TaskRecord, to: TaskRecord): void {
  changeCalls(
    run,
    ({ state }) => state.at === 'awaiting' && state.task === from.id,
    (call) => call.to({ at: 'awaiting', task: to.id }),
  )
}

function applyVote(tx: SessionTransaction, task: TaskRecord, answer: GivenAnswer): void {
  const approved = answer.approved ?? true
  const given = approved ? editedArguments(answer) : undefined
  const comment = commentOf(answer)
  const newVote: TaskVote = {
    approver: approverOf(answer.by),
    approved,
    at: tx.now,
    ...(comment !== undefined && { comment }),
  }
  const votes = given ? [newVote] : [...task.votes, newVote]
  const call = findCallOfTask(tx, task)
  const {
    voteOrigins: earlier,
    voteRoles: earlierRoles,
    ...same
  } = given && call ? editTask(task, call, given, newVote.approver) : task
  // Those of votes that an edit voids go with them.
  const voteOrigins = {
    ...(given ? {} : earlier),
    ...(answer.origin && { [newVote.approver]: answer.origin }),
  }
  const roles = answer.by.type === 'operator' ? answer.by.roles : []
  const voteRoles = { ...(given ? {} : earlierRoles), [newVote.approver]: roles }
  const changed: TaskRecord = {
    ...same,
    votes,
    ...(Object.keys(voteOrigins).length > 0 && { voteOrigins }),
    ...(task.approverRole !== undefined && { voteRoles }),
  }
  if (approved && countApprovals(changed) < (task.approvalsRequired ?? 1)) {
    tx.changeTask(changed, 'voted')
    return
  }
  // The call runs with the arguments that the task shows now, which may be edited.
  const wasEdited = call && isJsonObject(changed.arguments) && changed.argumentsDigest !== call.record.argumentsDigest
  closeAndApply(tx, changed, {
    ...toAnswer(task, answer),
    outcome: approved ? 'approved' : 'rejected',
    approved,
    ...(approved && wasEdited && { arguments: changed.arguments as JsonObject }),
  })
}

function closeAndApply(
  tx: SessionTransaction,
  task: TaskRecord,
  answer: TaskAnswer,
  status: 'completed' | 'expired' = 'completed',
): void {
  const closed: TaskRecord = { ...task, answer }
  const shown: TaskRecord = { ...task, answer: withoutSecrets(task.question, answer) }
  tx.closeTask(shown, status)
  recordAnswer(tx, shown)
  if (task.kind !== 'aitl_escalation') {
    advanceRun(tx.run(task.runId), { type: 'task.closed', task: closed })
    return
  }
  // The task belongs to the root, the question to a descendant.
  const asker = findAsker(tx, task)
  const requestId = textOf(task.context?.['request_id'])
  if (asker)
    advanceRun(asker.run, {
      type: 'question.answered',
      callId: asker.callId,
      requestId,
      answer: answer.textValue ?? '',
      by: 'person',
    })
}

/** The call of a descendant that waits for the answer to its escalated question. */
function findAsker(tx: SessionTransaction, task: TaskRecord): { run: RunHandle; callId: string } | undefined {
  for (const { id, state } of tx.runs()) {
    if (state.at !== 'calling') continue
    const call = state.calls.find((each) => each.state.at === 'awaiting' && each.state.task === task.id)
    if (call) return { run: tx.run(id), callId: call.id }
  }
  return undefined
}

function toAnswer(task: TaskRecord, answer: GivenAnswer): Omit<TaskAnswer, 'outcome'> {
  const comment = commentOf(answer)
  const { selectedOptionId, textValue, numberValue, metadata, claimedEmail } = answer
  return {
    ...(selectedOptionId !== undefined && { selectedOptionId }),
    ...(textValue !== undefined && (task.kind !== 'approval' || textValue !== '') && { textValue }),
    ...(numberValue !== undefined && { numberValue }),
    ...(isRefusal(task, answer) && { approved: false }),
    ...(metadata !== undefined && { metadata }),
    ...(claimedEmail !== undefined && { claimedEmail }),
    ...(comment !== undefined && { comment }),
    completedBy: approverOf(answer.by),
    ...(answer.origin && { origin: answer.origin }),
  }
}

/** A person declines the question of a server, or closes it without an answer. */
const isRefusal = ({ question }: TaskRecord, { approved }: GivenAnswer): boolean =>
  question !== undefined && approved === false

function commentOf(answer: GivenAnswer): string | undefined {
  const comment = answer.metadata?.['svc/comment']
  return typeof comment === 'string' && comment !== '' ? comment : answer.text || undefined
}

/** True for the run itself and its descendants. */
const isInSubtree = (run: RunHandle, top: RunId): boolean =>
  run.id === top || run.ancestors().some(({ id }) => id === top)
