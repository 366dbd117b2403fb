/** Applies what people decided in a task to the call that waits for it. */
import { taskOfState, type CallApproval, type RunState, type ToolCall } from '../../spec/run/run.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { endEffectOf, type CallHandle } from '../transaction/call-handle.ts'
import type { TransitionEventOf } from '../session/event.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'
import { withEditedArguments } from './gate/approval.ts'
import { updateCalls } from './calls.ts'
import { takeServerAnswer } from './server-questions.ts'
import { keepLateOutcome, settleCall, settleWithError, toolError } from './settle.ts'
import { reviewedResult } from '../review/reviewed.ts'

/** Applies the decision of a task to the call it belongs to. */
export const applyTaskDecision = (run: RunHandle, here: StateAt<'calling'>, task: TaskRecord): RunState | undefined =>
  updateCalls(
    run,
    here,
    ({ state }) => taskOfState(state) === task.id,
    (call) => applyDecision(call, task),
  )

function applyDecision(call: CallHandle, task: TaskRecord): ToolCall {
  const answer = task.answer!
  if (task.question) return takeServerAnswer(call, task)
  switch (task.kind) {
    case 'approval':
    case 'escalation':
      return answer.approved ? approveCall(call, task) : rejectCall(call, task)
    case 'anomaly_review':
      return applyReview(call, task)
    case 'multi_option':
    case 'text':
    case 'number':
    // An escalated question is answered where it was asked (`machine/tasks.ts`), never as a task of a call.
    case 'aitl_escalation': {
      const result = answer.selectedOptionId ?? answer.textValue ?? answer.numberValue ?? null
      return settleCall(call, { outcome: 'executed', result })
    }
  }
}

function approveCall(call: CallHandle, task: TaskRecord): ToolCall {
  const { id, answer, actionDigest, approverRole, separationOfDuties, approvalProof } = task
  const edited = answer?.arguments ? withEditedArguments(call, answer.arguments) : call
  const votes = task.votes.filter(({ approved }) => approved).map(({ approver }) => approver)
  const approval: CallApproval = {
    task: id,
    digest: actionDigest!,
    ...(approverRole !== undefined && { role: approverRole }),
    ...(separationOfDuties && { separationOfDuties }),
    ...(approvalProof !== undefined && { proof: approvalProof }),
    ...(answer?.outcome === 'timed_out' && { timedOut: true }),
  }
  return edited.to({ at: 'proposed', approved: approval }, { approvedBy: votes })
}

function rejectCall(call: CallHandle, task: TaskRecord): ToolCall {
  const { comment, outcome } = task.answer!
  const reason = outcome === 'timed_out' ? 'nobody approved it in time' : 'rejected by a person'
  const why =
    comment === undefined ? `${reason}.` : `${reason}. Reason: ${/[.!?]$/.test(comment) ? comment : `${comment}.`}`
  const ends = { error: `${call.record.name} was not executed: ${why}`, errorCode: 'rejected' as const }
  const error = toolError('rejected', `Not executed: ${why} Do not repeat this call.`)
  return settleWithError(call, 'rejected', error, task.onReject === 'fail' ? { ends } : {})
}

/** Applies what a person decided about a call that may have happened. */
function applyReview(call: CallHandle, task: TaskRecord): ToolCall {
  const answer = task.answer!
  switch (answer.selectedOptionId) {
    case 'happened':
      return settleCall(call, {
        outcome: 'executed',
        result: reviewedResult(task, answer, call.tool?.outputSchema),
      })
    case 'retry': {
      // Authorized again, so that a call that needed an approval needs a new one.
      const certain = call.without('inDoubt', 'approvedBy', 'repeats', 'effectWait')
      // A person says that it did not happen; the next attempt takes the key anew.
      call.endEffect('not_made')
      return certain.to({ at: 'proposed' }, { attempt: call.record.attempt + 1 })
    }
    case 'stop':
      return settleWithError(call, 'skipped', toolError('stopped', 'The run was stopped by a person.'), {
        inDoubt: true,
        ends: {
          error: `The outcome of ${call.record.name} is unknown, and a person stopped the run.`,
          errorCode: 'tool_failed',
        },
      })
    default:
      return settleWithError(call, 'skipped', toolError('not_executed', 'Not executed, decided by a person.'))
  }
}

/** Applies the review of a call whose run ended before the outcome was known. */
export function applyLateReview(run: RunHandle, { task }: TransitionEventOf<'task.closed'>): undefined {
  const row = task.callId === undefined ? undefined : run.callRow(task.callId)
  const { answer } = task
  const option = answer?.selectedOptionId
  if (row?.state !== 'unknown' || !answer || option === undefined) return
  const hasHappened = option === 'happened'
  if (hasHappened) {
    const schema = run.snapshot.tools.find(({ id }) => id === row.ref)?.outputSchema
    keepLateOutcome(run, row.callId, { result: reviewedResult(task, answer, schema), isError: false })
  }
  run.tx.recordCallRow({ ...row, state: hasHappened ? 'executed' : 'skipped', at: run.tx.now })
  endEffectOf(run, row, hasHappened ? 'done' : 'not_made')
}
