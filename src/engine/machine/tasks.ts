/** Decides user tasks, by an answer or by a timeout. Source: decisions, section 8; policies, section 5. */
import { toIsoText } from '../../base/clock.ts'
import { fail, type Failure } from '../../base/failure.ts'
import type { RunId, TaskId } from '../../base/ids.ts'
import { canonicalJson, isJsonObject, type JsonObject } from '../../base/json.ts'
import type { MessageAccepted } from '../../spec/api.ts'
import { approverOf } from '../../spec/key.ts'
import type { ToolCall } from '../../spec/run.ts'
import { isOperatorOnly, type GivenAnswer, type TaskAnswer, type TaskRecord, type TaskVote } from '../../spec/task.ts'
import { checkValue } from '../../tools/check.ts'
import { advanceRun } from './advance.ts'
import { textOf, toolNamed } from '../session/bindings.ts'
import type { SessionTransaction } from '../session/transaction.ts'
import { findEditProblem, withEdit } from '../calls/gate.ts'
import { readOutput, describeErrors } from './output.ts'
import { QUARANTINE_MARGIN_MS } from '../calls/recover.ts'
import { reviewedResult } from '../calls/reviewed.ts'
import { approvalsOf } from '../session/timeline.ts'

/**
 * Applies an answer to a task of the run or of a descendant.
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
  expireDue(tx)
  const here = tx.pendingTasks().find((each) => each.id === taskId) ?? tx.changedTask(taskId)
  if (!here && known.status === 'pending') return undefined
  const task = here ?? known
  const accepted = (): MessageAccepted => ({ status: tx.statusNow(id), userTaskId: taskId })
  const refuse = (failure: Failure): MessageAccepted => ({ ...accepted(), error: failure.message, code: failure.code })
  if (!isInSubtree(tx, task.runId, id)) return refuse(fail('task_not_found'))
  if (answer.by.type !== 'operator' && isOperatorOnly(task.kind)) return refuse(fail('operator_only'))
  if (isRepetition(task, answer)) return { ...accepted(), duplicate: true }
  if (task.status !== 'pending' || hasVoted(task, answer)) return refuse(fail('task_already_completed'))
  const failure = findAnswerProblem(tx, task, answer)
  if (failure) return refuse(failure)
  if (task.kind === 'approval' || task.kind === 'escalation') applyVote(tx, task, answer)
  else closeAndApply(tx, task, { ...toAnswer(task, answer), outcome: 'answered' })
  return accepted()
}

/** Applies the timeout of a task that nobody answered in time. */
export function timeOut(tx: SessionTransaction, taskId: TaskId): boolean {
  const task = tx.pendingTasks().find((each) => each.id === taskId)
  if (!task || task.expiresAt === undefined || task.expiresAt > tx.now) return false
  if (task.onTimeout === 'escalate') {
    const expired: TaskRecord = { ...task, answer: { outcome: 'timed_out' } }
    tx.closeTask(expired, 'expired')
    recordAnswer(tx, expired)
    const { expiresAt: _, onTimeout: __, ...same } = task
    replaceTask(tx, task, tx.openTask({ ...same, kind: 'escalation', about: 'timeout', approvalsRequired: 1 }))
    return true
  }
  closeAndApply(tx, task, { outcome: 'timed_out', approved: task.onTimeout === 'allow' }, 'expired')
  return true
}

/** Adds a step with the answer of a task. */
function recordAnswer(tx: SessionTransaction, { id, runId, answer }: TaskRecord): void {
  if (!answer) return
  tx.addStep(runId, 'UserTaskRes', {
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
  })
}

/** Lets the call that waited for one task wait for another. */
function replaceTask(tx: SessionTransaction, from: TaskRecord, to: TaskRecord): void {
  const { state } = tx.run(from.runId)
  if (state.at !== 'calling') return
  const calls = state.calls.map((call): ToolCall =>
    call.id === from.callId ? { ...call, state: { at: 'awaiting', task: to.id } } : call,
  )
  tx.setState(from.runId, { ...state, calls })
}

/** Applies due timeouts first, so that a late answer finds the task decided even if its timer has not fired yet. */
function expireDue(tx: SessionTransaction): void {
  for (const task of tx.pendingTasks()) timeOut(tx, task.id)
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
  const call = callOf(tx, task)
  const changed: TaskRecord = { ...(given && call ? withEdit(tx, task, call, given, newVote.approver) : task), votes }
  if (approved && approvalsOf(changed) < (task.approvalsRequired ?? 1)) {
    tx.changeTask(changed, 'voted')
    return
  }
  // The call runs with the arguments that the task shows now, which may be edited.
  const wasEdited = call && isJsonObject(changed.arguments) && changed.argumentsDigest !== call.argumentsDigest
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
  tx.closeTask(closed, status)
  recordAnswer(tx, closed)
  if (task.kind !== 'aitl_escalation') {
    advanceRun(tx, task.runId, { type: 'task.closed', task: closed })
    return
  }
  // The task belongs to the root, the question to a descendant.
  const asker = askerOf(tx, task)
  const requestId = textOf(task.context?.['request_id'])
  if (asker)
    advanceRun(tx, asker.run, {
      type: 'question.answered',
      callId: asker.callId,
      requestId,
      answer: answer.textValue ?? '',
      by: 'person',
    })
}

function askerOf(tx: SessionTransaction, task: TaskRecord): { run: RunId; callId: string } | undefined {
  for (const { id, state } of tx.runs()) {
    if (state.at !== 'calling') continue
    const call = state.calls.find((each) => each.state.at === 'awaiting' && each.state.task === task.id)
    if (call) return { run: id, callId: call.id }
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
    ...(metadata !== undefined && { metadata }),
    ...(claimedEmail !== undefined && { claimedEmail }),
    ...(comment !== undefined && { comment }),
    completedBy: approverOf(answer.by),
  }
}

/** The failure that makes an answer unacceptable; undefined when it is acceptable. */
function findAnswerProblem(tx: SessionTransaction, task: TaskRecord, answer: GivenAnswer): Failure | undefined {
  const wrong = (what: string): Failure => fail('invalid_value', { what })
  const digest = answer.metadata?.['svc/arguments_digest']
  if (digest !== undefined && digest !== task.argumentsDigest) return fail('arguments_changed')
  switch (task.kind) {
    case 'approval':
    case 'escalation':
      return findVoteProblem(tx, task, answer)
    case 'multi_option':
      if (answer.selectedOptionId === undefined) return wrong('This user task is answered with selectedOptionId.')
      return isOffered(task, answer.selectedOptionId)
        ? undefined
        : wrong(`"${answer.selectedOptionId}" is none of the options.`)
    case 'text':
    case 'aitl_escalation':
      return answer.textValue === undefined ? wrong('This user task is answered with textValue.') : undefined
    case 'number':
      return findNumberProblem(task, answer.numberValue)
    case 'anomaly_review':
      return findReviewProblem(tx, task, answer)
  }
}

function findVoteProblem(tx: SessionTransaction, task: TaskRecord, answer: GivenAnswer): Failure | undefined {
  const wrong = (what: string): Failure => fail('invalid_value', { what })
  if (task.kind === 'escalation' && answer.approved === undefined)
    return wrong('An escalation is answered with an explicit approved.')
  const isOutput = task.about === 'output'
  if (
    answer.selectedOptionId !== undefined ||
    answer.numberValue !== undefined ||
    (answer.textValue !== undefined && !isOutput)
  ) {
    return wrong('This user task is answered with approved.')
  }
  if (
    task.approverRole !== undefined &&
    !(answer.by.type === 'operator' && answer.by.roles.includes(task.approverRole))
  ) {
    return fail('not_an_approver', { why: `it takes a person with the role ${task.approverRole}` })
  }
  if (task.separationOfDuties && approverOf(answer.by) === starterOf(tx))
    return fail('not_an_approver', { why: 'who started the run does not decide what it may do' })
  if (answer.approved === false) return undefined
  if (needsDigest(task) && answer.metadata?.['svc/arguments_digest'] === undefined) return fail('digest_required')
  if (task.comprehensionRequired && answer.metadata?.['svc/acknowledged'] !== true)
    return fail('acknowledgement_required')
  if (isOutput) {
    if (answer.textValue === undefined) return wrong('Approve with the output as textValue.')
    const read = readOutput(tx.snapshot(task.runId), answer.textValue)
    return 'errors' in read ? wrong(`The output is not valid: ${describeErrors(read.errors)}.`) : undefined
  }
  if (answer.metadata?.['svc/arguments'] === undefined) return undefined
  const edited = editedArguments(answer)
  const call = callOf(tx, task)
  if (!edited || !call) return wrong('metadata["svc/arguments"] must be an object, for a task about a call.')
  const refused = findEditProblem(tx, task, call, edited)
  return refused === undefined ? undefined : wrong(refused)
}

/**
 * True if the arguments were edited or several people vote: an approver must then name the digest of the arguments approved. Source: policies, section 5.
 */
const needsDigest = (task: TaskRecord): boolean =>
  task.argumentsDigest !== undefined && ((task.edits?.length ?? 0) > 0 || (task.approvalsRequired ?? 1) > 1)

function findNumberProblem(task: TaskRecord, value: number | undefined): Failure | undefined {
  const wrong = (what: string): Failure => fail('invalid_value', { what })
  if (value === undefined) return wrong('This user task is answered with numberValue.')
  if (task.min !== undefined && value < task.min) return wrong(`The number must be at least ${task.min}.`)
  if (task.max !== undefined && value > task.max) return wrong(`The number must be at most ${task.max}.`)
  return undefined
}

function findReviewProblem(tx: SessionTransaction, task: TaskRecord, answer: GivenAnswer): Failure | undefined {
  const wrong = (what: string): Failure => fail('invalid_value', { what })
  const { selectedOptionId } = answer
  if (selectedOptionId === undefined) return wrong('An unknown outcome is answered with selectedOptionId.')
  if (!isOffered(task, selectedOptionId)) return wrong(`"${selectedOptionId}" is none of the options.`)
  const notAfter = task.context?.['not_after']
  const arrivesUntil = typeof notAfter === 'string' ? Date.parse(notAfter) + QUARANTINE_MARGIN_MS : 0
  if (selectedOptionId === 'retry' && arrivesUntil > tx.now) {
    return wrong(`The first attempt may still arrive until ${toIsoText(arrivesUntil)}; send it again after that.`)
  }
  const schema = toolNamed(tx.snapshot(task.runId), task.tool?.name ?? '')?.outputSchema
  if (selectedOptionId !== 'happened' || schema === undefined) return undefined
  const errors = checkValue(schema, reviewedResult(task, answer, schema))
  return errors.length === 0
    ? undefined
    : wrong(`The result does not match the output schema: ${describeErrors(errors)}.`)
}

/** True if the same approver gives the same answer again. */
function isRepetition(task: TaskRecord, answer: GivenAnswer): boolean {
  if (task.kind === 'approval' || task.kind === 'escalation') {
    if (task.kind === 'escalation' && answer.approved === undefined) return false
    const mine = task.votes.find((each) => each.approver === approverOf(answer.by))
    if (mine?.approved !== (answer.approved ?? true)) return false
    const edited = editedArguments(answer)
    return !edited || canonicalJson(edited) === canonicalJson(task.arguments ?? null)
  }
  const given = task.answer
  return (
    task.status === 'completed' &&
    given?.completedBy === approverOf(answer.by) &&
    given.selectedOptionId === answer.selectedOptionId &&
    given.textValue === answer.textValue &&
    given.numberValue === answer.numberValue
  )
}

/** A vote is final: the same approver may only edit the arguments after it, which voids all votes. */
const hasVoted = (task: TaskRecord, answer: GivenAnswer): boolean =>
  task.votes.some((each) => each.approver === approverOf(answer.by)) &&
  !(answer.approved !== false && editedArguments(answer))

const isOffered = (task: TaskRecord, option: string): boolean =>
  task.options?.some((each) => each.id === option) ?? false

function editedArguments(answer: GivenAnswer): JsonObject | undefined {
  const edited = answer.metadata?.['svc/arguments']
  return isJsonObject(edited) ? edited : undefined
}

function commentOf(answer: GivenAnswer): string | undefined {
  const comment = answer.metadata?.['svc/comment']
  return typeof comment === 'string' && comment !== '' ? comment : answer.text || undefined
}

/** The key or person that started the session, in the format of `approverOf`. */
function starterOf(tx: SessionTransaction): string | undefined {
  const { triggerType, triggeredBy, person } = tx.session
  if (person !== null) return `operator:${person}`
  if (triggeredBy === null) return undefined
  return triggerType === 'api' ? `key:${triggeredBy}` : `operator:${triggeredBy}`
}

function callOf(tx: SessionTransaction, task: TaskRecord): ToolCall | undefined {
  const { state } = tx.run(task.runId)
  return state.at === 'calling' ? state.calls.find((call) => call.id === task.callId) : undefined
}

/** True for the run itself and its descendants. */
function isInSubtree(tx: SessionTransaction, id: RunId, above: RunId): boolean {
  for (let at: RunId | null = id; at !== null; at = tx.run(at).parentRunId) if (at === above) return true
  return false
}
