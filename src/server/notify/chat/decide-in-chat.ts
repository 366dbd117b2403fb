/** Which tasks people decide in a chat, and what a button says of what it was drawn for. Source: docs/design/notifications.md#clicks */
import { digestOfJson } from '../../../base/digest.ts'
import { isUuid, type TaskId } from '../../../base/ids.ts'
import { isProofAtLeast, PROOF_NAMES } from '../../../spec/people/decision-proof.ts'
import { findReviewReason } from '../../../spec/task.ts'
import { describeTaskView } from '../../../view/task/task-view.ts'
import type { DeskTask } from '../channel.ts'
import type { ChatCard } from './chat-card.ts'

/** Why a task is decided elsewhere, in a few words; undefined where a click may decide it. */
export function findElsewhereReason(task: DeskTask, { isWhole }: Pick<ChatCard, 'isWhole'>): string | undefined {
  if (task.kind !== 'approval' || task.tool === undefined) return 'it takes more than a yes or no'
  if (task.argumentsDigest === undefined) return 'no digest says what was shown'
  const reason = findReviewReason(task)
  if (reason !== undefined) return reason
  const { approvalProof: needed = 'none' } = task
  if (!isProofAtLeast('link', needed)) return `its policy asks for ${PROOF_NAMES[needed] ?? needed}`
  if (task.separationOfDuties === true) return 'who did not start the run proves it with a credential'
  return isWhole ? undefined : 'not all of it can be read here'
}

/** What a button was drawn for: a task, and everything that was shown of it. */
export interface DrawnTask {
  readonly taskId: TaskId
  readonly seen: string
}

export const seenOf = (task: DeskTask): string => digestOfJson(describeTaskView(task))

export const writeDrawnTask = (task: DeskTask): string => `${task.id} ${seenOf(task)}`

export function readDrawnTask(value: string): DrawnTask | undefined {
  const [taskId = '', seen = '', ...more] = value.split(' ')
  return isUuid(taskId) && /^sha256:[0-9a-f]{64}$/.test(seen) && more.length === 0
    ? { taskId: taskId as TaskId, seen }
    : undefined
}
