import type { RunStep } from '../../spec/step.ts'
import type { DecisionMark, StepSize } from '../queries.ts'
import { toText } from '../rows/json-column.ts'
import { byOrdinal, listOf, SAID_TYPES, wholeRuns } from '../rows/said-steps.ts'
import { splitContent } from '../rows/step-content.ts'
import { toStep, type StepRow } from '../rows/step-rows.ts'
import type { StepEnd } from '../session-update.ts'
import type { Store } from '../store.ts'
import type { Database } from 'better-sqlite3'

export interface StepTable {
  readonly reads: Pick<
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
  >
  add(sessionN: number, runN: number, step: RunStep): void
  close(sessionN: number, end: StepEnd): void
}

export function openSteps(db: Database): StepTable {
  const addResult = db.prepare<[string, string]>(
    'insert into large_result (digest, result) values (?, ?) on conflict do nothing',
  )
  const insert = db.prepare(
    `insert into step (
       session_n, ordinal, run_n, sequence, id, type, content, result_digest, hidden, tokens_used, error, started_at, finished_at
     ) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const close = db.prepare(
    `update step
     set finished_at = ?, error = ?
     where session_n = ? and ordinal = ? and finished_at is null`,
  )
  const ofRun = db.prepare<[string], StepRow>(`${SELECT} where r.id = ? order by t.sequence`)
  const since = db.prepare<[string, string], StepRow>(
    `${SELECT}
     where s.id = ? and t.ordinal >= ifnull((
       select min(f.ordinal) from step f where f.run_n = (select n from run where id = ?)
     ), 0)
     order by t.ordinal`,
  )
  // The cross joins keep SQLite from sorting: it walks the steps of the session from the newest back.
  const said = db.prepare<[string, number, number], StepRow>(
    `${FIELDS}
     from step t
       cross join run r on r.n = t.run_n
       cross join session s on s.n = t.session_n
       left join large_result l on l.digest = t.result_digest
     where t.session_n = (select n from session where id = ?) and t.ordinal < ?
       and t.type in (${listOf(SAID_TYPES)}) and r.parent_run_id is null
     order by t.ordinal desc
     limit ?`,
  )
  const questions = db.prepare<[string, number, number, string], StepRow>(
    `${SELECT}
     where s.id = ? and t.ordinal between ? and ? and t.type = 'Reasoning'
       and r.id in (select value from json_each(?))
     order by t.ordinal`,
  )
  const ofSession = db.prepare<[string], StepRow>(`${SELECT} where s.id = ? order by t.ordinal`)
  const after = db.prepare<[string, number, number], StepRow>(
    `${SELECT} where s.id = ? and t.ordinal > ? order by t.ordinal limit ?`,
  )
  // The cross joins keep SQLite from walking all steps of the session.
  const ofRuns = db.prepare<[string, string, number, number], StepRow>(
    `${FIELDS}
     from json_each(?) given
       cross join run r on r.id = given.value
       cross join step t on t.run_n = r.n
       cross join session s on s.n = t.session_n
       left join large_result l on l.digest = t.result_digest
     where s.id = ? and t.ordinal > ?
     order by t.ordinal
     limit ?`,
  )
  const at = db.prepare<[string, string], StepRow>(
    `${SELECT}
     where t.session_n = (select n from session where id = ?) and t.ordinal in (select value from json_each(?))
     order by t.ordinal`,
  )
  const marks = db.prepare<[string, string, number, number], DecisionMark>(
    `select t.ordinal, t.id as decisionId, r.id as runId, t.content ->> 'tool_call_id' as callId
     from json_each(?) given
       cross join run r on r.id = given.value
       cross join step t on t.run_n = r.n
     where r.session_n = (select n from session where id = ?) and t.type = 'PolicyDecision' and t.ordinal > ?
     order by t.ordinal
     limit ?`,
  )
  const sizes = db.prepare<[string, number, number], StepSize>(
    `select t.ordinal, t.type, octet_length(t.content) + coalesce(octet_length(l.result), 0) as bytes
     from step t left join large_result l on l.digest = t.result_digest
     where t.session_n = (select n from session where id = ?) and t.ordinal > ?
     order by t.ordinal
     limit ?`,
  )

  return {
    reads: {
      async stepSizes(sessionId, ordinal, limit) {
        return sizes.all(sessionId, ordinal, limit)
      },
      async stepsOfRun(runId) {
        return ofRun.all(runId).map(toStep)
      },
      async stepsSince(sessionId, runId) {
        return since.all(sessionId, runId).map(toStep)
      },
      async saidBefore(sessionId, before, limit) {
        const newest = said.all(sessionId, before, limit).map(toStep).reverse()
        const { steps, replied } = wholeRuns(newest, limit)
        const asked =
          replied.length === 0
            ? []
            : questions.all(sessionId, steps[0]!.ordinal, steps.at(-1)!.ordinal, JSON.stringify(replied)).map(toStep)
        return byOrdinal([...steps, ...asked])
      },
      async stepsOfSession(sessionId) {
        return ofSession.all(sessionId).map(toStep)
      },
      async stepsOfRuns(sessionId, runIds, ordinal, limit) {
        return ofRuns.all(JSON.stringify(runIds), sessionId, ordinal, limit).map(toStep)
      },
      async stepsAt(sessionId, ordinals) {
        return at.all(sessionId, JSON.stringify(ordinals)).map(toStep)
      },
      async decisionMarks(sessionId, runIds, ordinal, limit) {
        return marks.all(JSON.stringify(runIds), sessionId, ordinal, limit)
      },
      async stepsAfter(sessionId, ordinal, limit) {
        return after.all(sessionId, ordinal, limit).map(toStep)
      },
    },
    // The most frequent write, so its values are bound by position, which is the fastest way.
    add(sessionN, runN, step) {
      const { content, large } = splitContent(step)
      if (large) addResult.run(large.digest, large.result)
      insert.run(
        sessionN,
        step.ordinal,
        runN,
        step.sequence,
        step.id,
        step.type,
        content,
        large?.digest ?? null,
        toText(step.hidden),
        step.tokensUsed,
        step.error,
        step.startedAt,
        step.finishedAt,
      )
    },
    close: (sessionN, { ordinal, finishedAt, error }) => void close.run(finishedAt, error, sessionN, ordinal),
  }
}

const FIELDS = `
  select t.id, s.id as session_id, r.id as run_id, t.type, t.sequence, t.ordinal, t.content, l.result,
    t.hidden, t.tokens_used, t.error, t.started_at, t.finished_at`

const SELECT = `
  ${FIELDS}
  from step t
    join run r on r.n = t.run_n
    join session s on s.n = t.session_n
    left join large_result l on l.digest = t.result_digest`
