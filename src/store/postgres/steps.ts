import type { SessionId } from '../../base/ids.ts'
import type { RunStep } from '../../spec/step.ts'
import { toText } from '../rows/json-column.ts'
import { splitContent } from '../rows/step-content.ts'
import type { StepEnd } from '../session-update.ts'

/** Columns of a step, and of its result where that is stored separately. */
export function toStepColumns(sessionId: SessionId, step: RunStep) {
  const { content, large } = splitContent(step)
  const columns = {
    session_id: sessionId,
    ordinal: step.ordinal,
    run_id: step.runId,
    sequence: step.sequence,
    id: step.id,
    type: step.type,
    content,
    result_digest: large?.digest ?? null,
    hidden: toText(step.hidden),
    tokens_used: step.tokensUsed,
    error: step.error,
    started_at: step.startedAt,
    finished_at: step.finishedAt,
  }
  return { columns, large }
}

export const toEndColumns = (sessionId: SessionId, { ordinal, finishedAt, error }: StepEnd) => ({
  session_id: sessionId,
  ordinal,
  finished_at: finishedAt,
  error,
})
