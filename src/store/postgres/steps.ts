import type { SessionId } from '../../base/ids.ts'
import type { RunStep } from '../../spec/step.ts'
import type { StepSize } from '../queries.ts'
import { splitContent } from '../rows/step-content.ts'
import { toStep, type StepRow } from '../rows/step-rows.ts'
import type { StepEnd } from '../session-update.ts'
import type { Store } from '../store.ts'
import type { PostgresPool } from './database/pool.ts'

export const stepReads = (
  db: PostgresPool,
): Pick<Store, 'stepsOfRun' | 'saidInRun' | 'stepsOfSession' | 'stepsAfter' | 'stepSizes'> => ({
  async stepsOfRun(runId) {
    return (await db.rows<StepRow>(`${SELECT} where ${OF_RUN} order by t.sequence`, { runId })).map(toStep)
  },
  async saidInRun(runId) {
    const rows = await db.rows<StepRow>(
      `${SELECT}
       where ${OF_RUN} and (
         t.type in ('UserMessage', 'Output', 'RunCompleted', 'RunResumed')
         or t.type = 'Reasoning' and exists (
           select 1 from step m
           where m.session_id = t.session_id and m.run_id = t.run_id and m.type = 'UserMessage'
             and coalesce((m.content::json -> 'reply_to')::text, 'null') <> 'null'
         )
       )
       order by t.sequence`,
      { runId },
    )
    return rows.map(toStep)
  },
  async stepsOfSession(sessionId) {
    const rows = await db.rows<StepRow>(`${SELECT} where t.session_id = :sessionId order by t.ordinal`, { sessionId })
    return rows.map(toStep)
  },
  async stepsAfter(sessionId, after, limit) {
    const rows = await db.rows<StepRow>(
      `${SELECT} where t.session_id = :sessionId and t.ordinal > :after order by t.ordinal limit :limit`,
      { sessionId, after, limit },
    )
    return rows.map(toStep)
  },
  async stepSizes(sessionId, after, limit) {
    return db.rows<StepSize>(
      `select t.ordinal, t.type, (octet_length(t.content) + coalesce(octet_length(l.result), 0)) as bytes
       from step t left join large_result l on l.digest = t.result_digest
       where t.session_id = :sessionId and t.ordinal > :after
       order by t.ordinal
       limit :limit`,
      { sessionId, after, limit },
    )
  },
})

const SELECT = `
  select t.id, t.session_id, t.run_id, t.type, t.sequence, t.ordinal, t.content, l.result, t.hidden, t.tokens_used, t.error,
    t.started_at, t.finished_at
  from step t left join large_result l on l.digest = t.result_digest`

/** Steps are found by their session: an index by runs would cost each step another write. */
const OF_RUN = 't.session_id = (select session_id from run where id = :runId) and t.run_id = :runId'

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
    hidden: step.hidden === undefined ? null : JSON.stringify(step.hidden),
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
