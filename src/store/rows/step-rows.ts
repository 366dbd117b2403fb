/** Rows of steps, and the steps that they are. */
import type { RunId, SessionId, StepId } from '../../base/ids.ts'
import type { RunStep, StepType } from '../../spec/step.ts'
import { toObject } from './json-column.ts'
import { toContent } from './step-content.ts'

export interface StepRow {
  id: StepId
  session_id: SessionId
  run_id: RunId
  type: StepType
  sequence: number
  ordinal: number
  content: string
  result: string | null
  hidden: string | null
  tokens_used: number | null
  error: string | null
  started_at: number
  finished_at: number | null
}

export const toStep = (row: StepRow): RunStep => ({
  id: row.id,
  sessionId: row.session_id,
  runId: row.run_id,
  type: row.type,
  sequence: row.sequence,
  ordinal: row.ordinal,
  content: toContent(row.content, row.result),
  ...(row.hidden === null ? {} : { hidden: toObject(row.hidden) }),
  tokensUsed: row.tokens_used,
  error: row.error,
  startedAt: row.started_at,
  finishedAt: row.finished_at,
})
