import type { RunId, SessionId, VersionId } from '../../base/ids.ts'
import type { Run, RunStatusName } from '../../spec/run.ts'
import { toText } from '../rows/json-column.ts'
import { isFilteredRuns, isRunSearch, matchesOnlyOpen, MOST_COUNTED } from '../rows/run-filter.ts'
import { isRanked, keptOfRanked, MOST_RANKED, orderOfRanked } from '../rows/run-rank.ts'
import { toRun, withoutZeros, type RunRow } from '../rows/run-rows.ts'
import { endingRange, tailOf } from '../rows/tail.ts'
import type { Store } from '../store.ts'
import type { AgentTable } from './agents.ts'
import { listClause, statementCache } from './database/filter.ts'
import { joinClauses } from '../rows/filter.ts'
import type { Database } from 'better-sqlite3'
import {
  openRunText,
  toMatch,
  WITH_APPROVER,
  WITH_EFFECT,
  WITH_METADATA,
  WITH_PERSON,
  WITH_TEXT,
  WITH_TOOL,
  WITH_TRIGGER,
} from './run-text.ts'

export interface RunTable {
  readonly reads: Pick<Store, 'run' | 'runs' | 'runsOfSession' | 'newestRuns' | 'treesOf' | 'runsEndingWith'>
  numberOf(id: RunId): number | undefined
  /** Runs of a session that work, or undo something. */
  atWork(sessionN: number): readonly RunId[]
  /** See `Store.treesOf`. */
  treesOf(sessionId: SessionId, ids: readonly RunId[]): readonly Run[]
  /** Inserts or updates a run and returns its row number. */
  put(sessionN: number, run: Run): number
}

export function openRuns(db: Database, agents: AgentTable): RunTable {
  const prepared = statementCache(db)
  const number = db.prepare<[string], number>('select n from run where id = ?').pluck()
  const text = openRunText(db)
  const stored = db.prepare<
    [string],
    { n: number; status: RunStatusName; finished_at: number | null; version_id: VersionId }
  >('select n, status, finished_at, version_id from run where id = ?')
  const updateVersion = db.prepare('update run set version_id = ?, version_label = ? where n = ?')
  const insert = db.prepare(
    `insert into run (
       id, tail, session_n, agent_n, agent_name, version_id, version_label, parent_run_id, parent_call_id, depth, input,
       started_at, finished_at, starter, origin, status, state, usage, llm_model, last_sequence, output, error, error_code
     ) values (
       :id, :tail, :sessionN, :agentN, :agentName, :versionId, :versionLabel, :parentRunId, :parentCallId, :depth, :input,
       :startedAt, :finishedAt, :starter, :origin, :status, ?, ?, ?, ?, ?, ?, ?
     )`,
  )
  const changes = `state = ?, usage = ?, llm_model = ?, last_sequence = ?, output = ?, error = ?, error_code = ?`
  const updateRow = db.prepare(`update run set ${changes} where n = ? and session_n = ?`)
  // Separate, because naming an indexed column rewrites its index entry and naming the status evaluates its check constraint,
  // even when the values stay the same. That takes as long as the rest of the update.
  const updateRowAndStatus = db.prepare(
    `update run set ${changes}, status = ?, finished_at = ? where n = ? and session_n = ?`,
  )
  const one = db.prepare<[string], RunRow>(`${SELECT} where r.id = ?`)
  const newest = db.prepare<[string, string | null, number], RunRow>(
    `${SELECT}
     where r.session_n = (select n from session where id = ?)
       and r.n < ifnull((select n from run where id = ?), 9223372036854775807)
     order by r.n desc
     limit ?`,
  )
  const atWork = db
    .prepare<[number], RunId>(
      'select id from run where session_n = ? and (finished_at is null or origin is not null) order by n',
    )
    .pluck()
  const trees = db.prepare<[string, string], RunRow>(
    `with recursive
       above (id, parent_run_id) as (
         select id, parent_run_id from run where id in (select value from json_each(?))
         union
         select r.id, r.parent_run_id from above join run r on r.id = above.parent_run_id
       ),
       tree (id) as (
         select id from above where parent_run_id is null
         union
         select r.id from tree join run r on r.parent_run_id = tree.id
       )
     ${SELECT}
     where r.id in (select id from tree) and s.id = ?
     order by r.n`,
  )
  const ofSessionId = db.prepare<[string], RunRow>(
    `${SELECT} where r.session_n = (select n from session where id = ?) order by r.n`,
  )
  const ending = db.prepare<{ workspaceId: string; from: string; to: string; ending: string; limit: number }, RunRow>(
    `${SELECT}
     where r.tail >= :from and r.tail < :to
       and substr(replace(r.id, '-', ''), -length(:ending)) = :ending
       and a.workspace_id = :workspaceId
     order by r.started_at desc, r.n desc
     limit :limit`,
  )

  const treesOf = (sessionId: SessionId, ids: readonly RunId[]): readonly Run[] =>
    trees.all(JSON.stringify(ids), sessionId).map(toRun)

  return {
    reads: {
      async run(id) {
        const row = one.get(id)
        return row && toRun(row)
      },
      async runs(filter, page) {
        const agent = filter.agentId && agents.find(filter.agentId, filter.workspaceId)
        if (filter.agentId && !agent) return { items: [], total: 0 }
        const { where, values: given } = joinClauses([
          agent ? ['r.agent_n = :agentN', agent.n] : ['a.workspace_id = :workspaceId', filter.workspaceId],
          // Redundant beside the statuses, but lets SQLite use the index of open runs.
          ['r.finished_at is null', matchesOnlyOpen(filter) || undefined],
          ['r.status in (select value from json_each(:status))', listClause(filter.status)],
          [`r.status like 'WaitingFor%'`, filter.waiting === true || undefined],
          [`r.status not like 'WaitingFor%'`, filter.waiting === false || undefined],
          ['r.started_at >= :since', filter.since],
          ['r.started_at < :until', filter.until],
          [`json_extract(r.origin, '$.runId') = :origin`, filter.origin],
          // Redundant too: the index of origins leaves out runs without one.
          ['r.origin is not null', filter.origin !== undefined || undefined],
          ['r.session_n = (select n from session where id = :sessionId)', filter.sessionId],
          ['r.parent_run_id is null', filter.roots === true || undefined],
          [WITH_TEXT, filter.text === undefined ? undefined : toMatch(filter.text)],
          [WITH_TOOL, filter.tool],
          [WITH_EFFECT, filter.effect],
          ['r.version_label = :versionLabel', filter.versionLabel],
          [WITH_TRIGGER, filter.trigger],
          [WITH_PERSON, filter.person],
          [WITH_APPROVER, filter.approver],
          [WITH_METADATA, filter.metadata && JSON.stringify(filter.metadata)],
        ])
        const values = { ...given, workspaceId: filter.workspaceId }
        if (isRanked(filter)) {
          const kept = keptOfRanked(filter)
          const ranked = `from (select r.id, r.n, r.started_at as began, ${RANKS} ${FROM} where ${where}
            order by r.started_at desc, r.n desc limit ${MOST_RANKED}) where ${kept.where}`
          const compared = { ...values, ...kept.values, now: filter.now ?? 0 }
          const { total } = prepared<{ total: number }>(`select count(*) as total ${ranked}`).get(compared)!
          const listed = prepared<{ id: RunId }>(
            `select id ${ranked} order by ${orderOfRanked(filter)} limit :take offset :skip`,
          ).all({ ...compared, take: page.take, skip: page.skip })
          return { items: listed.map(({ id }) => toRun(one.get(id)!)), total }
        }
        const items = prepared<RunRow>(
          `${SELECT} where ${where} order by r.started_at desc, r.n desc limit :take offset :skip`,
        ).all({ ...values, take: page.take, skip: page.skip })
        const total = isFilteredRuns(filter)
          ? prepared<{ total: number }>(
              `select count(*) as total from (select 1 ${FROM} where ${where} ${isRunSearch(filter) ? `limit ${MOST_COUNTED}` : ''})`,
            ).get(values)!.total
          : (agent ?? agents.totals(filter.workspaceId)).runs
        return { items: items.map(toRun), total }
      },
      async runsOfSession(sessionId) {
        return ofSessionId.all(sessionId).map(toRun)
      },
      async newestRuns(sessionId, before, limit) {
        return newest.all(sessionId, before, limit).map(toRun).reverse()
      },
      async treesOf(sessionId, ids) {
        return treesOf(sessionId, ids)
      },
      async runsEndingWith(workspaceId, text, limit) {
        return ending.all({ workspaceId, limit, ...endingRange(text) }).map(toRun)
      },
    },
    numberOf: (id) => number.get(id),
    atWork: (sessionN) => atWork.all(sessionN),
    treesOf,
    put(sessionN, run) {
      const known = stored.get(run.id)
      if (known) {
        if (known.finished_at !== null) text.resumed(known.n)
        const { changes } =
          run.status === known.status && run.finishedAt === null
            ? updateRow.run(...changingValues(run), known.n, sessionN)
            : updateRowAndStatus.run(...changingValues(run), run.status, run.finishedAt, known.n, sessionN)
        if (run.agentVersionId !== known.version_id) updateVersion.run(run.agentVersionId, run.versionLabel, known.n)
        if (changes === 0) throw new Error(`Run ${run.id} belongs to another session.`)
        if (run.finishedAt !== null) text.ended(known.n)
        return known.n
      }
      const agentN = agents.numberOf(run.agentId, run.workspaceId, run.agentName)
      agents.countRun(agentN)
      const { lastInsertRowid } = insert.run(...changingValues(run), {
        id: run.id,
        tail: tailOf(run.id),
        sessionN,
        agentN,
        agentName: run.agentName,
        versionId: run.agentVersionId,
        versionLabel: run.versionLabel,
        parentRunId: run.parentRunId,
        parentCallId: run.parentCallId,
        depth: run.depth,
        // The input of the newest root run is stored with its session only, so that no save of the run writes it again.
        input: run.parentRunId === null ? 'null' : toText(run.input),
        startedAt: run.startedAt,
        finishedAt: run.finishedAt,
        starter: run.starter ? toText({ ...run.starter }) : null,
        origin: run.origin ? toText({ ...run.origin }) : null,
        status: run.status,
      })
      const n = Number(lastInsertRowid)
      text.started(n)
      if (run.finishedAt !== null) text.ended(n)
      return n
    },
  }
}

/** Values that an update may change, in the order of the statements. Bound by position, which is the fastest way. */
const changingValues = (run: Run) =>
  [
    toText(run.state),
    toText(withoutZeros(run.usage)),
    run.llmModel,
    run.lastSequence,
    toText(run.output),
    run.error,
    run.errorCode,
  ] as const

// SQLite keeps the written order of cross joins: it follows an index of the runs.
const FROM = 'from run r cross join session s on s.n = r.session_n cross join agent a on a.n = r.agent_n'

/** What a run took. */
const RANKS = `
  coalesce(r.finished_at, :now) - r.started_at as duration,
  coalesce(json_extract(r.usage, '$.inputTokens'), 0) + coalesce(json_extract(r.usage, '$.outputTokens'), 0) as tokens,
  (select coalesce(sum(cast(value as real)), 0) from json_each(r.usage, '$.cost.amounts')) as cost`

const SELECT = `
  select r.id, s.id as session_id, a.workspace_id, a.id as agent_id, r.agent_name, r.version_id, r.version_label, r.llm_model,
    r.parent_run_id, r.parent_call_id, r.depth,
    case when r.id = s.root_run_id then s.input else r.input end as input, r.starter, r.origin,
    r.state, r.status, r.usage, r.last_sequence, r.output, r.error, r.error_code, r.started_at, r.finished_at
  ${FROM}`
