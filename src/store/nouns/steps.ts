/** Steps of runs: the timeline of a session, and what models read of it. */
import type { RunId } from '../../base/ids.ts'
import type { RunStep } from '../../spec/step.ts'
import type { Dialect } from '../dialect.ts'
import type { DecisionMark, StepSize } from '../queries.ts'
import { toObject } from '../rows/json-column.ts'
import { toContent } from '../rows/step-content.ts'
import { readRows, type NounWork, type StatementValues, type DatabaseWork } from '../statement.ts'

interface StoredStep extends Omit<RunStep, 'content' | 'hidden'> {
  readonly content: string
  readonly result: string | null
  readonly hidden: string | null
}

const toStep = (row: StoredStep): RunStep => ({
  id: row.id,
  sessionId: row.sessionId,
  runId: row.runId,
  type: row.type,
  sequence: row.sequence,
  ordinal: row.ordinal,
  content: toContent(row.content, row.result),
  ...(row.hidden === null ? {} : { hidden: toObject(row.hidden) }),
  tokensUsed: row.tokensUsed,
  error: row.error,
  startedAt: row.startedAt,
  finishedAt: row.finishedAt,
})

function* readSteps(sql: string, values: StatementValues): DatabaseWork<RunStep[]> {
  return (yield* readRows<StoredStep>(sql, values)).map(toStep)
}

type StepReads =
  | 'stepsOfRun'
  | 'stepsSince'
  | 'saidBefore'
  | 'stepsOfSession'
  | 'stepsAfter'
  | 'stepsOfRuns'
  | 'stepsAt'
  | 'decisionMarks'
  | 'stepSizes'

/** Steps of a run: PostgreSQL finds them by their session, because an index by runs would cost each step another write. */
const OF_RUN = {
  sqlite: 't.run_n = (select n from run where id = :runId)',
  postgres: 't.session_id = (select session_id from run where id = :runId) and t.run_id = :runId',
}
/** Ordinal of the first step of a run: PostgreSQL looks from the newest step back, where the run that a session goes on with begins. */
const FIRST_OF_RUN = {
  sqlite: 'select min(f.ordinal) from step f where f.run_n = (select n from run where id = :runId)',
  postgres: `select f.ordinal from step f
    where f.session_id = :sessionId and f.run_id = :runId and f.sequence = 1
    order by f.ordinal desc
    limit 1`,
}

export function prepareSteps(dialect: Dialect): NounWork<StepReads, never> {
  const { key, column, find, findAll, idOf, isOneOf, member, unindexed } = dialect
  const [session, run] = [column('session'), column('run')]
  const select = `
    select t.id, ${idOf('t', 'session')} as "sessionId", ${idOf('t', 'run')} as "runId", t.type, t.sequence, t.ordinal, t.content,
      l.result, t.hidden, t.tokens_used as "tokensUsed", t.error, t.started_at as "startedAt", t.finished_at as "finishedAt"
    from step t left join large_result l on l.digest = t.result_digest`
  const inSession = `t.${session} = ${find('session', 'sessionId')}`
  // By the index of runs: the steps of a session may be many.
  const inRuns = `${findAll(`t.${run}`, 'run', 'runIds')} and ${unindexed(`t.${session}`)} = ${find('session', 'sessionId')}`

  const ofRun = `${select} where ${OF_RUN[dialect.name]} order by t.sequence`
  const since = `${select} where ${inSession} and t.ordinal >= coalesce((${FIRST_OF_RUN[dialect.name]}), 0) order by t.ordinal`
  const said = `${select}
    where ${inSession} and t.ordinal < :before and t.type in (${listOf(SAID_TYPES)})
      and exists (select 1 from run r where r.${key} = t.${run} and r.parent_run_id is null)
    order by t.ordinal desc
    limit :limit`
  const questions = `${select}
    where ${inSession} and t.ordinal between :from and :to and t.type = 'Reasoning' and ${findAll(`t.${run}`, 'run', 'replied')}`
  const ofSession = `${select} where ${inSession} order by t.ordinal`
  const after = `${select} where ${inSession} and t.ordinal > :after order by t.ordinal limit :limit`
  const ofRuns = `${select} where ${inRuns} and t.ordinal > :after order by t.ordinal limit :limit`
  const at = `${select} where ${inSession} and ${isOneOf('t.ordinal', 'ordinals', 'bigint')} order by t.ordinal`
  const marks = `
    select t.ordinal, t.id as "decisionId", ${idOf('t', 'run')} as "runId", ${member('t.content', 'tool_call_id')} as "callId"
    from step t
    where ${inRuns} and t.type = 'PolicyDecision' and t.ordinal > :after
    order by t.ordinal
    limit :limit`
  const sizes = `
    select t.ordinal, t.type, octet_length(t.content) + coalesce(octet_length(l.result), 0) as bytes
    from step t left join large_result l on l.digest = t.result_digest
    where ${inSession} and t.ordinal > :after
    order by t.ordinal
    limit :limit`

  return {
    reads: {
      stepsOfRun: (runId) => readSteps(ofRun, { runId }),
      stepsSince: (sessionId, runId) => readSteps(since, { sessionId, runId }),
      *saidBefore(sessionId, before, limit) {
        const newest = yield* readSteps(said, { sessionId, before, limit })
        const { steps, replied } = wholeRuns(newest.reverse(), limit)
        const [from, to] = [steps[0]?.ordinal, steps.at(-1)?.ordinal]
        if (replied.length === 0 || from === undefined || to === undefined) return steps
        return byOrdinal([...steps, ...(yield* readSteps(questions, { sessionId, from, to, replied }))])
      },
      stepsOfSession: (sessionId) => readSteps(ofSession, { sessionId }),
      stepsAfter: (sessionId, ordinal, limit) => readSteps(after, { sessionId, after: ordinal, limit }),
      stepsOfRuns: (sessionId, runIds, ordinal, limit) =>
        readSteps(ofRuns, { sessionId, runIds, after: ordinal, limit }),
      stepsAt: (sessionId, ordinals) => readSteps(at, { sessionId, ordinals }),
      decisionMarks: (sessionId, runIds, ordinal, limit) =>
        readRows<DecisionMark>(marks, { sessionId, runIds, after: ordinal, limit }),
      stepSizes: (sessionId, ordinal, limit) => readRows<StepSize>(sizes, { sessionId, after: ordinal, limit }),
    },
    writes: {},
    transactions: {},
  }
}

/** Steps that are part of the conversation whatever they contain. A completion is one where a message answers its question. */
const SAID_TYPES = ['UserMessage', 'Output', 'RunCompleted', 'RunResumed'] as const

const listOf = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ')

const byOrdinal = (steps: readonly RunStep[]): readonly RunStep[] => steps.toSorted((a, b) => a.ordinal - b.ordinal)

/**
 * Leaves out the oldest run of a full page unless its first step was read, or it is the only one.
 * @returns also the runs in which a message answers a question
 */
function wholeRuns(
  page: readonly RunStep[],
  limit: number,
): { readonly steps: readonly RunStep[]; readonly replied: readonly RunId[] } {
  const [oldest] = page
  const rest = page.filter(({ runId }) => runId !== oldest?.runId)
  const isCut = page.length === limit && oldest?.sequence !== 1 && rest.length > 0
  const steps = isCut ? rest : page
  const replied = steps.filter(({ content }) => (content['reply_to'] ?? null) !== null).map(({ runId }) => runId)
  return { steps, replied: [...new Set(replied)] }
}
