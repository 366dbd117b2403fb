import type { ToolCall } from '../../spec/run.ts'
import type { TaskRecord } from '../../spec/task.ts'
import { openReview, OPTIONS_WHILE_OPEN } from '../session/review.ts'
import type { CallHandle } from '../session/transaction/call-handle.ts'

/**
 * Asks a person what became of a call that may have been made. The model gets no result, since it would call again.
 * @param earlier the review of the same call that this one replaces
 */
export function openOutcomeReview(call: CallHandle, error: string, earlier?: TaskRecord): ToolCall {
  call.closeDispatch(error)
  const review = openReview(call, error, OPTIONS_WHILE_OPEN, earlier)
  call.endEffect('unknown')
  return call.to({ at: 'unknown', task: review.id })
}
