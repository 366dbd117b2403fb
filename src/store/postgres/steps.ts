import type { SessionId } from '../../base/ids.ts'
import type { RunStep } from '../../spec/step.ts'
import type { DecisionMark, StepSize } from '../queries.ts'
import { toColumnText } from '../rows/json-column.ts'
import { byOrdinal, listOf, SAID_TYPES, wholeRuns } from '../rows/said-steps.ts'
import { splitContent } from '../rows/step-content.ts'
import { toStep, type StepRow } from '../rows/step-rows.ts'
import type { StepEnd } from '../session-update.ts'
import type { Store } from '../store.ts'
import type { PostgresPool } from './database/pool.ts'

export const stepReads = (
  db: PostgresPool,
): Pick<
  Store,
  | 'stepsOfRun'
  | 'stepsSince'
  | 'saidBefore'
  | 'stepsOfSession'
  | 'stepsAfter'
  | 'stepsOfRuns'
  | 'stepsAt'
  | 'decisionMarks'
  | 'stepSizes'
> => ({
  async stepsOfRun(runId) {
    return (await db.rows<StepRow>(`${SELECT} where ${OF_RUN} order by t.sequence`, { runId })).map(toStep)
  },
  async stepsSince(sessionId, runId) {
    // Looked for from the newest step back, where the run that a session goes on with begins.
    const rows = await db.rows<StepRow>(
      `${SELECT}
       where t.session_id = :sessionId and t.ordinal >= coalesce((
         select f.ordinal from step f
         where f.session_id = :sessionId and f.run_id = :runId and f.sequence = 1
         order by f.ordinal desc
         limit 1
       ), 0)
       order by t.ordinal`,
      { sessionId, runId },
    )
    return rows.map(toStep)
  },
  async saidBefore(sessionId, before, limit) {
    const rows = await db.rows<StepRow>(
      `${SELECT}
       where t.session_id = :sessionId and t.ordinal < :before and t.type in (${listOf(SAID_TYPES)})
         and exists (select 1 from run r where r.id = t.run_id and r.parent_run_id is null)
       order by t.ordinal desc
       limit :limit`,
      { sessionId, before, limit },
    )
    const { steps, replied } = wholeRuns(rows.map(toStep).reverse(), limit)
    if (replied.length === 0) return steps
    const asked = await db.rows<StepRow>(
      `${SELECT}
       where t.session_id = :sessionId and t.ordinal between :from and :to and t.type = 'Reasoning'
         and t.run_id = any (cast(:replied as uuid[]))`,
      { sessionId, from: steps[0]!.ordinal, to: steps.at(-1)!.ordinal, replied },
    )
    return byOrdinal([...steps, ...asked.map(toStep)])
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
  async stepsOfRuns(sessionId, runIds, after, limit) {
    const rows = await db.rows<StepRow>(
      `${SELECT}
       where t.session_id = :sessionId and t.run_id = any (cast(:runIds as uuid[])) and t.ordinal > :after
       order by t.ordinal
       limit :limit`,
      { sessionId, runIds, after, limit },
    )
    return rows.map(toStep)
  },
  async stepsAt(sessionId, ordinals) {
    const rows = await db.rows<StepRow>(
      `${SELECT}
       where t.session_id = :sessionId and t.ordinal = any (cast(:ordinals as bigint[]))
       order by t.ordinal`,
      { sessionId, ordinals: ordinals.map(String) },
    )
    return rows.map(toStep)
  },
  async decisionMarks(sessionId, runIds, after, limit) {
    return db.rows<DecisionMark>(
      `select t.ordinal, t.id as "decisionId", t.run_id as "runId", t.content::json ->> 'tool_call_id' as "callId"
       from step t
       where t.session_id = :sessionId and t.run_id = any (cast(:runIds as uuid[]))
         and t.type = 'PolicyDecision' and t.ordinal > :after
       order by t.ordinal
       limit :limit`,
      { sessionId, runIds, after, limit },
    )
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
    hidden: step.hidden === undefined ? null : toColumnText(step.hidden),
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
