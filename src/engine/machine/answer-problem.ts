/** Whether an answer to a user task is acceptable. Source: docs/design/approvals.md#who-may-decide */
import { toIsoText } from '../../base/clock.ts'
import { fail, type Failure } from '../../base/failure.ts'
import { digestStart } from '../../base/text/short-text.ts'
import { canonicalJson, isJsonObject, type JsonObject } from '../../base/json/json.ts'
import { hasNeededRoles } from '../../spec/people/approver-role.ts'
import { isProofAtLeast, PROOF_NAMES } from '../../spec/people/decision-proof.ts'
import { QUARANTINE_MARGIN_MS } from '../../spec/effect.ts'
import { approverOf, isSameApprover } from '../../spec/people/key.ts'
import { readServerAnswer, withoutSecrets } from '../../spec/server-question.ts'
import { findBulkProblem, findUnprovedVote, IN_BULK, type GivenAnswer, type TaskRecord } from '../../spec/task.ts'
import { checkValue } from '../../tools/check/check.ts'
import { findEditProblem } from '../calls/gate/approval.ts'
import { reviewedResult } from '../review/reviewed.ts'
import { toolNamed } from '../session/bindings.ts'
import { CallHandle } from '../transaction/call-handle.ts'
import { nameOfStarter } from '../transaction/starter.ts'
import type { SessionTransaction } from '../transaction/transaction.ts'
import { readOutput, describeErrors } from './output.ts'

/** The failure that makes an answer unacceptable; undefined when it is acceptable. */
export function findAnswerProblem(tx: SessionTransaction, task: TaskRecord, answer: GivenAnswer): Failure | undefined {
  const digest = answer.metadata?.['svc/arguments_digest']
  if (digest !== undefined && digest !== task.argumentsDigest)
    return fail('arguments_changed', { reviewed: digestStart(digest), now: digestStart(task.argumentsDigest) })
  return findKindProblem(tx, task, answer) ?? findServerAnswerProblem(task, answer)
}

function findKindProblem(tx: SessionTransaction, task: TaskRecord, answer: GivenAnswer): Failure | undefined {
  if (task.question && answer.approved === false) return undefined
  switch (task.kind) {
    case 'approval':
    case 'escalation':
      return findVoteProblem(tx, task, answer)
    case 'multi_option':
      if (answer.selectedOptionId === undefined) return refuseValue('This user task is answered with selectedOptionId.')
      return isOffered(task, answer.selectedOptionId)
        ? undefined
        : refuseValue(`"${answer.selectedOptionId}" is none of the options.`)
    case 'text':
    case 'aitl_escalation':
      return answer.textValue === undefined ? refuseValue('This user task is answered with textValue.') : undefined
    case 'number':
      return findNumberProblem(task, answer.numberValue)
    case 'anomaly_review':
      return findReviewProblem(tx, task, answer)
  }
}

function findVoteProblem(tx: SessionTransaction, task: TaskRecord, answer: GivenAnswer): Failure | undefined {
  if (task.kind === 'escalation' && answer.approved === undefined)
    return refuseValue('An escalation is answered with an explicit approved.')
  const isOutput = task.about === 'output'
  if (
    answer.selectedOptionId !== undefined ||
    answer.numberValue !== undefined ||
    (answer.textValue !== undefined && !isOutput)
  ) {
    return refuseValue('This user task is answered with approved.')
  }
  if (
    task.approverRole !== undefined &&
    !(answer.by.type === 'operator' && hasNeededRoles(answer.by.roles, task.approverRole))
  ) {
    return fail('not_an_approver', { why: `it takes a person with the role ${task.approverRole}` })
  }
  const starter = nameOfStarter(tx.run(task.runId))
  if (task.separationOfDuties && starter !== undefined && isSameApprover(approverOf(answer.by), starter))
    return fail('not_an_approver', { why: 'who started the run does not decide what it may do' })
  const unproved = findUnprovedVote(answer.by, task)
  if (unproved !== undefined && !(answer.approved === false && task.separationOfDuties !== true))
    return fail('not_an_approver', { why: unproved })
  if (answer.approved === false) return undefined
  const { approvalProof: needed = 'none' } = task
  const { proof = 'none' } = answer.origin ?? {}
  if (!isProofAtLeast(proof, needed))
    return fail('proof_required', { needed: PROOF_NAMES[needed] ?? needed, given: PROOF_NAMES[proof] })
  const notInBulk = answer.metadata?.[IN_BULK] === true ? findBulkProblem(task) : undefined
  if (notInBulk !== undefined) return fail('not_in_bulk', { why: notInBulk })
  if (needsDigest(task) && answer.metadata?.['svc/arguments_digest'] === undefined) return fail('digest_required')
  if (task.comprehensionRequired && answer.metadata?.['svc/acknowledged'] !== true)
    return fail('acknowledgement_required')
  if (isOutput) {
    if (answer.textValue === undefined) return refuseValue('Approve with the output as textValue.')
    const read = readOutput(tx.run(task.runId).snapshot, answer.textValue)
    return 'errors' in read ? refuseValue(`The output is not valid: ${describeErrors(read.errors)}.`) : undefined
  }
  if (answer.metadata?.['svc/arguments'] === undefined) return undefined
  const edited = editedArguments(answer)
  const call = findCallOfTask(tx, task)
  if (!edited || !call) return refuseValue('metadata["svc/arguments"] must be an object, for a task about a call.')
  const refused = findEditProblem(task, call, edited)
  return refused === undefined ? undefined : refuseValue(refused)
}

/**
 * True if the arguments were edited or several people vote: an approver must then name the digest of the arguments approved.
 * Source: docs/design/approvals.md#votes-and-quorums
 */
const needsDigest = (task: TaskRecord): boolean =>
  task.argumentsDigest !== undefined && ((task.edits?.length ?? 0) > 0 || (task.approvalsRequired ?? 1) > 1)

/** The answer to the question of a server has to fit the form that it asks for. */
function findServerAnswerProblem({ question }: TaskRecord, answer: GivenAnswer): Failure | undefined {
  const read = question && readServerAnswer(question, answer)
  if (typeof read === 'string') return refuseValue(read)
  if (!question?.schema || read?.content === undefined) return undefined
  const errors = checkValue(question.schema, read.content)
  return errors.length === 0
    ? undefined
    : refuseValue(`The answer does not fit the question: ${describeErrors(errors)}.`)
}

function findNumberProblem(task: TaskRecord, value: number | undefined): Failure | undefined {
  if (value === undefined) return refuseValue('This user task is answered with numberValue.')
  if (task.min !== undefined && value < task.min) return refuseValue(`The number must be at least ${task.min}.`)
  if (task.max !== undefined && value > task.max) return refuseValue(`The number must be at most ${task.max}.`)
  return undefined
}

function findReviewProblem(tx: SessionTransaction, task: TaskRecord, answer: GivenAnswer): Failure | undefined {
  const { selectedOptionId } = answer
  if (selectedOptionId === undefined) return refuseValue('An unknown outcome is answered with selectedOptionId.')
  if (!isOffered(task, selectedOptionId)) return refuseValue(`"${selectedOptionId}" is none of the options.`)
  const notAfter = task.context?.['not_after']
  const arrivesUntil = typeof notAfter === 'string' ? Date.parse(notAfter) + QUARANTINE_MARGIN_MS : 0
  if (selectedOptionId === 'retry' && arrivesUntil > tx.now) {
    return refuseValue(`The first attempt may still arrive until ${toIsoText(arrivesUntil)}; send it again after that.`)
  }
  // The end of a run does not cut an unsafe call off, and this answer would give its effect key back meanwhile.
  if (selectedOptionId === 'skip' && arrivesUntil > tx.now && tx.run(task.runId).state.at === 'done')
    return refuseValue(
      `The call may still arrive until ${toIsoText(arrivesUntil)}; say after that whether it happened.`,
    )
  const schema = toolNamed(tx.run(task.runId).snapshot, task.tool?.name ?? '')?.outputSchema
  if (selectedOptionId !== 'happened' || schema === undefined) return undefined
  const errors = checkValue(schema, reviewedResult(task, answer, schema))
  return errors.length === 0
    ? undefined
    : refuseValue(`The result does not match the output schema: ${describeErrors(errors)}.`)
}

const refuseValue = (what: string): Failure => fail('invalid_value', { what })

/** True if the same approver gives the same answer again. */
export function isRepetition(task: TaskRecord, answer: GivenAnswer): boolean {
  if (task.kind === 'approval' || task.kind === 'escalation') {
    if (task.kind === 'escalation' && answer.approved === undefined) return false
    const mine = task.votes.find((each) => isSameApprover(each.approver, approverOf(answer.by)))
    if (mine?.approved !== (answer.approved ?? true)) return false
    const edited = editedArguments(answer)
    return !edited || canonicalJson(edited) === canonicalJson(task.arguments ?? null)
  }
  const given = task.answer
  const shown = withoutSecrets(task.question, {
    outcome: 'answered',
    ...(answer.textValue !== undefined && { textValue: answer.textValue }),
  })
  return (
    task.status === 'completed' &&
    given?.completedBy !== undefined &&
    isSameApprover(given.completedBy, approverOf(answer.by)) &&
    given.selectedOptionId === answer.selectedOptionId &&
    given.textValue === shown.textValue &&
    (given.approved === false) === (task.question !== undefined && answer.approved === false) &&
    given.numberValue === answer.numberValue
  )
}

/** A vote is final: the same approver may only edit the arguments after it, which voids all votes. */
export const hasVoted = (task: TaskRecord, answer: GivenAnswer): boolean =>
  task.votes.some((each) => isSameApprover(each.approver, approverOf(answer.by))) &&
  !(answer.approved !== false && editedArguments(answer))

const isOffered = (task: TaskRecord, option: string): boolean =>
  task.options?.some((each) => each.id === option) ?? false

/** The arguments with which an approver wants the call to run. */
export function editedArguments(answer: GivenAnswer): JsonObject | undefined {
  const edited = answer.metadata?.['svc/arguments']
  return isJsonObject(edited) ? edited : undefined
}

/** The call that a task decides, as its run has it now. */
export function findCallOfTask(tx: SessionTransaction, task: TaskRecord): CallHandle | undefined {
  const run = tx.run(task.runId)
  if (run.state.at !== 'calling') return undefined
  const record = run.state.calls.find(({ id }) => id === task.callId)
  return record && new CallHandle(run, run.state.turn, record)
}
