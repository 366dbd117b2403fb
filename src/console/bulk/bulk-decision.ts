/** Decisions about several tasks: which may be, and how they are sent. */
import { canonicalJson } from '../../base/json/json.ts'
import type { TaskDecision } from '../../client/index.ts'
import { findBulkProblem, IN_BULK, type ShownTask } from '../../spec/task.ts'
import { presentTask } from '../../view/task/task-card.ts'
import { describeTaskView } from '../../view/task/task-view.ts'
import type { Tone } from '../parts/badge.tsx'
import { digestOfShown, sendDecision } from '../card/decision.ts'
import { foldedPlaces } from '../card/task-card.tsx'
import { RequestError } from '../wire/request.ts'

export interface BulkResult {
  readonly tone: Tone
  readonly text: string
  /** Nothing more is decided about it here. */
  readonly isFinal: boolean
}

/** Why a task is not decided in a list; undefined where it may be. */
export const findReviewProblem = (task: ShownTask): string | undefined =>
  findBulkProblem(task) ??
  (foldedPlaces(presentTask(task, 0)).length > 0 ? 'it has a value that is too long for a list' : undefined)

/** What its digest is made of. */
export const viewTextOf = (task: ShownTask): string => canonicalJson(describeTaskView(task))

/**
 * One request for each, in order, with the digest of what is shown of it. A refusal concerns its task alone; without a server
 * the rest is not sent.
 * @returns how many were accepted
 */
export async function sendTogether(
  tasks: readonly ShownTask[],
  { approved, comment }: { readonly approved: boolean; readonly comment: string },
  onResult: (id: string, result: BulkResult) => void,
): Promise<number> {
  const decision: TaskDecision = { approved, ...(comment !== '' && { comment }), metadata: { [IN_BULK]: true } }
  let accepted = 0
  for (const task of tasks) {
    try {
      const digest = await digestOfShown(task)
      if (!digest.isIntact) {
        onResult(task.id, { tone: 'bad', text: 'its arguments are not those that their digest names', isFinal: true })
        continue
      }
      const { error } = await sendDecision(task, digest, decision)
      if (error === undefined) accepted++
      onResult(task.id, error === undefined ? resultOf(task, approved) : { tone: 'bad', text: error, isFinal: false })
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      const isLost = error.status === 0
      onResult(task.id, {
        tone: 'bad',
        text: isLost ? `${error.message} Whether it arrived is shown once it answers again.` : error.message,
        isFinal: false,
      })
      if (isLost) break
    }
  }
  return accepted
}

function resultOf({ approvalsReceived, approvalsRequired = 1 }: ShownTask, approved: boolean): BulkResult {
  if (!approved) return { tone: 'bad', text: 'rejected', isFinal: true }
  const have = approvalsReceived + 1
  const text = have < approvalsRequired ? `approved: ${have} of ${approvalsRequired}` : 'approved'
  return { tone: 'ok', text, isFinal: true }
}
