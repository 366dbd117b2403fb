/** Says what an answer to a task did. A vote is reported as a vote, never as the decision. */
import type { ShownTask } from '../../spec/task.ts'
import { describeMissing } from '../../view/task/task-people.ts'
import { describeSubject } from '../../view/task/task-subject.ts'
import { safeText } from '../../base/text/escape-text.ts'
import { shortId } from '../../base/text/short-text.ts'

/**
 * `vote of operator ana counted for acme.refunds amount 1500: 1 of 2; waits for another treasurer`, or
 * `approved acme.refunds amount 180 (1 of 1)` where the vote decided.
 * @param isRepeated the same person gave the same answer before
 */
export function describeApproval(
  task: ShownTask,
  { have, need }: { readonly have: number; readonly need: number },
  isRepeated = false,
): string {
  const subject = describeSubject(task)
  if (have >= need) return `${isRepeated ? 'already ' : ''}approved ${subject} (${have} of ${need})`
  const { people } = task
  const whose = people === undefined ? 'your vote' : `vote of ${safeText(people.you)}`
  const missing = describeMissing({ approvalsReceived: have, approvalsRequired: need, ...(people && { people }) })
  return `${whose} ${isRepeated ? 'counts already' : 'counted'} for ${subject}: ${have} of ${need}; ${safeText(missing ?? 'waits for another person')}`
}

/** The command that answers a task. */
export function answerCommand(kind: string, taskId: string): string {
  const id = shortId(taskId)
  return kind === 'approval' || kind === 'escalation'
    ? `svc approve ${id}   or   svc reject ${id} --reason …`
    : `svc answer ${id} …`
}
